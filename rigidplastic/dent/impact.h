// An impact as a dent sees it: where, which way, and the frame that the dent map is made in (patkar2014 §3.1, §3.3).
// Metres, seconds, radians; everything in one common frame (the world or a body's).
#pragma once

#include "core/base/state_member.h"
#include "core/math/types.h"

namespace exemplar::dent {

struct Impact {
  Vec3 point_on_target = Vec3::Zero();
  Vec3 point_on_projectile = Vec3::Zero();
  Vec3 inward_normal = Vec3::UnitZ();  // of the target's surface, unit: the paper's denting normal
  Vec3 velocity = Vec3::UnitZ();       // of the projectile relative to the target, before the impact
};

// Origin on the target's surface, z inwards, x against the tangential velocity, so that in this frame the projectile
// comes along (−sin θ, 0, cos θ).
struct DentFrame {
  Vec3 origin = Vec3::Zero();
  Mat3 axes = Mat3::Identity();  // columns x, y, z
  double angle = 0;              // θ between velocity and inward normal, at most k_steepest_angle

  Vec3 to_local(const Vec3& point) const { return axes.transpose() * (point - origin); }
  Points to_local(const Points& points) const { return (points.rowwise() - origin.transpose()) * axes; }

  static constexpr auto described() {
    return std::tuple(member("origin", &DentFrame::origin), member("axes", &DentFrame::axes),
                      member("angle", &DentFrame::angle));
  }
};

// The paper clamps 1/cos θ to avoid dividing by zero; this is where.
inline constexpr double k_steepest_angle = 1.4;  // 80°

DentFrame dent_frame(const Impact& impact);

}  // namespace exemplar::dent
