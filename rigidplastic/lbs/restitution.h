// Restitution of a body that is deforming (jones2016 eq. 15), as the factor C_r/C*_r in [0, 1]:
//
//   C_r := min(C*_r, C_r + μΔt, exp(−ν‖ΔE‖_F/√N) C*_r)
//
// Departure: √N, the number of vertices, makes ν independent of the mesh; the mode `paper` leaves it out.
#pragma once

#include <algorithm>
#include <cmath>

namespace exemplar::lbs {

// `pending`: ‖ΔE‖_F, divided by √N or not; `rest`: C*_r.
inline double next_restitution_factor(double factor, double rest, double pending, double mu, double nu,
                                      double dt) {
  if (rest <= 0) return 1;
  return std::min({1.0, factor + mu * dt / rest, std::exp(-nu * pending)});
}

}  // namespace exemplar::lbs
