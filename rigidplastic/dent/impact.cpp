#include "rigidplastic/dent/impact.h"

#include <algorithm>
#include <cmath>

namespace exemplar::dent {

DentFrame dent_frame(const Impact& impact) {
  DentFrame frame;
  frame.origin = impact.point_on_target;
  const Vec3& n = impact.inward_normal;
  const double along = impact.velocity.dot(n);
  const Vec3 tangential = impact.velocity - along * n;
  frame.angle = std::min(std::atan2(tangential.norm(), along), k_steepest_angle);
  // Bullet's normals are good to some 1e-5: below a thousandth of the speed the direction is noise, which would turn
  // the maps of two equal bodies differently. Any tangent will do.
  const bool head_on = tangential.norm() <= 1e-3 * impact.velocity.norm();
  if (head_on) frame.angle = 0;
  frame.axes.col(2) = n;
  frame.axes.col(0) = head_on ? n.unitOrthogonal() : Vec3(-tangential.normalized());
  frame.axes.col(1) = n.cross(Vec3(frame.axes.col(0)));
  return frame;
}

}  // namespace exemplar::dent
