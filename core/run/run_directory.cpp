#include "core/run/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/output/checksums.h"
#include "core/output/frame_writer.h"
#include "core/output/metrics_file.h"
#include "core/run/energy_watch.h"
#include "core/run/step_advice.h"

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

[[noreturn]] void refuse_file_in_the_way(const fs::path& file) {
  throw InputError(
      Problem{file.string(), "",
              "is there already, no run of Exemplar made it, and a run would replace it: choose another "
              "directory (-o)"});
}

// What a run makes beside its frames and collections; the record goes last when a run is removed.
constexpr std::array k_names{"metrics.csv",    "timings.csv",  "manifest.csv",
                             k_checksums_name, "examples.vtp", "run.json"};

std::optional<double> if_known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

struct RunDirectory::Implementation {
  Implementation(std::string dir, RunRecord what, int first)
      : directory(std::move(dir)),
        record(std::move(what)),
        first_frame(first),
        is_new(!holds_run(directory)),
        writer(claimed(), first) {}

  // The record comes first: from then on the directory holds a run, whatever ends the program.
  const fs::path& claimed() {
    make_writable_directory(directory);
    record.status = RunStatus::running;
    write_run_record(directory, record);
    return directory;
  }

  // A series that bears the name of somebody else's files.
  void refuse_taken(const std::vector<Geometry>& geometries) const {
    for (const Geometry& geometry : geometries) {
      const std::vector<fs::path> taken = files_of_series(directory, geometry.series);
      if (taken.empty()) continue;
      for (const char* name : {"run.json", "manifest.csv", "examples.vtp"}) fs::remove(directory / name);
      refuse_file_in_the_way(taken.front());
    }
  }
  Notes notes_of_steps() const;

  fs::path directory;
  RunRecord record;
  int first_frame;
  bool is_new;  // nothing here is ours yet
  FrameWriter writer;
  Notes notes_before;
  std::function<Notes()> notes_since = [] { return Notes(); };
  std::function<Notes()> notes_at_end = [] { return Notes(); };
  std::unique_ptr<MetricsFile> metrics, timings;
  std::deque<FrameMetrics> recent;  // the last frames: what is on disk may be a few behind
};

std::string program_version() {
  return EXEMPLAR_VERSION;
}

std::string content_key(const SceneFile& file, const std::string& method,
                        const std::vector<InputFile>& inputs) {
  Hasher hash;
  hash.add_text(program_version());
  hash.add_text(method);
  Json scene = write_scene(file, method);
  scene.erase("camera");
  hash.add_text(scene.dump());
  for (const InputFile& input : inputs) {
    hash.add_text(input.path);
    hash.add_text(input.hash);
  }
  return hash.text();
}

namespace {

fs::path whole_folder(const SceneFile& file) {
  return fs::absolute(file.directory.empty() ? "." : file.directory).lexically_normal();
}

}  // namespace

std::vector<InputFile> inputs_of(const SceneFile& file, const InputLog& log) {
  const fs::path folder = whole_folder(file);
  std::vector<InputFile> inputs = log.files();
  for (InputFile& input : inputs)
    input.path = fs::absolute(input.path).lexically_normal().lexically_proximate(folder).string();
  return inputs;
}

bool is_unchanged(const RunRecord& earlier, const SceneFile& file, const std::string& method) {
  const fs::path folder = whole_folder(file);
  std::vector<InputFile> inputs = earlier.inputs;
  for (InputFile& input : inputs) input.hash = look_again((folder / input.path).string()).hash;
  return earlier.content_key == content_key(file, method, inputs);
}

RunDirectory::RunDirectory(std::string directory, RunRecord record, int first_frame)
    : m_implementation(
          std::make_unique<Implementation>(std::move(directory), std::move(record), first_frame)) {
  const fs::path sums = m_implementation->directory / k_checksums_name;
  std::error_code error;
  fs::remove(sums, error);  // until the run has ended
  if (error) throw OutputError(sums, error.message());
  if (first_frame == 0) remove_checkpoints(m_implementation->directory / "checkpoints");
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
  if (self.is_new && !self.metrics) self.refuse_taken(geometries);
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
  self.writer.after_sync([tables, directory = self.directory,
                          kept = Checkpoint{self.record.method, self.record.content_key, metrics.time,
                                            metrics.frame, state, self.notes_of_steps()}] {
    sync_files(directory, tables);
    save_checkpoint(directory / "checkpoints", kept);
  });
}

void RunDirectory::keep_notes(Notes before, std::function<Notes()> since) {
  m_implementation->notes_before = std::move(before);
  m_implementation->notes_since = std::move(since);
}

void RunDirectory::tell_at_end(std::function<Notes()> notes) {
  m_implementation->notes_at_end = std::move(notes);
}

namespace {

// Without the moment and the amount: "at 0.3 s 5 of 40 tets …" is the warning that it was at 0.2 s.
std::string kind_of(const Note& note) {
  static const std::regex number("([ (])[-+0-9.][-+0-9.e]*");
  return std::regex_replace(note.text, number, "$1#");
}

}  // namespace

