#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "compare/cli/commands.h"
#include "compare/jobs/batch.h"
#include "core/base/errors.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string shipped(const std::string& given, const char* folder) {
  const bool is_bare = fs::path(given).filename() == given && fs::path(given).extension().empty();
  const fs::path file = fs::path(data_directory()) / folder / (given + ".json");
  if (!is_bare || fs::exists(given)) return given;
  if (fs::is_regular_file(file)) return file.string();
  throw InputError(
      Problem{given, "",
              fmt::format("there is no such file, and none of this name among the {} that ship{}", folder,
                          did_you_mean(given, names_in(file.parent_path())))});
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
