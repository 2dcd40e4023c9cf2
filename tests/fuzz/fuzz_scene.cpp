// libFuzzer harness of the scene parser: any bytes give a scene or an InputError, nothing else.
// cmake --preset fuzz && ninja -C build/fuzz fuzz_scene && build/fuzz/fuzz_scene -max_total_time=60
// data/scenes
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/errors.h"
#include "core/scene/scene_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    exemplar::parse_scene(exemplar::parse_json(text, "fuzz"), "fuzz.json", {});
  } catch (const exemplar::InputError&) {
  }
  return 0;
}
