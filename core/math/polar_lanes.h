// Rotation R of the polar decomposition F = R S of 3×3 matrices, of one or of four at a time.
//
// Newton's iteration X ← ½ (ζ X + X⁻ᵀ/ζ) from X = F, with Higham's factor ζ² = ‖X⁻¹‖/‖X‖ (Frobenius) in the first round:
// it converges quadratically to R when det F > 0. What is flat or inverted goes through polar_rotation.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/math/lanes.h"
#include "core/math/polar.h"

namespace exemplar {

// det F of what is neither flat nor inverted: more than this share of (‖F‖²/3)^(3/2), which it is for a rotation.
inline constexpr double k_flat = 1e-3;

template <class S>
Matrix3<S> cofactor(const Matrix3<S>& f) {
  Matrix3<S> c;
  c.col(0) = f.col(1).cross(f.col(2));
  c.col(1) = f.col(2).cross(f.col(0));
  c.col(2) = f.col(0).cross(f.col(1));
  return c;
}

inline double root(double a) {
  return std::sqrt(a);
}
inline Lanes root(const Lanes& a) {
  return Lanes(lanes::sqrt(a.v));
}

// Calls act(k, F_k) for every lane that is flat or inverted.
template <class S, class Act>
void for_each_flat(const Matrix3<S>& f, const Act& act) {
  const S square = f.squaredNorm() / S(3), least = S(k_flat) * square * root(square),
          det = f.col(0).dot(f.col(1).cross(f.col(2)));
  for (int k = 0; k < lane_count<S>; ++k)
    if (!(lane(det, k) > lane(least, k))) act(k, lane(f, k));
}

template <class S>
Matrix3<S> rotation_of(const Matrix3<S>& f) {
  Matrix3<S> x = f;
  for (int round = 0; round < 12; ++round) {
    const Matrix3<S> cof = cofactor<S>(x);
    const S det = x.col(0).dot(cof.col(0));
    // X⁻ᵀ = cof X / det X.
    const S factor = round == 0 ? root(root(cof.squaredNorm() / (det * det * x.squaredNorm()))) : S(1);
    const Matrix3<S> next = S(0.5) * (factor * x + (S(1) / (factor * det)) * cof);
    const S change = (next - x).squaredNorm();
    x = next;
    double most = 0;
    for (int k = 0; k < lane_count<S>; ++k) most = std::max(most, lane(change, k));
    // Quadratic: the next change would be the square of this one.
    if (most < 1e-17) break;
  }
  for_each_flat(f, [&](int k, const Mat3& one) { set_lane(x, k, polar_rotation(one)); });
  return x;
}

}  // namespace exemplar
