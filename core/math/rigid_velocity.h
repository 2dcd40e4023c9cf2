// The rigid part of the velocities of mass points, and how fast they move besides it: r(x) = v_c + ω × (x − c) with the
// points' linear and angular momentum. What is left, v − r, carries neither, and ½ Σ m |v|² = ½ Σ m |r|² + ½ Σ m |v − r|².
// Sums are formed in order. Units: kg, m, s, rad.
#pragma once

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/math/types.h"

namespace exemplar {

struct RigidVelocity {
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  Vec3 velocity = Vec3::Zero();  // v_c
  Vec3 spin = Vec3::Zero();      // ω
  double deformation = 0;        // ½ Σ m |v − r|², J
  Vec3 at(const Vec3& point) const { return velocity + spin.cross(point - centre); }
  double deformation_speed() const { return mass > 0 ? std::sqrt(2 * deformation / mass) : 0; }  // RMS, m/s
};

// ω with I ω = L; zero along axes about which the points have no extent (a rod, a single point).
inline Vec3 spin_of(const Mat3& inertia, const Vec3& angular_momentum) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
  const Vec3& values = solver.eigenvalues();
  Vec3 local = solver.eigenvectors().transpose() * angular_momentum;
  for (int i = 0; i < 3; ++i) local(i) = values(i) > 1e-10 * values(2) ? local(i) / values(i) : 0.0;
  return solver.eigenvectors() * local;
}

// mass(i), place(i) and velocity(i) of points 0 … count − 1.
template <class Mass, class Place, class Velocity>
RigidVelocity rigid_velocity(std::size_t count, const Mass& mass, const Place& place,
                             const Velocity& velocity) {
  RigidVelocity r;
  for (std::size_t i = 0; i < count; ++i) {
    r.mass += mass(i);
    r.centre += mass(i) * place(i);
    r.velocity += mass(i) * velocity(i);
  }
  if (!(r.mass > 0)) return r;
  r.centre /= r.mass;
  r.velocity /= r.mass;
  Mat3 second = Mat3::Zero();
  Vec3 angular_momentum = Vec3::Zero();
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 arm = place(i) - r.centre;
    second += mass(i) * arm * arm.transpose();
    angular_momentum += mass(i) * arm.cross(Vec3(velocity(i)));
  }
  r.spin = spin_of(second.trace() * Mat3::Identity() - second, angular_momentum);
  for (std::size_t i = 0; i < count; ++i)
    r.deformation += 0.5 * mass(i) * (velocity(i) - r.at(place(i))).squaredNorm();
  return r;
}

}  // namespace exemplar
