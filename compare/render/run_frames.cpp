#include "compare/render/run_frames.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/render/colours.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/scene/runs/run_record.h"

namespace exemplar::render {

namespace {

namespace fs = std::filesystem;

bool is_run(const fs::path& directory) {
  return fs::exists(directory / "run.json") || fs::exists(directory / "surface.pvd");
}

std::string text_at(const nlohmann::json& record, const char* key) {
  return record.contains(key) && record[key].is_string() ? record[key].get<std::string>() : std::string();
}

// A comparison's order, names and colours of its runs; what it does not name stays as it is, at the end.
void follow_comparison(const fs::path& path, std::vector<RunFrames>& runs) {
  const auto record = nlohmann::json::parse(file_bytes(path), nullptr, false);
  if (!record.is_object() || !record.contains("runs") || !record["runs"].is_array()) return;
  auto next = runs.begin();
  for (const auto& item : record["runs"]) {
    if (!item.is_object()) continue;
    const std::string directory = text_at(item, "directory");
    const auto found =
        std::find_if(next, runs.end(), [&](const RunFrames& run) { return run.name == directory; });
    if (found == runs.end()) continue;
    if (const std::string name = text_at(item, "name"); !name.empty()) found->label = name;
    found->colour = parse_colour(text_at(item, "colour"));
    std::rotate(next, found, found + 1);
    ++next;
  }
}

RunFrames load_run(const fs::path& directory, const std::string& series) {
  RunFrames run;
  run.name = fs::absolute(directory).lexically_normal().filename().string();
  if (run.name.empty())
    run.name = fs::absolute(directory).lexically_normal().parent_path().filename().string();
  if (fs::exists(directory / (series + ".pvd"))) run.frames = read_pvd(directory / (series + ".pvd"));
  if (fs::exists(directory / "obstacles.pvd")) run.obstacles = read_pvd(directory / "obstacles.pvd");
  if (fs::exists(directory / "handles.pvd")) run.handles = read_pvd(directory / "handles.pvd");
  // A damaged or missing record says nothing; the frames are what is drawn.
  if (const std::optional<RunRecord> record = find_run_record(directory)) {
    run.title = record->title;
    run.method = record->method;
    run.stage = stage::read_stage(record->settings.text);
    const std::string status(to_string(record->status));
    if (record->status != RunStatus::done)
      run.note = record->message.empty() ? status : status + ": " + record->message;
  }
  run.label = run.name;
  return run;
}

}  // namespace

std::vector<RunFrames> find_runs(const fs::path& directory, const std::string& series) {
  if (!fs::is_directory(directory))
    throw InputError(Problem{directory.string(), {}, "there is no such directory"});
  std::vector<RunFrames> runs;
  if (is_run(directory)) {
    runs.push_back(load_run(directory, series));
  } else {
    std::vector<fs::path> folders;
    for (const auto& item : fs::directory_iterator(directory)) {
      if (item.is_directory() && is_run(item.path())) folders.push_back(item.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders) runs.push_back(load_run(folder, series));
    follow_comparison(directory / "comparison.json", runs);
  }
  if (runs.empty()) {
    throw InputError(Problem{directory.string(),
                             {},
                             "holds no run: expected run.json or surface.pvd in it or in its "
                             "sub-directories"});
  }
  if (std::all_of(runs.begin(), runs.end(), [](const RunFrames& run) { return run.frames.empty(); })) {
    throw InputError(
        Problem{directory.string(), {}, "no run here has written frames of the series '" + series + "'"});
  }
  return runs;
}

std::optional<std::size_t> frame_at(const std::vector<PvdEntry>& frames, double time) {
  if (frames.empty()) return std::nullopt;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    if (std::abs(frames[i].time - time) < std::abs(frames[nearest].time - time)) nearest = i;
  }
  const double step = frames.size() > 1 ? frames[1].time - frames[0].time : 0;
  const bool ended = time > frames.back().time + 0.5 * step + 1e-9 * std::abs(time);
  return ended ? std::nullopt : std::optional(nearest);
}

}  // namespace exemplar::render
