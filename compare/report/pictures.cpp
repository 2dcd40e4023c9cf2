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
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// tiles.json: [{"run", "shot", "column", "time", "file"}], see compare/render/contact_sheet.h.
void read_tiles(const fs::path& folder, Pictures& pictures) {
  for (const Json& tile : read_json_file((folder / "tiles.json").string())) {
    const std::string file = tile.value("file", "");
    std::string png = file.empty() ? "" : file_bytes(folder / file);
    if (png.empty()) continue;
    pictures.by_directory[tile.value("run", "")].push_back(
        {tile.value("time", 0.0), tile.value("shot", ""), std::move(png)});
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

constexpr std::size_t k_most_poses = 6;

// examples.vtp of the first run that has one (core/run/example_shapes.h).
std::optional<Geometry> example_shapes_of(const Comparison& comparison) {
  for (const ComparedRun& run : comparison.runs) {
    const fs::path file = comparison.directory / run.data.plan.directory / "examples.vtp";
    if (fs::exists(file)) return read_geometry(file);
  }
  return std::nullopt;
}

// "weight_column_screwed" of a body called column is "screwed".
std::string example_name(const FieldArray& array, const Comparison& comparison) {
  std::string name = array.name.substr(std::string("weight_").size());
  for (const ComparedRun& run : comparison.runs) {
    for (const std::string& body : body_names(run.data)) {
      if (name.starts_with(body + "_")) return name.substr(body.size() + 1);
    }
  }
  return name;
}

// The poses as the frames of a run that exemplar-render draws: at rest first, then each example.
std::vector<std::string> write_poses(const Comparison& comparison, const fs::path& folder) {
  std::vector<std::string> names;
  const std::optional<Geometry> shapes = example_shapes_of(comparison);
  if (!shapes) return names;
  fs::create_directories(folder);
  PvdFile frames(folder / "surface.pvd");
  const auto add = [&](const std::string& name, const Points& points) {
    Geometry pose = *shapes;
    pose.series = "surface";
    pose.arrays.clear();
    pose.points = points;
    const std::string file = fmt::format("surface_{:05}.vtp", names.size());
    const auto time = static_cast<double>(names.size());
    write_geometry(folder / file, pose, time);
    frames.add(time, file);
    names.push_back(name);
  };
  add("", shapes->points);
  for (const FieldArray& array : shapes->arrays) {
    if (!array.name.starts_with("weight_") || array.components != 3 || names.size() > k_most_poses) continue;
    add(example_name(array, comparison),
        shapes->points + Eigen::Map<const Points>(array.values.data(), shapes->points.rows(), 3));
  }
  frames.save();
  return names;
}

void draw_poses(const Comparison& comparison, std::vector<std::string> command, const fs::path& folder,
                const std::function<bool()>& interrupted, Pictures& pictures) {
  const std::vector<std::string> names = write_poses(comparison, folder / "poses");
  if (names.size() < 2) return;
  std::replace(command.begin(), command.end(), comparison.directory.string(), (folder / "poses").string());
  command.insert(command.end(),
                 {"-o", (folder / "poses.png").string(), "--tiles", (folder / "poses").string(), "--columns",
                  std::to_string(names.size()), "--size", "420x315", "--close-up", "none"});
  BatchOptions options;
  options.interrupted = interrupted;
  if (run_jobs({{command, (folder / "poses.txt").string()}}, options)[0].exit_code != 0) return;
  for (const Json& tile : read_json_file((folder / "poses" / "tiles.json").string())) {
    const std::size_t column = tile.value("column", names.size());
    if (column < names.size())
      pictures.poses.push_back({names[column], file_bytes(folder / "poses" / tile.value("file", ""))});
  }
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
    draw_poses(comparison, coloured, folder, interrupted, pictures);
    if (!has_rigs(comparison)) return pictures;
    pictures.rigs = coloured_sheet(coloured, folder, "skinning", {"--frame", "0"}, interrupted);
    pictures.examples = coloured_sheet(coloured, folder, "example_weights", {"--columns", "5"}, interrupted);
  } catch (const std::exception& error) {
    pictures.problem = error.what();
  }
  return pictures;
}

}  // namespace exemplar
