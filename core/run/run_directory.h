// A run's directory: frames and collections, metrics.csv, checkpoints and run.json (what ran, settings after
// defaults, status, timings, memory, final metrics). run.json exists from the start with status "running".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/output/checkpoint.h"
#include "core/run/runner.h"

namespace exemplar {

// What run.json says besides the outcome. `settings_json` is the scene after defaults.
struct RunRecord {
  std::string method;
  std::string scene_path;
  std::string title;
  std::string settings_json;
  std::string content_key;  // of everything that determines the result
  int threads = 0;
  int blas_threads = 1;
  std::vector<std::string> notes, not_modelled;
};

// The version of the program and build, part of every content key.
std::string program_version();
std::string content_key(const std::string& method, const std::string& settings_json);

class RunDirectory : public RunSink {
 public:
  RunDirectory(std::string directory, RunRecord record, int first_frame);
  ~RunDirectory() override;

  void frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) override;
  void checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool scheduled) override;

  // Waits for the writer and writes the final run.json; `failure` replaces the summary's status and message.
  void finish(const RunSummary& summary, const std::optional<std::string>& failure = std::nullopt);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

// What an earlier run left: none, one that can go on, or one that is complete.
struct EarlierRun {
  bool exists = false;
  bool complete = false;
  std::string content_key;
  std::string status;
  int frames = 0;  // last written
};
EarlierRun inspect_run(const std::string& directory);

}  // namespace exemplar
