// The step limit: conservative advancement along separating planes.
//
// At α the nearest points of a pair give a unit normal n that separates the two primitives by d. For that
// fixed n every corner's place along n is a known function (linear for surface points, linear with bounded
// curvature for points of turning obstacles), so the pair keeps d_min at least until the first root of
//   n·(a_i − b_j) + τ n·(ȧ_i − ḃ_j) − τ²/2 (C_i + C_j) = d_min
// over all corners i, j. Advance there and repeat. Unlike bounds from speeds alone, sliding at any speed
// along a surface costs nothing. The same holds for a point and a convex shape, whose distance along a
// straight line is convex.
#pragma once

#include <vector>

#include "core/contact/contact_points.h"

namespace exemplar {

struct StepLimit {
  double alpha = 1;  // part of the path that is clear
  double left = 0;   // m: what was left of it along the normal there
};

// For every pair: the part of the path on which its gap keeps at least a fifth of its first value, or of the
// reach where it was wider. Safe at any speed.
std::vector<StepLimit> step_limits(const ContactPoints& points, const std::vector<ContactPair>& pairs,
                                   const ContactPath& path);

// Of the smaller of the pair's obstacles, or of its two bodies, m; infinite for planes.
double inner_radius(const ContactPoints& points, const ContactPair& pair);

}  // namespace exemplar
