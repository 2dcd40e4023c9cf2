// Bytes of an array as VTK's XML files hold them compressed (vtkZLibDataCompressor): a count, sizes, and zlib streams of
// 32 KiB each, packed by libdeflate at its lowest level. Blocks of doubles that hardly repeat are stored: the digits of
// moving points look random, take longest to compress and gain a tenth. What a block becomes depends on its bytes only.
// Tried and left: ISA-L is quicker still (590 against 221 MB/s), but the same input gave other bytes from run to run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct libdeflate_compressor;

namespace exemplar {

enum class ByteContent { doubles, integers };

// A block that took long to pack, kept for the next frame: of most arrays little or nothing changes.
struct PackedBlock {
  std::string plain, packed;
};

class BlockPacker {
 public:
  BlockPacker();

  // Appends the array to `out`. `last` has the blocks of the array that stood here the last time, if any, and gets its own.
  void append(std::string_view plain, ByteContent content, std::vector<PackedBlock>& last, std::string& out);

 private:
  void pack(std::string_view plain, PackedBlock& block);

  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> m_compressor;
  std::string m_room;  // for a block in the making
};

}  // namespace exemplar
