#include "rigidplastic/bend/demand.h"

#include <algorithm>
#include <limits>

namespace exemplar::bend {

namespace {

// Bones that are reached from `start` over closed joints other than `without`.
std::vector<char> side_of(const BendingBody& body, int start, std::size_t without) {
  std::vector<char> reached(body.poses().size(), 0);
  reached[static_cast<std::size_t>(start)] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < body.joints().size(); ++j) {
      if (j == without || body.joints()[j].open) continue;
      char &a = reached[static_cast<std::size_t>(body.articulated().joints()[j].a)],
           &b = reached[static_cast<std::size_t>(body.articulated().joints()[j].b)];
      if (a != b) a = b = 1, changed = true;
    }
  }
  return reached;
}

}  // namespace

Vec3 moment_on(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
               const RehearsedTick& tick) {
  const BoneJoint& joint = body.articulated().joints()[j];
  std::vector<char> side = side_of(body, joint.b, j);
  if (side[static_cast<std::size_t>(joint.a)]) return Vec3::Constant(std::numeric_limits<double>::infinity());
  const int held = body.support_bone();
  if (held >= 0 && side[static_cast<std::size_t>(held)]) side = side_of(body, joint.a, j);
  const std::size_t cluster = static_cast<std::size_t>(body.cluster_of(joint.b));
  const Vec3 pivot = body.poses()[static_cast<std::size_t>(joint.b)] * joint.pivot;
  Vec3 needed = Vec3::Zero();
  for (std::size_t b = 0; b < side.size(); ++b) {
    if (!side[b]) continue;
    const Eigen::Isometry3d& pose = body.poses()[b];
    const MassProperties mass = moved(body.articulated().bone_mass(b), pose.linear(), pose.translation());
    const RigidState &before = tick.before[cluster], &after = tick.after[cluster];
    // The centre moved with the body in the tick; the change of velocity at the place where it was is what counts.
    const Vec3 change = after.velocity + after.angular_velocity.cross(mass.centre - before.position) -
                        before.velocity_at(mass.centre);
    const Vec3 arm = mass.centre - pivot;
    needed += mass.mass * arm.cross(change - tick.dt * tick.gravity) +
              mass.inertia * (after.angular_velocity - before.angular_velocity);
  }
  for (const Hit& hit : hits) {
    if (side[static_cast<std::size_t>(hit.bone)])
      needed -= (hit.point - pivot).cross(hit.impulse) + hit.turning;
  }
  return needed / tick.dt;
}

double share_of_strength(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
                         const RehearsedTick& tick) {
  const Vec3 moment = moment_on(body, j, hits, tick);
  if (!moment.allFinite()) return std::numeric_limits<double>::infinity();
  const double size = moment.norm();
  if (size == 0) return 0;
  const Mat3 turn = body.poses()[static_cast<std::size_t>(body.articulated().joints()[j].a)].linear();
  return size / body.articulated().strength(j).along(turn.transpose() * moment / size);
}

}  // namespace exemplar::bend
