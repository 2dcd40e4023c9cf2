// A run's directory: frames, their manifest and collections, metrics.csv (the same bytes whenever it is run), timings.csv,
// checkpoints, run.json (core/scene/runs/run_record.h) and, when it has ended, checksums.csv.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/output/checkpoint.h"
#include "core/output/manifest.h"
#include "core/output/metrics_file.h"
#include "core/run/runner.h"
#include "core/scene/runs/run_record.h"
#include "core/scene/scene_file.h"

namespace exemplar {

// The version of the program and build, part of every content key.
std::string program_version();
// Of everything that determines a run's result: version, method, settings after defaults and the bytes of every file
// that was read.
std::string content_key(const SceneFile& file, const std::string& method,
                        const std::vector<InputFile>& inputs);
// What was read so far, relative to the folder of the scene.
std::vector<InputFile> inputs_of(const SceneFile& file, const InputLog& log);
// Whether all that determined an earlier run is as it was; its files are looked at again.
bool is_unchanged(const RunRecord& earlier, const SceneFile& file, const std::string& method);

// A run that is kept is looked at as its scene says now: `camera` changes no result. Throws OutputError.
void refresh_camera(const std::filesystem::path& directory, const SceneFile& file, const std::string& method);

// The folder holds a run, whole or not: its record, frames that a manifest names, or checkpoints.
bool holds_run(const std::filesystem::path& directory);
// A file with a name that a run gives its files, which the run in the folder, if any, did not make.
std::optional<std::filesystem::path> find_in_the_way(const std::filesystem::path& directory);
// Removes what the run in the folder has made and nothing else. Throws OutputError.
void remove_run(const std::filesystem::path& directory);

// Of everything that the run in the folder has made; it has ended. Throws OutputError.
void write_run_checksums(const std::filesystem::path& directory);

// Frames 0 … last with their rows of the table, and the tables themselves: from which frame on they have to be made again.
std::optional<FrameDamage> find_run_damage(const std::filesystem::path& directory, int last);

class RunDirectory : public RunSink {
 public:
  // `record` says what runs; the outcome is filled in here.
  RunDirectory(std::string directory, RunRecord record, int first_frame);
  ~RunDirectory() override;

  void frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) override;
  void checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool scheduled) override;

  // What turns up in the steps: `before` until the checkpoint that the run goes on from, `since` says what came after.
  // Checkpoints hold it, and the record that finish() writes. A warning that is told once a run is kept once.
  void keep_notes(Notes before, std::function<Notes()> since);
  // What only a whole run shows, from what is on disk then: of a run that came to its end.
  void tell_at_end(std::function<Notes()> notes);

  // Waits for the writer and writes the final run.json; returns the summary of what is on disk.
  RunSummary finish(RunSummary summary);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar
