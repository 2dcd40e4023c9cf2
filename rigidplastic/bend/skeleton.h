// Skeletons of bending bodies (patkar2014 §4): bones are segments in the body's own coordinates, joints are where they
// meet. Lengths in metres.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::bend {

struct Bone {
  Vec3 a = Vec3::Zero(), b = Vec3::Zero();

  double length() const { return (b - a).norm(); }
  // 0 at a, 1 at b, beyond the ends outside of that.
  double parameter(const Vec3& point) const { return (point - a).dot(b - a) / (b - a).squaredNorm(); }
  Vec3 at(double t) const { return a + t * (b - a); }
};

// Two bones that meet in a point.
struct BoneJoint {
  int a = 0, b = 0;
  Vec3 pivot = Vec3::Zero();
  Vec3 normal = Vec3::Zero();  // unit, of the cross-section; zero: along the bones
};

struct Skeleton {
  std::vector<Bone> bones;
  std::vector<BoneJoint> joints;
};

// One bone along the body's longest axis.
Skeleton longest_axis_skeleton(const TriMesh& surface);

// Bones given as pairs of points. Of the bones that meet in a point, the first one is joined to all others.
Skeleton skeleton_of(std::span<const Vec3> points, std::span<const std::array<int, 2>> bones);

// The bones of a rig, joined where their ends meet; none unless they are at least two and hang together as a tree.
std::optional<Skeleton> skeleton_of_rig(std::span<const Bone> bones);

// Whether some bones are joined in a ring: opening one joint of a ring lets nothing bend.
bool has_loop(const Skeleton& skeleton);

struct BonePlace {
  int bone = -1;
  double t = 0;         // 0 … 1
  double distance = 0;  // m
};
BonePlace nearest_bone(std::span<const Bone> bones, const Vec3& point);

// How much of a bone's weight goes to its far part when it is split at `at` (dynamic articulation): a smooth step of
// the given length along the bone, 0 before and 1 beyond.
double far_share(const Bone& bone, double at, double length, const Vec3& point);

}  // namespace exemplar::bend
