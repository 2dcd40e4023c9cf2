// libFuzzer harness of everything in inputs.h; EXEMPLAR_FUZZ_TARGET says what is read. scripts/fuzz builds and runs it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/fuzz/inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const given = std::getenv("EXEMPLAR_FUZZ_TARGET");
  static const std::string target = given ? given : "scene";
  exemplar::fuzz::read_input(target, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
