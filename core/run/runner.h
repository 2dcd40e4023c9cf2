// The main loop of every run: advance to the next frame → report → fields → metrics → sink. Knows nothing
// about VTK, JSON or the terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/run/live_run.h"

namespace exemplar {

class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) = 0;
  // `scheduled`: false for the state kept because the run could not go on.
  virtual void checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool scheduled) = 0;
};

struct RunOptions {
  int frames = -1;                 // how many after the initial one; −1: the scene's duration
  double checkpoint_seconds = 10;  // wall time between scheduled checkpoints; 0: every frame
  int checkpoint_frames = 0;       // at its multiples too; 0: a tenth of the frames, at least ten
  InterruptCheck interrupted = [] { return false; };
  std::function<void(const FrameMetrics&, int frames)> progress = [](const FrameMetrics&, int) {};
};

// The sums of a run that was resumed (LiveRun::resume), up to the frame where it goes on.
struct ResumePoint {
  int steps = 0, iterations = 0;
  int frame_steps = 0, frame_iterations = 0;  // of this frame alone
  double worst_penetration = k_unknown;
};

struct RunSummary {
  Status status = Status::ok;
  std::string message;
  bool output_failed = false;  // the sink could not take it: a full disk, say
  int last_frame = 0;
  int steps = 0, iterations = 0;
  double wall_time = 0;  // s in advance()
  FrameMetrics last;     // metrics of the last good frame
  Notes notes;           // of the whole run, what came up at its end last
  double worst_penetration = k_unknown;
  double size = 0;  // diagonal of the smallest body as it starts, m
};

RunSummary simulate(LiveRun& run, RunSink& sink, const RunOptions& options,
                    const ResumePoint* resume = nullptr);

}  // namespace exemplar
