#include "compare/report/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "compare/jobs/batch.h"
#include "compare/jobs/display.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

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

std::vector<fs::path> picture_files(const fs::path& folder) {
  std::vector<fs::path> files{"sheet.png",          "tiles.json",   "log.txt",
                              "skinning.png",       "skinning.txt", "example_weights.png",
                              "example_weights.txt"};
  const Json tiles = Json::parse(file_bytes(folder / "tiles.json"), nullptr, false);
  if (!tiles.is_array()) return files;
  for (const Json& tile : tiles) {
    const fs::path file = tile.is_object() ? tile.value("file", "") : "";
    if (!file.empty() && file == file.filename()) files.push_back(file);
  }
  return files;
}

Pictures render_pictures(const Comparison& comparison, const std::function<bool()>& interrupted) {
  Pictures pictures;
  const fs::path program = fs::path(own_program()).parent_path() / "exemplar-render";
  const fs::path folder = comparison.directory / "pictures";
  if (!fs::exists(program)) {
    pictures.problem = "exemplar-render is not built";
    return pictures;
  }
  const std::optional<std::vector<std::string>> display = display_prefix();
  if (!display) {
    pictures.problem = "there is no display and no xvfb-run";
    return pictures;
  }
  std::vector<std::string> command = *display;
  command.insert(command.end(), {program.string(), comparison.directory.string(), "--overwrite"});
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
