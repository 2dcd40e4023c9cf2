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

namespace {

// One side of a joint, or of a place where one might be.
struct Side {
  std::size_t cluster = 0;
  Vec3 pivot = Vec3::Zero();          // world
  std::vector<MassProperties> parts;  // world
};

// Without what acts on the side.
Vec3 needed_by(const Side& side, const RehearsedTick& tick) {
  const RigidState &before = tick.before[side.cluster], &after = tick.after[side.cluster];
  Vec3 needed = Vec3::Zero();
  for (const MassProperties& mass : side.parts) {
    // The centre moved with the body in the tick; the change of velocity at the place where it was is what counts.
    const Vec3 change = after.velocity + after.angular_velocity.cross(mass.centre - before.position) -
                        before.velocity_at(mass.centre);
    const Vec3 arm = mass.centre - side.pivot;
    needed += mass.mass * arm.cross(change - tick.dt * tick.gravity) +
              mass.inertia * (after.angular_velocity - before.angular_velocity);
  }
  return needed;
}

double share(const Vec3& moment, const YieldMoments& strength, const Mat3& rest_to_world) {
  const double size = moment.norm();
  return size == 0 ? 0 : size / strength.along(rest_to_world.transpose() * moment / size);
}

}  // namespace

Vec3 moment_on(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
               const RehearsedTick& tick) {
  const BoneJoint& joint = body.articulated().joints()[j];
  std::vector<char> side = side_of(body, joint.b, j);
  if (side[static_cast<std::size_t>(joint.a)]) return Vec3::Constant(std::numeric_limits<double>::infinity());
  const int held = body.support_bone();
  if (held >= 0 && side[static_cast<std::size_t>(held)]) side = side_of(body, joint.a, j);
  Side moving;
  moving.cluster = static_cast<std::size_t>(body.cluster_of(joint.b));
  moving.pivot = body.poses()[static_cast<std::size_t>(joint.b)] * joint.pivot;
  for (std::size_t b = 0; b < side.size(); ++b) {
    if (!side[b]) continue;
    const Eigen::Isometry3d& pose = body.poses()[b];
    moving.parts.push_back(moved(body.articulated().bone_mass(b), pose.linear(), pose.translation()));
  }
  Vec3 needed = needed_by(moving, tick);
  for (const Hit& hit : hits) {
    if (side[static_cast<std::size_t>(hit.bone)])
      needed -= (hit.point - moving.pivot).cross(hit.impulse) + hit.turning;
  }
  return needed / tick.dt;
}

double share_of_strength(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
                         const RehearsedTick& tick) {
  const Vec3 moment = moment_on(body, j, hits, tick);
  if (!moment.allFinite()) return std::numeric_limits<double>::infinity();
  return share(moment, body.articulated().strength(j),
               body.poses()[static_cast<std::size_t>(body.articulated().joints()[j].a)].linear());
}

// The side beyond the place: the far part of its own bone, and the bones that hang on it over closed joints. When that is
// what the support holds, the moment follows from the rest instead, which is all of the cluster but this side: what the
// support gives is unknown, and the sum over the other side is the moment's opposite.
double share_of_strength(const BendingBody& body, const WeakPlace& place, const std::vector<Hit>& hits,
                         const RehearsedTick& tick) {
  const ArticulatedBody& articulated = body.articulated();
  const auto own = static_cast<std::size_t>(place.split.bone);
  const Bone& bone = articulated.bones()[own];
  const Eigen::Isometry3d& pose = body.poses()[own];
  const std::size_t none = body.joints().size();
  const std::vector<char> together = side_of(body, place.split.bone, none);
  std::vector<char> far(body.poses().size(), 0);
  for (std::size_t j = 0; j < body.joints().size(); ++j) {
    const BoneJoint& joint = articulated.joints()[j];
    if (body.joints()[j].open || (joint.a != place.split.bone && joint.b != place.split.bone)) continue;
    if (bone.parameter(joint.pivot) <= place.split.at) continue;
    const std::vector<char> beyond = side_of(body, joint.a == place.split.bone ? joint.b : joint.a, j);
    for (std::size_t b = 0; b < far.size(); ++b) far[b] = far[b] | beyond[b];
  }
  const int held = body.support_bone();
  const bool own_is_held = held == place.split.bone;
  const bool far_is_held = own_is_held ? bone.parameter(body.held_point()) > place.split.at
                                       : held >= 0 && far[static_cast<std::size_t>(held)];
  Side moving;
  moving.cluster = static_cast<std::size_t>(body.cluster_of(place.split.bone));
  moving.pivot = pose * place.pivot;
  const MassProperties& whole = articulated.bone_mass(own);
  moving.parts.push_back(
      moved(far_is_held ? without(whole, place.far) : place.far, pose.linear(), pose.translation()));
  for (std::size_t b = 0; b < far.size(); ++b) {
    if (b == own || !together[b] || (far[b] != 0) == far_is_held) continue;
    moving.parts.push_back(
        moved(articulated.bone_mass(b), body.poses()[b].linear(), body.poses()[b].translation()));
  }
  Vec3 needed = needed_by(moving, tick);
  for (const Hit& hit : hits) {
    const auto b = static_cast<std::size_t>(hit.bone);
    const bool is_far = b == own ? bone.parameter(pose.inverse() * hit.point) > place.split.at : far[b] != 0;
    if (together[b] && is_far != far_is_held)
      needed -= (hit.point - moving.pivot).cross(hit.impulse) + hit.turning;
  }
  return share(needed / tick.dt, place.strength, pose.linear());
}

}  // namespace exemplar::bend
