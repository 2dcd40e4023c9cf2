// libFuzzer harness of the mesh readers: the first byte chooses the format, the rest is the file.
// cmake --preset fuzz && ninja -C build/fuzz fuzz_mesh && build/fuzz/fuzz_mesh -max_total_time=60
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/errors.h"
#include "core/mesh/files/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const char* const formats[] = {".obj", ".off", ".ply", ".stl", ".vtk", ".msh", ".mesh", ".ele"};
  const std::string path = "/tmp/exemplar-fuzz-" + std::to_string(getpid()) + formats[data[0] % 8];
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  try {
    exemplar::read_surface(path);
  } catch (const exemplar::InputError&) {
  }
  try {
    exemplar::read_tets(path);
  } catch (const exemplar::InputError&) {
  }
  return 0;
}
