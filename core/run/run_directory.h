// A run's directory: frames, their manifest and collections, metrics.csv (the same bytes whenever it is run), timings.csv,
// checkpoints and run.json (core/scene/runs/run_record.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/output/checkpoint.h"
#include "core/output/metrics_file.h"
#include "core/run/runner.h"
#include "core/scene/runs/run_record.h"
#include "core/scene/scene_file.h"

namespace exemplar {

// The version of the program and build, part of every content key.
std::string program_version();
// Of everything that determines a run's result: version, method, settings after defaults and the bytes of every file
// that they name.
std::string content_key(const SceneFile& file, const std::string& method);

class RunDirectory : public RunSink {
 public:
  // `record` says what runs; the outcome is filled in here.
  RunDirectory(std::string directory, RunRecord record, int first_frame);
  ~RunDirectory() override;

  void frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) override;
  void checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool scheduled) override;

  // What turned up during the run, for the record that finish() writes.
  void add_notes(std::span<const Note> notes);

  // Waits for the writer and writes the final run.json; returns the summary of what is on disk.
  RunSummary finish(RunSummary summary);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar
