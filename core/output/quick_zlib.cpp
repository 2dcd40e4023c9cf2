#include "core/output/quick_zlib.h"

#include <libdeflate.h>
#include <vtkObjectFactory.h>
#include <vtkZLibDataCompressor.h>

#include <memory>

namespace exemplar {

namespace {

// Has no type name of its own, so that files name the compressor that reads them.
class QuickZLib : public vtkZLibDataCompressor {
 public:
  static QuickZLib* New() { VTK_STANDARD_NEW_BODY(QuickZLib); }

  std::size_t GetMaximumCompressionSpace(std::size_t size) override {
    return libdeflate_zlib_compress_bound(m_compressor.get(), size);
  }

 protected:
  std::size_t CompressBuffer(const unsigned char* from, std::size_t size, unsigned char* to,
                             std::size_t space) override {
    return libdeflate_zlib_compress(m_compressor.get(), from, size, to, space);
  }

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  std::unique_ptr<libdeflate_compressor, Free> m_compressor{libdeflate_alloc_compressor(1)};
};

}  // namespace

vtkSmartPointer<vtkDataCompressor> make_quick_zlib() {
  return vtkSmartPointer<vtkDataCompressor>::Take(QuickZLib::New());
}

}  // namespace exemplar
