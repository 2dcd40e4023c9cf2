#include "core/output/quick_zlib.h"

#include <isa-l.h>
#include <vtkObjectFactory.h>
#include <vtkZLibDataCompressor.h>

#include <array>

namespace exemplar {

namespace {

// Has no type name of its own, so that files name the compressor that reads them.
class QuickZLib : public vtkZLibDataCompressor {
 public:
  static QuickZLib* New() { VTK_STANDARD_NEW_BODY(QuickZLib); }

  std::size_t GetMaximumCompressionSpace(std::size_t size) override {
    return vtkZLibDataCompressor::GetMaximumCompressionSpace(size) +
           64;  // headers of blocks that are only stored
  }

 protected:
  std::size_t CompressBuffer(const unsigned char* from, std::size_t size, unsigned char* to,
                             std::size_t space) override {
    isal_zstream stream;
    isal_deflate_stateless_init(&stream);
    stream.level = 1;
    stream.level_buf = m_work.data();
    stream.level_buf_size = static_cast<std::uint32_t>(m_work.size());
    stream.gzip_flag = IGZIP_ZLIB;
    stream.flush = NO_FLUSH;
    stream.end_of_stream = 1;
    stream.next_in = const_cast<unsigned char*>(from);  // only read
    stream.avail_in = static_cast<std::uint32_t>(size);
    stream.next_out = to;
    stream.avail_out = static_cast<std::uint32_t>(space);
    if (isal_deflate_stateless(&stream) != COMP_OK)
      return vtkZLibDataCompressor::CompressBuffer(from, size, to, space);
    return stream.total_out;
  }

 private:
  std::array<std::uint8_t, ISAL_DEF_LVL1_DEFAULT> m_work{};
};

}  // namespace

vtkSmartPointer<vtkDataCompressor> make_quick_zlib() {
  return vtkSmartPointer<vtkDataCompressor>::Take(QuickZLib::New());
}

}  // namespace exemplar
