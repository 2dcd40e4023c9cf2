#include "compare/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

double number_of(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : k_unknown;
}

std::vector<std::string> texts_of(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (!json.contains(key) || !json[key].is_array()) return texts;
  for (const Json& item : json[key]) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

// The last line of a log that says what went wrong; for runs that ended before they wrote run.json.
std::string last_error(const fs::path& log) {
  std::ifstream in(log);
  std::string line, error;
  while (std::getline(in, line)) {
    if (line.starts_with("error: ")) error += (error.empty() ? "" : "; ") + line.substr(7);
  }
  return error;
}

void read_record(const Json& json, RunData& run) {
  run.status = json.value("status", "failed");
  run.message = json.value("message", "");
  run.version = json.value("version", "");
  run.wall_time = number_of(json, "wall_time");
  run.real_time_factor = number_of(json, "real_time_factor");
  run.peak_memory = number_of(json, "peak_memory_MB");
  run.simulated_time = number_of(json, "simulated_time");
  run.frames = json.value("frames", 0);
  run.steps = json.value("steps", 0);
  run.iterations = json.value("iterations", 0);
  run.threads = json.value("threads", 0);
  run.not_modelled = texts_of(json, "not_modelled");
  const std::string warning = "warning: ";
  for (const std::string& note : texts_of(json, "notes")) {
    if (note.starts_with(warning)) {
      run.warnings.push_back(note.substr(warning.size()));
    } else {
      run.notes.push_back(note);
    }
  }
  if (json.contains("phases")) {
    for (const auto& [name, seconds] : json["phases"].items()) {
      if (seconds.is_number()) run.phases.emplace_back(name, seconds.get<double>());
    }
  }
  if (json.contains("settings")) run.settings_json = json["settings"].dump();
}

std::vector<PvdEntry> entries_of(const fs::path& path) {
  if (!fs::is_regular_file(path)) return {};
  return read_pvd(path);
}

// What a reader should know before trusting the numbers.
void add_warnings(RunData& run) {
  const int depth = run.metrics.find("deepest_penetration");
  double deepest = 0;
  for (const auto& row : run.metrics.rows) {
    if (depth >= 0 && std::isfinite(row[static_cast<std::size_t>(depth)]))
      deepest = std::max(deepest, row[static_cast<std::size_t>(depth)]);
  }
  if (deepest > 1e-3)
    run.warnings.push_back(fmt::format("the surface sinks up to {:.3g} mm into obstacles", deepest * 1e3));
  for (const char* name : {"inverted_elements", "failed_line_searches", "unconverged_steps"}) {
    const int column = run.metrics.find(name);
    double worst = 0;
    for (const auto& row : run.metrics.rows) {
      if (column >= 0) worst = std::fmax(worst, row[static_cast<std::size_t>(column)]);
    }
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    if (worst > 0) run.warnings.push_back(fmt::format("{}: up to {:g}", words, worst));
  }
  if (run.status == "running") {
    run.status = "interrupted";
    run.message = "the run was ended from outside";
  }
}

}  // namespace

RunData read_run(const PlannedRun& plan, const fs::path& directory) {
  RunData run;
  run.plan = plan;
  run.directory = directory;
  std::ifstream in(directory / "run.json");
  const Json json = in ? Json::parse(in, nullptr, false) : Json();
  const std::string error = last_error(directory / "log.txt");
  if (!json.is_object() || json.value("method", "") != plan.method) {
    if (!error.empty()) run.status = "failed";
    run.message = error.empty() ? "there is no finished run" : error;
    return run;
  }
  try {
    read_record(json, run);
    run.surfaces = entries_of(directory / "surface.pvd");
    run.obstacles = entries_of(directory / "obstacles.pvd");
    if (fs::is_regular_file(directory / "metrics.csv")) run.metrics = read_metrics(directory / "metrics.csv");
  } catch (const std::exception& damage) {
    run.status = "failed";
    run.message = damage.what();
  }
  add_warnings(run);
  if (run.status != "done" && run.message.empty()) run.message = error;
  return run;
}

const PvdEntry* entry_at(const std::vector<PvdEntry>& entries, double time) {
  const PvdEntry* nearest = nullptr;
  double interval = entries.size() > 1 ? entries[1].time - entries[0].time : 1;
  for (const PvdEntry& entry : entries) {
    if (std::abs(entry.time - time) < 0.5 * interval) {
      interval = 2 * std::abs(entry.time - time) + 1e-300;
      nearest = &entry;
    }
  }
  return nearest;
}

}  // namespace exemplar
