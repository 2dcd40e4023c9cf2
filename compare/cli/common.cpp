#include <cstdlib>
#include <filesystem>

#include "compare/cli/commands.h"
#include "compare/jobs/batch.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

std::string shipped(const std::string& given, const char* folder) {
  const bool is_bare = fs::path(given).filename() == given && fs::path(given).extension().empty();
  const fs::path file = fs::path(data_directory()) / folder / (given + ".json");
  return is_bare && !fs::exists(given) && fs::is_regular_file(file) ? file.string() : given;
}

}  // namespace

std::string data_directory() {
  if (const char* own = std::getenv("EXEMPLAR_DATA"); own && *own) return own;
  const fs::path folder = fs::path(own_program()).parent_path();  // PREFIX/bin or TREE/build/PRESET
  for (const fs::path& data :
       {folder.parent_path() / "share" / "exemplar", folder.parent_path().parent_path() / "data"}) {
    if (fs::is_directory(data / "scenes")) return data.string();
  }
  return "data";
}

std::string scene_file(const std::string& given) {
  return shipped(given, "scenes");
}

std::string study_file(const std::string& given) {
  return shipped(given, "studies");
}

}  // namespace exemplar
