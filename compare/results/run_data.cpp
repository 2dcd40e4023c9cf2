#include "compare/results/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/errors.h"
#include "core/output/directory_lock.h"

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

std::string last_error(const fs::path& log) {
  std::ifstream in(log);
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
  } catch (const std::exception& damage) {
    run.record.status = RunStatus::failed;
    run.record.message = damage.what();
  }
  add_warnings(run);
  if (!run.is_done() && run.record.message.empty()) run.record.message = error;
  return run;
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
