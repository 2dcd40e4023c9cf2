// The frame that Bullet wants of a body, centre of mass and principal axes, and how motion is carried over
// when a body changes its shape: world points stay where they are, linear and angular momentum are kept.
//
// Old centre o, new centre o + δ, momentum p = m v, spin L = I ω:
//   v' = v,   ω' = I'⁻¹ (L − δ × p)
// (I'⁻¹ L alone would change the angular momentum about any fixed point by δ × p). Units: m, kg, s.
#pragma once

#include "core/mesh/mass_properties.h"
#include "core/world/rigid_state.h"

namespace exemplar::rigid {

struct BodyFrame {
  Vec3 centre = Vec3::Zero();    // of mass, in the coordinates of the points
  Mat3 axes = Mat3::Identity();  // columns: principal axes, right-handed
  Vec3 inertia = Vec3::Ones();   // kg m², about them

  Points to_local(const Points& points) const { return (points.rowwise() - centre.transpose()) * axes; }

  static constexpr auto described() {
    return std::tuple(member("centre", &BodyFrame::centre), member("axes", &BodyFrame::axes),
                      member("inertia", &BodyFrame::inertia));
  }
};

// Axes by ascending inertia.
BodyFrame principal_frame(const MassProperties& mass);
// The same axes, ordered and signed so that they lie nearest to `near`: they do not flip between shapes.
BodyFrame principal_frame(const MassProperties& mass, const Mat3& near);

// The state in the frame `to` of a body that was in the frame `from` (both in the same coordinates, at rest in
// each other), with the same world points and momenta.
RigidState carried_over(const RigidState& state, double mass, const BodyFrame& from, const BodyFrame& to);

// L = I ω in world axes, about the centre of mass.
Vec3 spin_momentum(const RigidState& state, const Vec3& principal_inertia);

}  // namespace exemplar::rigid
