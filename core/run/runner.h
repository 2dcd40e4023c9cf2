// The main loop of every run: advance to the next frame → report → fields → metrics → sink. Knows nothing
// about VTK, JSON or the terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/run/method.h"
#include "core/scene/scene.h"

namespace exemplar {

// Everything measured at one frame.
struct FrameMetrics {
  int frame = 0;
  double time = 0;  // s
  Diagnostics diagnostics;
  double volume_ratio = k_unknown;  // of the written surfaces, closed bodies only
  double crossings = k_unknown;     // pairs of triangles of the written surface that cross
  int steps = 0, iterations = 0;    // since the frame before
  double wall_time = 0;             // s in advance() since the start
  PhaseTimes phases;                // s since the start
};

// The columns of metrics.csv, in the same order for every frame of a run: the same bytes whenever it is run.
Metrics metrics_of(const FrameMetrics& frame);
// The columns of timings.csv: what differs from run to run.
Metrics timings_of(const FrameMetrics& frame);

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

// Where a resumed run goes on: the method has been loaded with the state of this frame.
struct ResumePoint {
  int frame = 0;
  double wall_time = 0;  // s, of what follows: up to this frame
  int steps = 0, iterations = 0;
  double worst_penetration = k_unknown;
  double start_energy = k_unknown;  // stored_energy() of the initial state
};

// Kinetic, elastic and gravitational energy; k_unknown when the method lacks one of them.
double stored_energy(const Diagnostics& d);

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

RunSummary simulate(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options,
                    const ResumePoint* resume = nullptr);

}  // namespace exemplar
