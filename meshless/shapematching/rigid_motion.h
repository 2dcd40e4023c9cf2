// The rigid part of a cloud of particles' motion: centre, linear velocity, angular velocity, inertia. Sums
// are formed over fixed ranges and added in order, so they do not depend on the number of threads.
#pragma once

#include "core/math/types.h"

namespace exemplar::shape_matching {

struct CloudMotion {
  double mass = 0.0;                     // kg
  Vec3 centre = Vec3::Zero();            // m
  Vec3 velocity = Vec3::Zero();          // of the centre [m/s]
  Vec3 spin = Vec3::Zero();              // angular velocity [rad/s]
  Vec3 angular_momentum = Vec3::Zero();  // about the centre [kg m²/s]
  Mat3 inertia = Mat3::Zero();           // about the centre [kg m²]
  Vec3 at(const Vec3& point) const { return velocity + spin.cross(point - centre); }
};

// `near` is any point close to the particles (the last centre): it keeps the sums accurate far from the
// origin.
CloudMotion cloud_motion(const Points& positions, const Points& velocities, const VecX& masses,
                         const Vec3& near);

// Momenta of the changes to − from at the given positions: Σ m Δ and Σ m (x − centre) × Δ.
struct MomentumSum {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
};
MomentumSum momentum_of_change(const Points& positions, const Points& from, const Points& to,
                               const VecX& masses, const Vec3& centre);

// ω with I ω = L; zero along axes about which the particles have no extent (a rod, a single point).
Vec3 solve_inertia(const Mat3& inertia, const Vec3& angular_momentum);

// Rotation that best carries `rest` to `positions`, mass-weighted.
Mat3 body_rotation(const Points& rest, const Points& positions, const VecX& masses, const Mat3& last);

}  // namespace exemplar::shape_matching
