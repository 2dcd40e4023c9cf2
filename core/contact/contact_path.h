// Straight motion of all unknowns from (x0, q0) to (x1, q1), for the search of contact pairs and for the step
// limit; part of ContactPotential. Obstacle points move on arcs: with the angular velocity ω = J_l(θ) Δθ per
// unit of the path, |J_l| ≤ 1 and |dJ_l/dα| ≤ |Δθ|/2, so that a point at arm r has speed ≤ |Δu| + |Δθ| r and
// second derivative ≤ 3/2 |Δθ|² r.
#pragma once

#include "core/contact/contact.h"
#include "core/world/rotation.h"

namespace exemplar {

struct ContactPotential::Path {
  VecX q0, q1;
  Points start, end;  // all contact points

  Vec3 displacement(int obstacle) const { return (q1 - q0).segment<3>(6 * obstacle); }
  Vec3 turn(int obstacle) const { return (q1 - q0).segment<3>(6 * obstacle + 3); }
  VecX at(double alpha) const { return q0 + alpha * (q1 - q0); }
  static double arc(const Vec3& turn, double arm) { return 1.5 * turn.squaredNorm() * arm; }
};

}  // namespace exemplar
