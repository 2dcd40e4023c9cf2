// The inertia of a dynamic obstacle as a term of an implicit step's potential, over its six increments q =
// (u, θ) since the step's start: position p₀ + u, orientation Q = exp([θ]×) Q₀.
//
//   E(q) = m/(2h²) |u − û|² + 1/(2h²) tr((Q − Q̂) J (Q − Q̂)ᵀ),   J = ½ tr(I) 1 − I (body axes)
//
// which is Σ m_k |x_k − x̂_k|²/(2h²) over the body's mass points (Ferguson et al. 2021, eq. 6). Departure: û =
// h v + h² g and Q̂ is the torque-free motion, so that a body without contact spins without loss; and the new
// angular velocity is taken from the angular momentum L₀ + h τ with the torque τ that E balances, so that
// contact exchanges angular momentum exactly. Units: kg, m, s, J.
#pragma once

#include "core/world/obstacle.h"

namespace exemplar {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

class RigidInertia {
 public:
  RigidInertia(const ObstacleBody& body, const ObstacleState& start, const Vec3& gravity, double dt);

  // The increment without contact: a good first guess, and the minimum of the term.
  Vec6 free_increment() const;
  double value(const Vec6& q) const;
  Vec6 gradient(const Vec6& q) const;
  Mat6 hessian(const Vec6& q) const;
  // The state at the end of the step, given the increment that was found.
  ObstacleState finish(const Vec6& q) const;

 private:
  const ObstacleBody* m_body;
  ObstacleState m_start;
  Quat m_predicted;     // Q̂
  Vec3 m_displacement;  // û
  Mat3 m_moment;        // M = Q₀ J Q̂ᵀ: tr(Q J Q̂ᵀ) = tr(exp([θ]×) M)
  Mat3 m_spread;        // J, kg m²
  double m_dt;
};

// The state that a keyframed or dynamic obstacle has after the increment, velocities as at the start.
ObstacleState moved(const ObstacleState& start, const Vec6& q);
// The increment between two poses.
Vec6 increment_between(const ObstacleState& start, const ObstacleState& end);

}  // namespace exemplar
