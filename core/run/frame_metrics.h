// What is measured at a frame, and the columns that it is written as.
#pragma once

#include "core/run/method.h"

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

// Kinetic, elastic and gravitational energy; k_unknown when the method lacks one of them.
double stored_energy(const Diagnostics& d);

}  // namespace exemplar
