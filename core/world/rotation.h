// Rotation vectors: their exponential, logarithm and exact derivatives, for rigid bodies whose orientation in
// a step is R = exp([θ]×) R₀ with θ the increment since the step's start (radians).
//
//   exp([θ]×) v = c v + a θ×v + b θ(θ·v),   s = |θ|²,  c = cos√s,  a = sin√s/√s,  b = (1 − cos√s)/s
//
// The coefficients are functions of s, smooth through s = 0 (series there), so that derivatives have no
// special case.
#pragma once

#include <array>

#include "core/math/types.h"

namespace exemplar {

Mat3 cross_matrix(const Vec3& v);

Mat3 exp_rotation(const Vec3& theta);
Quat exp_quaternion(const Vec3& theta);
// The shortest rotation vector, |θ| ≤ π.
Vec3 log_rotation(const Quat& rotation);

// ω = left_jacobian(θ) θ̇ is the angular velocity (world axes) of exp([θ(t)]×) R₀. Its norm is at most 1.
Mat3 left_jacobian(const Vec3& theta);

struct RotatedVector {
  Vec3 value;                  // exp([θ]×) v
  Mat3 jacobian;               // ∂value/∂θ
  std::array<Mat3, 3> second;  // second[i](j, k) = ∂²value_i/∂θ_j∂θ_k
};

RotatedVector rotate(const Vec3& theta, const Vec3& v);

}  // namespace exemplar
