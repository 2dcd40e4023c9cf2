// What the blows have done to the bodies, as numbers beside the pictures. Lengths in metres.
#pragma once

#include <vector>

#include "core/run/method.h"
#include "rigidplastic/lbs/lbs_body.h"

namespace exemplar::lbs {

// How far the struck places gave way along the blows: Σ_i j_i·(x_i − u_i) / Σ_i ‖j_i‖ over the vertices of all bodies,
// with j_i the sum of the impulses above β at vertex i, u_i its place at rest and x_i now, all in the body's axes. 0: no
// blow yet. Examples that have nothing to say where a body is hit give nothing (jones2016 Fig. 6).
double struck_depth(const std::vector<LbsBody>& bodies);

// The smallest RMS distance between the shapes of two copies of one body, point by point after the best rigid motion:
// how different identical inputs came out (jones2016 Fig. 4). k_unknown without copies, and from 33 copies on.
double shape_variety(const std::vector<LbsBody>& bodies);

// weight_<body>_<example>: the mean weight over the body's points; copies of a body count together, under its name.
std::vector<Metric> mean_weights(const std::vector<LbsBody>& bodies);

}  // namespace exemplar::lbs
