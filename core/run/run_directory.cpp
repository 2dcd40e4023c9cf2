#include "core/run/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/output/frame_writer.h"
#include "core/output/metrics_file.h"
#include "core/run/energy_watch.h"
#include "core/scene/runs/referenced_files.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

double peak_memory_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

RunStatus status_of(Status status) {
  switch (status) {
    case Status::ok:
      return RunStatus::done;
    case Status::interrupted:
      return RunStatus::interrupted;
    case Status::failed:
      return RunStatus::failed;
  }
  return RunStatus::failed;
}

// Room that a full disk leaves for the last words: run.json takes its place.
constexpr std::size_t k_reserve = 256 * 1024;

void make_reserve(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) throw OutputError(path, std::strerror(errno));
  const int error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(k_reserve));
  ::close(descriptor);
  if (error == ENOSPC) throw OutputError(path, std::strerror(error));
}

std::optional<double> if_known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

struct RunDirectory::Implementation {
  Implementation(std::string dir, RunRecord what, int first)
      : directory(std::move(dir)), record(std::move(what)), first_frame(first), writer(directory, first) {}

  fs::path directory;
  RunRecord record;
  int first_frame;
  FrameWriter writer;
  std::unique_ptr<MetricsFile> metrics, timings;
  std::deque<FrameMetrics> recent;  // the last frames: what is on disk may be a few behind
};

std::string program_version() {
  return EXEMPLAR_VERSION;
}

std::string content_key(const SceneFile& file, const std::string& method) {
  Hasher hash;
  hash.add_text(program_version());
  hash.add_text(method);
  hash.add_text(write_scene(file, method).dump());
  const AnySettings& own = file.method(method);
  add_referenced_contents(hash, description_of<SceneSettings>(), &file.settings, file.directory);
  add_referenced_contents(hash, *own.type, own.data.get(), file.directory);
  return hash.text();
}

RunDirectory::RunDirectory(std::string directory, RunRecord record, int first_frame)
    : m_implementation(
          std::make_unique<Implementation>(std::move(directory), std::move(record), first_frame)) {
  if (first_frame == 0) remove_checkpoints(m_implementation->directory / "checkpoints");
  m_implementation->record.status = RunStatus::running;
  write_run_record(m_implementation->directory, m_implementation->record);
  make_reserve(m_implementation->directory / ".reserve");
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  fs::remove(m_implementation->directory / ".reserve", ignored);
}

namespace {

// Times are no reason to refuse a run: a table of another kind starts anew.
std::unique_ptr<MetricsFile> open_timings(const fs::path& path, const Metrics& columns, int first_frame) {
  try {
    return std::make_unique<MetricsFile>(path, columns, first_frame);
  } catch (const InputError&) {
    return std::make_unique<MetricsFile>(path, columns, 0);
  }
}

}  // namespace

void RunDirectory::frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) {
  Implementation& self = *m_implementation;
  const Metrics row = metrics_of(metrics), times = timings_of(metrics);
  if (!self.metrics) {
    self.metrics = std::make_unique<MetricsFile>(self.directory / "metrics.csv", row, self.first_frame);
    self.timings = open_timings(self.directory / "timings.csv", times, self.first_frame);
  }
  self.metrics->append(metrics.frame, row);
  self.timings->append(metrics.frame, times);
  self.recent.push_back(metrics);
  if (self.recent.size() > 8) self.recent.pop_front();  // more than the writer's queue holds
  self.writer.write(metrics.frame, metrics.time, std::move(geometries));
}

void RunDirectory::checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool) {
  Implementation& self = *m_implementation;
  std::vector<fs::path> tables;
  if (self.metrics) tables = {self.metrics->path(), self.timings->path()};
  self.writer.after_sync(
      [tables, directory = self.directory,
       kept = Checkpoint{self.record.method, self.record.content_key, metrics.time, metrics.frame, state}] {
        sync_files(directory, tables);
        save_checkpoint(directory / "checkpoints", kept);
      });
}

void RunDirectory::add_notes(std::span<const Note> notes) {
  Notes& all = m_implementation->record.notes;
  all.insert(all.end(), notes.begin(), notes.end());
}

namespace {

void fill(RunRecord& record, const RunSummary& summary) {
  record.status = status_of(summary.status);
  record.message = summary.message;
  record.frames = summary.last_frame;
  record.simulated_time = summary.last.time;
  record.steps = summary.steps;
  record.iterations = summary.iterations;
  record.wall_time = summary.wall_time;
  if (summary.wall_time > 0) record.real_time_factor = summary.last.time / summary.wall_time;
  record.peak_memory = peak_memory_megabytes();
  record.worst_penetration = if_known(summary.worst_penetration);
  record.phases = summary.last.phases;
  for (const Metric& metric : metrics_of(summary.last))
    record.final_metrics.emplace_back(metric.title(), metric.value);
}

// As comparisons doubt it, but of every run.
constexpr double k_sunk = 0.02;  // of the smallest body's diagonal

void note_depth(const RunSummary& summary, RunRecord& record) {
  const double depth = summary.worst_penetration;
  if (!(depth > k_sunk * summary.size)) return;
  record.notes.push_back(
      {Severity::warning,
       fmt::format("a body sinks {:.3g} mm into an obstacle, {:.2g} % of the smallest one's size: "
                   "use more steps_per_frame",
                   1e3 * depth, 100 * depth / summary.size)});
}

// Bodies that end in each other, or in themselves, unless they began so.
void note_crossings(const MetricsTable& table, RunRecord& record) {
  if (table.find("crossings") < 0 || table.rows.empty()) return;
  const std::vector<double> counts = table.column("crossings");
  if (!(counts.back() > counts.front())) return;
  record.notes.push_back(
      {Severity::warning,
       fmt::format("at the end {:g} pairs of triangles of the written surfaces go through each "
                   "other (column crossings)",
                   counts.back())});
}

void note_results(const fs::path& metrics, RunRecord& record) {
  if (!fs::is_regular_file(metrics)) return;
  const MetricsTable table = read_metrics(metrics, AtDamage::stop);
  for (Note& note : energy_notes(table)) record.notes.push_back(std::move(note));
  note_crossings(table, record);
}

}  // namespace

RunSummary RunDirectory::finish(RunSummary summary) {
  Implementation& self = *m_implementation;
  try {
    self.writer.close();
  } catch (const OutputError& error) {
    if (!summary.output_failed) summary.message = error.what();
    summary.status = Status::failed;
    summary.output_failed = true;
  }
  if (summary.output_failed) {
    summary.last_frame = std::max(0, self.writer.last_written());
    for (const FrameMetrics& metrics : self.recent) {
      if (metrics.frame == summary.last_frame) summary.last = metrics;
    }
  }
  fill(self.record, summary);
  note_results(self.directory / "metrics.csv", self.record);
  note_depth(summary, self.record);
  summary.notes = self.record.notes;
  self.record.writer_time = self.writer.busy_seconds();
  std::error_code ignored;
  fs::remove(self.directory / ".reserve", ignored);
  write_run_record(self.directory, self.record);
  return summary;
}

}  // namespace exemplar
