// The written frames of one run, found in its directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/render/image.h"
#include "compare/stage/stage.h"
#include "core/output/fields.h"
#include "core/output/pvd_file.h"

namespace exemplar::render {

struct RunFrames {
  std::string name;                 // of the directory: the method in a comparison
  std::string label;                // the study's name of the run; the directory's outside a comparison
  std::optional<Colour> colour;     // the run's in the report
  std::string title;                // of the scene, from run.json
  std::string method;               // from run.json
  std::vector<PvdEntry> frames;     // of the shown series
  std::vector<PvdEntry> obstacles;  // empty when the scene has none
  std::vector<PvdEntry> handles;    // of rigs; empty when the method has none
  stage::Stage stage;               // from run.json: its names and its camera
  std::string note;                 // status and reason from run.json when the run did not complete

  double end() const { return frames.empty() ? 0 : frames.back().time; }
};

// The run in `directory`, or the runs in its sub-directories in the order of comparison.json, else
// alphabetical. Throws InputError when there are none, or none that wrote `series`.
std::vector<RunFrames> find_runs(const std::filesystem::path& directory, const std::string& series);

// Index of the frame nearest to `time`; nothing when the run ended earlier than that (by more than half a
// frame).
std::optional<std::size_t> frame_at(const std::vector<PvdEntry>& frames, double time);

}  // namespace exemplar::render
