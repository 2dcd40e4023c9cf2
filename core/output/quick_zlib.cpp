#include "core/output/quick_zlib.h"

#include <libdeflate.h>
#include <vtkObjectFactory.h>
#include <vtkZLibDataCompressor.h>

#include <algorithm>
#include <memory>

namespace exemplar {

namespace {

// Has no type name of its own, so that files name the compressor that reads them.
class QuickZLib : public vtkZLibDataCompressor {
 public:
  static QuickZLib* New() { VTK_STANDARD_NEW_BODY(QuickZLib); }

  std::size_t GetMaximumCompressionSpace(std::size_t size) override {
    return std::max(libdeflate_zlib_compress_bound(m_compressor.get(), size),
                    libdeflate_zlib_compress_bound(m_storer.get(), size));
  }

 protected:
  std::size_t CompressBuffer(const unsigned char* from, std::size_t size, unsigned char* to,
                             std::size_t space) override {
    libdeflate_compressor* const chosen =
        is_noise(from, size, to, space) ? m_storer.get() : m_compressor.get();
    return libdeflate_zlib_compress(chosen, from, size, to, space);
  }

 private:
  // Whether a block's beginning hardly shrinks: the digits of moving points look random, take longest to compress and
  // gain a tenth.
  bool is_noise(const unsigned char* from, std::size_t size, unsigned char* to, std::size_t space) {
    constexpr std::size_t sample = 1024;  // bytes
    if (size < 4 * sample) return false;
    return libdeflate_zlib_compress(m_compressor.get(), from, sample, to, space) > sample * 4 / 5;
  }

  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  std::unique_ptr<libdeflate_compressor, Free> m_compressor{libdeflate_alloc_compressor(1)};
  std::unique_ptr<libdeflate_compressor, Free> m_storer{libdeflate_alloc_compressor(0)};
};

}  // namespace

vtkSmartPointer<vtkDataCompressor> make_quick_zlib() {
  return vtkSmartPointer<vtkDataCompressor>::Take(QuickZLib::New());
}

}  // namespace exemplar