Notes RunDirectory::Implementation::notes_of_steps() const {
  Notes notes = notes_before;
  for (Note& note : notes_since()) {
    const bool is_told = std::any_of(notes_before.begin(), notes_before.end(),
                                     [&](const Note& told) { return kind_of(told) == kind_of(note); });
    if (!is_told) notes.push_back(std::move(note));
  }
  return notes;
}

void write_run_checksums(const fs::path& directory) {
  std::vector<fs::path> files(k_names.begin(), k_names.end());
  std::erase(files, k_checksums_name);
  for (const std::string& series : series_in(directory)) files.emplace_back(series + ".pvd");
  for (const fs::path& file : checkpoint_files(directory / "checkpoints"))
    files.push_back(fs::path("checkpoints") / file.filename());
  write_checksums(directory, std::move(files));
}

void refresh_camera(const fs::path& directory, const SceneFile& file, const std::string& method) {
  std::optional<RunRecord> record = find_run_record(directory);
  if (!record || record->status != RunStatus::done) return;
  Json settings = Json::parse(record->settings.text, nullptr, false);
  const Json now = write_scene(file, method).value("camera", Json());
  if (!settings.is_object() || settings.value("camera", Json()) == now) return;
  settings["camera"] = now;
  record->settings.text = settings.dump();
  write_run_record(directory, *record);
  write_run_checksums(directory);
}

bool holds_run(const fs::path& directory) {
  const std::optional<RunRecord> record = find_run_record(directory);
  const bool is_ours = record && record->program == "exemplar";
  return is_ours || !read_manifest(directory).empty() || !checkpoint_files(directory / "checkpoints").empty();
}

std::optional<fs::path> find_in_the_way(const fs::path& directory) {
  if (holds_run(directory)) {
    const std::vector<fs::path> made = frame_files(directory);
    for (const std::string& series : series_in(directory)) {
      for (const fs::path& file : files_of_series(directory, series)) {
        const bool is_made =
            file.extension() == ".pvd" || std::find(made.begin(), made.end(), file) != made.end();
        if (!is_made) return file;
      }
    }
    return std::nullopt;
  }
  for (const char* name : k_names) {
    if (fs::exists(fs::symlink_status(directory / name))) return directory / name;
  }
  return std::nullopt;
}

void remove_run(const fs::path& directory) {
  try {
    for (const std::string& series : series_in(directory)) fs::remove(directory / (series + ".pvd"));
    for (const fs::path& file : frame_files(directory)) fs::remove(file);
    remove_checkpoints(directory / "checkpoints");
    for (const char* name : k_names) fs::remove(directory / name);
  } catch (const fs::filesystem_error& error) {
    throw OutputError(error.path1(), error.code().message());
  }
}

namespace {

// Frames before it have their rows.
std::optional<FrameDamage> find_lost_row(const fs::path& directory, int end) {
  MetricsTable table;
  try {
    table = read_metrics(directory / "metrics.csv", AtDamage::stop);
  } catch (const InputError&) {
  }
  for (int frame = 0; frame < end; ++frame) {
    const auto row = static_cast<std::size_t>(frame);
    if (row < table.rows.size() && table.rows[row][0] == frame) continue;
    return FrameDamage{frame, fmt::format("metrics.csv has no row of frame {}", frame)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FrameDamage> find_run_damage(const fs::path& directory, int last) {
  for (const FileDamage& damage : find_damaged_files(directory)) {
    // Where in a table the damage is cannot be told.
    if (damage.file == "metrics.csv" || damage.file == "manifest.csv") return FrameDamage{0, damage.what};
  }
  const std::optional<FrameDamage> damage = find_damage(directory, last);
  const std::optional<FrameDamage> row = find_lost_row(directory, damage ? damage->frame : last + 1);
  return row ? row : damage;
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
                   "use {}, or a stiffer material where it gives way",
                   1e3 * depth, 100 * depth / summary.size, advice_for_smaller_steps(record))});
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
  for (Note& note : energy_notes(table, advice_for_smaller_steps(record)))
    record.notes.push_back(std::move(note));
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
  const Notes later = self.notes_of_steps();
  self.record.notes.insert(self.record.notes.end(), later.begin(), later.end());
  note_results(self.directory / "metrics.csv", self.record);
  note_depth(summary, self.record);
  if (summary.status == Status::ok) {
    for (Note& note : self.notes_at_end()) self.record.notes.push_back(std::move(note));
  }
  summary.notes = self.record.notes;
  self.record.writer_time = self.writer.busy_seconds();
  std::error_code ignored;
  fs::remove(self.directory / ".reserve", ignored);
  write_run_record(self.directory, self.record);
  try {
    write_run_checksums(self.directory);
  } catch (const OutputError& error) {
    if (!summary.output_failed) summary.message = error.what();
    summary.status = Status::failed;
    summary.output_failed = true;
  }
  return summary;
}

}  // namespace exemplar
