// The rigid part of a cloud of particles' motion: centre, linear velocity, angular velocity, inertia. Sums
// are formed over fixed ranges and added in order, so they do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/math/types.h"
#include "meshless/shape_matching/cell_lanes.h"

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

// Adds up what particles carry: m Δ and m x × Δ, x relative to the same point for all.
struct MomentumSum {
  lanes::Lane linear{}, outer[3]{};  // Σ m Δ, rows of Σ m x Δᵀ
  void add(double mass, lanes::Lane x, lanes::Lane change) {
    const lanes::Lane weighted = mass * change;
    linear += weighted;
    for (int axis = 0; axis < 3; ++axis) outer[axis] += x[axis] * weighted;
  }
  MomentumSum& operator+=(const MomentumSum& other) {
    linear += other.linear;
    for (int axis = 0; axis < 3; ++axis) outer[axis] += other.outer[axis];
    return *this;
  }
  MomentumSum& operator-=(const MomentumSum& other) {
    linear -= other.linear;
    for (int axis = 0; axis < 3; ++axis) outer[axis] -= other.outer[axis];
    return *this;
  }
  Vec3 momentum() const { return {linear[0], linear[1], linear[2]}; }
  Vec3 angular_momentum() const {
    return {outer[1][2] - outer[2][1], outer[2][0] - outer[0][2], outer[0][1] - outer[1][0]};
  }
};

// Adds up the partial results of fixed ranges of [0, count), each made by add_range(begin, end, part), in
// order.
template <class Sum, class AddRange>
Sum ordered_sum(std::size_t count, const AddRange& add_range) {
  constexpr std::size_t range_size = 1024;
  std::vector<Sum> parts((count + range_size - 1) / range_size);
  parallel_for(
      parts.size(),
      [&](std::size_t r) { add_range(r * range_size, std::min(count, (r + 1) * range_size), parts[r]); }, 1);
  Sum total{};
  for (const Sum& part : parts) total += part;
  return total;
}

// Momenta of the velocities about a point.
MomentumSum momentum_of(const Points& positions, const Points& velocities, const VecX& masses,
                        const Vec3& about);

// ω with I ω = L; zero along axes about which the particles have no extent (a rod, a single point).
Vec3 solve_inertia(const Mat3& inertia, const Vec3& angular_momentum);

// Rotation that best carries `rest` to `positions`, mass-weighted.
Mat3 body_rotation(const Points& rest, const Points& positions, const VecX& masses, const Mat3& last);

}  // namespace exemplar::shape_matching
