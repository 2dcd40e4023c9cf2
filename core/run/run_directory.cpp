#include "core/run/run_directory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/random.h"
#include "core/output/frame_writer.h"
#include "core/output/metrics_file.h"

namespace exemplar {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

double peak_memory_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// NaN and infinity are not JSON.
Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

const char* status_name(Status status) {
  switch (status) {
    case Status::ok:
      return "done";
    case Status::interrupted:
      return "interrupted";
    case Status::failed:
      return "failed";
  }
  return "failed";
}

Json final_metrics(const FrameMetrics& last) {
  Json metrics = Json::object();
  const std::vector<std::string> columns = metric_columns(last);
  const std::vector<double> values = metric_values(last);
  for (std::size_t i = 0; i < columns.size(); ++i) metrics[columns[i]] = number_or_null(values[i]);
  return metrics;
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

  Json base() const {
    Json json;
    json["program"] = "exemplar";
    json["version"] = program_version();
    json["method"] = record.method;
    json["scene"] = record.scene_path;
    json["title"] = record.title;
    json["content_key"] = record.content_key;
    json["threads"] = record.threads;
    json["blas_threads"] = record.blas_threads;
    json["not_modelled"] = record.not_modelled;
    json["notes"] = record.notes;
    return json;
  }

  void write(Json json) const {
    json["settings"] = Json::parse(record.settings_json);
    write_file_atomically(directory / "run.json",
                          json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
};

std::string program_version() {
  return EXEMPLAR_VERSION;
}

std::string content_key(const std::string& method, const std::string& settings_json) {
  std::uint64_t a = 0x243f6a8885a308d3ULL, b = 0x13198a2e03707344ULL;
  for (const std::string& part : {program_version(), method, settings_json}) {
    for (char c : part) {
      a = mix_bits(a ^ static_cast<unsigned char>(c));
      b = mix_bits(b + static_cast<unsigned char>(c) + a);
    }
    a = mix_bits(a + 257);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

RunDirectory::RunDirectory(std::string directory, RunRecord record, int first_frame)
    : m_implementation(
          std::make_unique<Implementation>(std::move(directory), std::move(record), first_frame)) {
  if (first_frame == 0) remove_checkpoints(m_implementation->directory / "checkpoints");
  Json json = m_implementation->base();
  json["status"] = "running";
  m_implementation->write(json);
}

RunDirectory::~RunDirectory() = default;

void RunDirectory::frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) {
  Implementation& self = *m_implementation;
  if (!self.metrics) {
    self.metrics = std::make_unique<MetricsFile>(self.directory / "metrics.csv", metric_columns(metrics),
                                                 self.first_frame);
  }
  self.metrics->append(metrics.frame, metric_values(metrics));
  self.writer.write(metrics.frame, metrics.time, std::move(geometries));
}

void RunDirectory::checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool) {
  Implementation& self = *m_implementation;
  self.writer.flush();
  save_checkpoint(self.directory / "checkpoints",
                  {self.record.method, self.record.content_key, metrics.time, metrics.frame, state});
}

void RunDirectory::finish(const RunSummary& summary, const std::optional<std::string>& failure) {
  Implementation& self = *m_implementation;
  if (!failure) self.writer.close();
  Json json = self.base();
  json["status"] = failure ? "failed" : status_name(summary.status);
  json["message"] = failure ? *failure : summary.message;
  json["frames"] = summary.last_frame;
  json["simulated_time"] = summary.last.time;
  json["steps"] = summary.steps;
  json["iterations"] = summary.iterations;
  json["wall_time"] = summary.wall_time;
  json["real_time_factor"] =
      number_or_null(summary.wall_time > 0 ? summary.last.time / summary.wall_time : k_unknown);
  json["peak_memory_MB"] = peak_memory_megabytes();
  json["worst_penetration"] = number_or_null(summary.worst_penetration);
  Json phases = Json::object();
  for (const auto& [name, seconds] : summary.last.phases) phases[name] = seconds;
  json["phases"] = phases;
  json["writer_time"] = self.writer.busy_seconds();
  json["final_metrics"] = final_metrics(summary.last);
  self.write(json);
}

EarlierRun inspect_run(const std::string& directory) {
  EarlierRun run;
  std::ifstream in(fs::path(directory) / "run.json");
  if (!in) return run;
  const Json json = Json::parse(in, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return run;
  run.exists = true;
  run.status = json.value("status", "");
  run.complete = run.status == "done";
  run.content_key = json.value("content_key", "");
  run.frames = json.value("frames", 0);
  return run;
}

}  // namespace exemplar
