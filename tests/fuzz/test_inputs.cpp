// Every kept input of the fuzzer through what it was made for: seeds are read, found ones end in a value or an
// InputError, and those called refused-… in an InputError. tests/fuzz/seeds/TARGET and tests/fuzz/found/TARGET.
#include "tests/fuzz/inputs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using namespace exemplar;

std::vector<fs::path> files_of(const std::string& kind, const std::string& target) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& file :
       fs::directory_iterator(fs::path(EXEMPLAR_SOURCE_DIR) / "tests/fuzz" / kind / target, none))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FuzzInputs, SeedsAreRead) {
  for (const std::string& target : fuzz::targets()) {
    const std::vector<fs::path> seeds = files_of("seeds", target);
    EXPECT_FALSE(seeds.empty() && target != "scene" && target != "study") << target;
    for (const fs::path& seed : seeds) EXPECT_TRUE(fuzz::read_input(target, bytes_of(seed))) << seed;
  }
}

TEST(FuzzInputs, FoundOnesAreNoHarm) {
  for (const std::string& target : fuzz::targets()) {
    const std::vector<fs::path> files = files_of("found", target);
    EXPECT_FALSE(files.empty()) << target;
    for (const fs::path& found : files) {
      bool is_read = false;
      EXPECT_NO_THROW(is_read = fuzz::read_input(target, bytes_of(found))) << found;
      if (found.filename().string().starts_with("refused-")) {
        EXPECT_FALSE(is_read) << found;
      }
    }
  }
}

}  // namespace
