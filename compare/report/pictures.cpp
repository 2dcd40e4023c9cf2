#include "compare/report/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/jobs/batch.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (fs::exists(fs::path(rest.substr(0, colon)) / program)) return true;
    rest.erase(0, colon + 1);
  }
  return false;
}

// tiles.json: [{"run", "column", "time", "file"}], see compare/render/contact_sheet.h.
void read_tiles(const fs::path& folder, Pictures& pictures) {
  for (const Json& tile : read_json_file((folder / "tiles.json").string())) {
    const std::string file = tile.value("file", "");
    std::string png = file.empty() ? "" : file_bytes(folder / file);
    if (png.empty()) continue;
    pictures.by_directory[tile.value("run", "")].push_back({tile.value("time", 0.0), std::move(png)});
  }
}

// A sheet in the colours of `array`; nothing where no run has them.
std::string coloured_sheet(std::vector<std::string> command, const fs::path& folder, const std::string& array,
                           const std::vector<std::string>& moments,
                           const std::function<bool()>& interrupted) {
  const fs::path file = folder / (array + ".png");
  command.insert(command.end(), {"-o", file.string(), "--array", array, "--size", "420x315"});
  command.insert(command.end(), moments.begin(), moments.end());
  BatchOptions options;
  options.interrupted = interrupted;
  const std::vector<JobResult> results = run_jobs({{command, (folder / (array + ".txt")).string()}}, options);
  return results[0].exit_code == 0 ? file_bytes(file) : std::string();
}

bool has_rigs(const Comparison& comparison) {
  return std::any_of(comparison.runs.begin(), comparison.runs.end(), [&](const ComparedRun& run) {
    return fs::exists(comparison.directory / run.data.plan.directory / "handles.pvd");
  });
}

}  // namespace

Pictures render_pictures(const Comparison& comparison, const std::function<bool()>& interrupted) {
  Pictures pictures;
  const fs::path program = fs::path(own_program()).parent_path() / "exemplar-render";
  const fs::path folder = comparison.directory / "pictures";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!fs::exists(program)) {
    pictures.problem = "exemplar-render is not built";
    return pictures;
  }
  std::vector<std::string> command;
  if (!is_set("DISPLAY")) {
    if (!on_path("xvfb-run")) {
      pictures.problem = "there is no display and no xvfb-run";
      return pictures;
    }
    command = {"xvfb-run", "-a"};
  }
  command.insert(command.end(), {program.string(), comparison.directory.string()});
  const std::vector<std::string> coloured = command;
  command.insert(command.end(), {"-o", (folder / "sheet.png").string(), "--tiles", folder.string(),
                                 "--columns", "5", "--size", "420x315"});
  try {
    fs::create_directories(folder);
    BatchOptions options;
    options.interrupted = interrupted;
    const std::vector<JobResult> results = run_jobs({{command, (folder / "log.txt").string()}}, options);
    if (results[0].exit_code != 0) {
      pictures.problem = fmt::format("exemplar-render ended with exit code {}", results[0].exit_code);
      return pictures;
    }
    read_tiles(folder, pictures);
    if (!has_rigs(comparison)) return pictures;
    pictures.rigs = coloured_sheet(coloured, folder, "skinning", {"--frame", "0"}, interrupted);
    pictures.examples = coloured_sheet(coloured, folder, "example_weights", {"--columns", "5"}, interrupted);
  } catch (const std::exception& error) {
    pictures.problem = error.what();
  }
  return pictures;
}

}  // namespace exemplar
