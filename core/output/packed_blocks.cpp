#include "core/output/packed_blocks.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace exemplar {

namespace {

constexpr std::size_t k_block = 32768;  // bytes; VTK's own

std::string_view block_of(std::string_view plain, std::size_t index) {
  return plain.substr(index * k_block, k_block);
}

// Whether few of the doubles at a block's beginning come twice or are short numbers. Below three in eight, blocks of a broken
// plate's surface shrank by a tenth; cell data, where every value comes twice, by half.
bool is_noise(std::string_view block) {
  constexpr std::size_t sample = 256;  // doubles
  if (block.size() < 2 * sample * sizeof(double)) return false;
  std::array<std::uint64_t, 512> seen{};
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < sample; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + i * sizeof word, sizeof word);
    std::uint64_t& slot = seen[word * 0x9E3779B97F4A7C15u >> 55];
    repeated += slot == word || (word & 0xFFFFFFFFu) == 0;
    slot = word;
  }
  return repeated < sample * 3 / 8;
}

void append_number(std::uint64_t number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// A zlib stream of one stored block (RFC 1950, RFC 1951): at most 65535 bytes.
void append_stored(std::string_view plain, std::string& out) {
  const auto size = static_cast<unsigned>(plain.size());
  const std::uint32_t sum = libdeflate_adler32(1, plain.data(), plain.size());
  const auto byte = [](std::uint32_t value, int k) { return static_cast<char>(value >> 8 * k & 0xFF); };
  out.append({'\x78', '\x01', '\x01', byte(size, 0), byte(size, 1), byte(~size, 0), byte(~size, 1)});
  out.append(plain);
  out.append({byte(sum, 3), byte(sum, 2), byte(sum, 1), byte(sum, 0)});
}

}  // namespace

void BlockPacker::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

BlockPacker::BlockPacker() : m_compressor(libdeflate_alloc_compressor(1)) {}

void BlockPacker::pack(std::string_view plain, PackedBlock& block) {
  block.plain = plain;
  m_room.resize(std::max(m_room.size(), libdeflate_zlib_compress_bound(m_compressor.get(), plain.size())));
  block.packed.assign(m_room.data(), libdeflate_zlib_compress(m_compressor.get(), plain.data(), plain.size(),
                                                              m_room.data(), m_room.size()));
}

void BlockPacker::append(std::string_view plain, ByteContent content, std::vector<PackedBlock>& last,
                         std::string& out) {
  const std::size_t blocks = (plain.size() + k_block - 1) / k_block;
  last.resize(blocks);
  append_number(blocks, out);
  append_number(k_block, out);
  append_number(plain.size() % k_block, out);
  const std::size_t sizes = out.size();
  out.append(blocks * sizeof(std::uint64_t), '\0');
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::string_view own = block_of(plain, b);
    const std::size_t begin = out.size();
    if (content == ByteContent::doubles && is_noise(own)) {
      last[b] = {};
      append_stored(own, out);
    } else {
      if (last[b].plain != own) pack(own, last[b]);
      out.append(last[b].packed);
    }
    const std::uint64_t size = out.size() - begin;
    std::memcpy(out.data() + sizes + b * sizeof size, &size, sizeof size);
  }
}

}  // namespace exemplar
