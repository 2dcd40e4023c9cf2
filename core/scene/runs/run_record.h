// run.json: what ran, its settings after defaults, how it ended and what it cost. Described like settings are, so
// that there is one writer and one reader. It exists from the start of a run, with the status "running".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/input_file.h"
#include "core/base/note.h"
#include "core/scene/settings.h"

namespace exemplar {

enum class RunStatus {
  missing,
  waiting,
  running,
  done,
  interrupted,
  failed
};  // missing, waiting: there is no record
std::string_view to_string(RunStatus status);

struct RunRecord {
  std::string program = "exemplar";
  std::string version;
  std::string method;
  std::string scene;  // path as it was given
  std::string title;
  std::vector<std::string> assignments;  // --set
  std::string content_key;               // of everything that determines the result
  std::vector<InputFile> inputs;         // every file that was read, relative to the scene's folder
  int threads = 0, blas_threads = 1;
  std::vector<std::string> not_modelled;
  Notes notes;
  RunStatus status = RunStatus::missing;
  std::string message;  // why it ended early
  int frames = 0;       // the last one written
  int steps = 0, iterations = 0;
  std::optional<double> simulated_time, wall_time;  // s; wall time: in the simulation's steps
  std::optional<double> setup_time;  // s before the first step: reading, meshing, the method's own
  std::optional<double> real_time_factor;
  std::optional<double> peak_memory;        // MB
  std::optional<double> worst_penetration;  // m
  std::optional<double> writer_time;        // s, of the thread that writes frames
  NamedNumbers phases;                      // s
  NamedNumbers final_metrics;               // by the titles of metrics.csv's columns
  JsonText settings;                        // the scene after defaults
};

void describe(Describe<Note>& d);
void describe(Describe<InputFile>& d);
void describe(Describe<RunRecord>& d);

// Throws OutputError.
void write_run_record(const std::filesystem::path& directory, const RunRecord& record);
// Throws InputError when there is none or it is damaged.
RunRecord read_run_record(const std::filesystem::path& directory);
RunRecord parse_run_record(const std::string& text, const std::string& path);
// Nothing when there is none or it is damaged.
std::optional<RunRecord> find_run_record(const std::filesystem::path& directory);

}  // namespace exemplar
