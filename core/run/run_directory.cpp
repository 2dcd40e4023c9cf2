#include "core/run/run_directory.h"

#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/output/frame_writer.h"
#include "core/output/metrics_file.h"
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
  std::unique_ptr<MetricsFile> metrics;
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
}

RunDirectory::~RunDirectory() = default;

void RunDirectory::frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) {
  Implementation& self = *m_implementation;
  const Metrics row = metrics_of(metrics);
  if (!self.metrics)
    self.metrics = std::make_unique<MetricsFile>(self.directory / "metrics.csv", row, self.first_frame);
  self.metrics->append(metrics.frame, row);
  self.writer.write(metrics.frame, metrics.time, std::move(geometries));
}

void RunDirectory::checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool) {
  Implementation& self = *m_implementation;
  self.writer.flush();
  save_checkpoint(self.directory / "checkpoints",
                  {self.record.method, self.record.content_key, metrics.time, metrics.frame, state});
}

void RunDirectory::add_notes(std::span<const Note> notes) {
  Notes& all = m_implementation->record.notes;
  all.insert(all.end(), notes.begin(), notes.end());
}

void RunDirectory::finish(const RunSummary& summary, const std::optional<std::string>& failure) {
  Implementation& self = *m_implementation;
  if (!failure) self.writer.close();
  RunRecord& record = self.record;
  record.status = failure ? RunStatus::failed : status_of(summary.status);
  record.message = failure ? *failure : summary.message;
  record.frames = summary.last_frame;
  record.simulated_time = summary.last.time;
  record.steps = summary.steps;
  record.iterations = summary.iterations;
  record.wall_time = summary.wall_time;
  if (summary.wall_time > 0) record.real_time_factor = summary.last.time / summary.wall_time;
  record.peak_memory = peak_memory_megabytes();
  record.worst_penetration = if_known(summary.worst_penetration);
  record.phases = summary.last.phases;
  record.writer_time = self.writer.busy_seconds();
  for (const Metric& metric : metrics_of(summary.last))
    record.final_metrics.emplace_back(metric.title(), metric.value);
  write_run_record(self.directory, record);
}

}  // namespace exemplar
