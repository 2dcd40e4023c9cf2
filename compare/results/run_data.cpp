#include "compare/results/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/directory_lock.h"
#include "core/scene/json.h"
#include "core/scene/scene_settings.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

std::vector<PvdEntry> entries_of(const fs::path& path) {
  if (!fs::is_regular_file(path)) return {};
  return read_pvd(path);
}

double largest_in(const MetricsTable& metrics, const std::string& name) {
  double largest = 0;
  const int column = metrics.find(name);
  for (const auto& row : metrics.rows) {
    const double value = column >= 0 ? row[static_cast<std::size_t>(column)] : 0;
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// What a reader should know before trusting the numbers.
void add_warnings(RunData& run) {
  const double deepest = largest_in(run.metrics, "deepest_penetration");
  if (deepest > 1e-3)
    run.warn(fmt::format("the surface sinks up to {:.3g} mm into obstacles", deepest * 1e3));
  const double inverted = largest_in(run.metrics, "inverted");
  if (inverted > 0) run.warn(fmt::format("up to {:g} elements are inside out", inverted));
  if (run.record.status == RunStatus::running && is_locked(run.directory)) {
    run.record.message = "it is in progress";
  } else if (run.record.status == RunStatus::running) {
    run.record.status = RunStatus::interrupted;
    run.record.message = "the run was ended from outside";
  }
}

}  // namespace

bool RunData::is_cut_short() const {
  const Json settings = Json::parse(record.settings.text, nullptr, false);
  if (!settings.is_object() || !settings.contains("time")) return false;
  TimeSettings time;
  std::vector<Problem> ignored;
  read_object(settings["time"], description_of<TimeSettings>(), &time, "time", ignored);
  return record.frames < frame_count(time);
}

std::string last_error(const fs::path& log) {
  std::istringstream in(file_bytes(log));
  std::string line, error;
  while (std::getline(in, line)) {
    if (line.starts_with("error: ")) error += (error.empty() ? "" : "; ") + line.substr(7);
  }
  return error;
}

std::vector<std::string> RunData::notes(Severity severity) const {
  std::vector<std::string> texts;
  for (const Note& note : record.notes) {
    if (note.severity == severity) texts.push_back(note.text);
  }
  return texts;
}

RunData read_run(const PlannedRun& plan, const fs::path& directory) {
  RunData run;
  run.plan = plan;
  run.directory = directory;
  const std::string error = last_error(directory / "log.txt");
  const std::optional<RunRecord> record = find_run_record(directory);
  if (!record || record->method != plan.method) {
    if (!error.empty()) run.record.status = RunStatus::failed;
    run.record.message = error.empty() ? "there is no finished run" : error;
    return run;
  }
  run.record = *record;
  try {
    run.surfaces = entries_of(directory / "surface.pvd");
    run.obstacles = entries_of(directory / "obstacles.pvd");
    if (fs::is_regular_file(directory / "metrics.csv")) run.metrics = read_metrics(directory / "metrics.csv");
    if (fs::is_regular_file(directory / "timings.csv"))
      run.metrics.join(read_metrics(directory / "timings.csv", AtDamage::stop));
    if (!plan.file.empty()) run.uncertainty = read_metrics(directory / "uncertainty.csv");
  } catch (const std::exception& damage) {
    run.record.status = RunStatus::failed;
    run.record.message = damage.what();
  }
  add_warnings(run);
  if (!run.is_done() && run.record.message.empty()) run.record.message = error;
  return run;
}

std::string shared_scene(const RunData& run) {
  Json scene = Json::parse(run.record.settings.text, nullptr, false);
  if (!scene.is_object()) return {};
  for (const char* key : {"title", "description", "methods", "camera", "expect"}) scene.erase(key);
  if (scene.contains("time") && scene["time"].is_object()) {
    for (const char* key : {"steps_per_frame", "accuracy"}) scene["time"].erase(key);
  }
  if (!scene.contains("bodies") || !scene["bodies"].is_array()) return scene.dump();
  for (Json& body : scene["bodies"]) {
    if (body.is_object()) body.erase("volume");
  }
  return scene.dump();
}

std::vector<std::string> body_names(const RunData& run) {
  const Json settings = Json::parse(run.record.settings.text, nullptr, false);
  const Json bodies = settings.is_object() ? settings.value("bodies", Json::array()) : Json::array();
  std::vector<std::string> names;
  for (const Json& body : bodies) names.push_back(body.is_object() ? body.value("name", "") : "");
  return names;
}

const PvdEntry* entry_at(const std::vector<PvdEntry>& entries, double time) {
  const PvdEntry* nearest = nullptr;
  // A run that ended at its first frame has no interval: only that moment is there.
  double interval = entries.size() > 1 ? entries[1].time - entries[0].time : 1e-9;
  for (const PvdEntry& entry : entries) {
    if (std::abs(entry.time - time) < 0.5 * interval) {
      interval = 2 * std::abs(entry.time - time) + 1e-300;
      nearest = &entry;
    }
  }
  return nearest;
}

}  // namespace exemplar
