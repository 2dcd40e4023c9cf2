#include "rigidplastic/bend/skeleton.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>

#include "core/mesh/mass_properties.h"

namespace exemplar::bend {

namespace {

constexpr double k_inset = 0.05;  // of the length, that the default bone stays away from the ends

int root_of(std::vector<int>& parent, int i) {
  while (parent[static_cast<std::size_t>(i)] != i)
    i = parent[static_cast<std::size_t>(i)] =
        parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
  return i;
}

}  // namespace

// The axis of least inertia of the surface as a thin shell, so that open surfaces have one too.
Skeleton longest_axis_skeleton(const TriMesh& surface) {
  const MassProperties shell = sheet_mass_properties(surface.vertices, surface.triangles, 1e-6, 1);
  const Vec3 axis = Eigen::SelfAdjointEigenSolver<Mat3>(shell.inertia).eigenvectors().col(0);
  const VecX along = (surface.vertices.rowwise() - shell.centre.transpose()) * axis;
  const double low = along.minCoeff(), high = along.maxCoeff(), inset = k_inset * (high - low);
  return {{{shell.centre + (low + inset) * axis, shell.centre + (high - inset) * axis}}, {}};
}

Skeleton skeleton_of(std::span<const Vec3> points, std::span<const std::array<int, 2>> bones) {
  Skeleton skeleton;
  std::vector<int> first(points.size(), -1);
  for (std::size_t k = 0; k < bones.size(); ++k) {
    const int bone = static_cast<int>(k);
    skeleton.bones.push_back(
        {points[static_cast<std::size_t>(bones[k][0])], points[static_cast<std::size_t>(bones[k][1])]});
    for (const int end : bones[k]) {
      int& met = first[static_cast<std::size_t>(end)];
      if (met >= 0)
        skeleton.joints.push_back({met, bone, points[static_cast<std::size_t>(end)], Vec3::Zero()});
      else
        met = bone;
    }
  }
  return skeleton;
}

std::optional<Skeleton> skeleton_of_rig(std::span<const Bone> bones) {
  constexpr double k_same = 1e-6;  // of a bone's length: ends nearer than this meet
  std::vector<Vec3> points;
  std::vector<std::array<int, 2>> pairs;
  for (const Bone& bone : bones) {
    std::array<int, 2> ends{};
    for (const std::size_t k : {0u, 1u}) {
      const Vec3& end = k == 0 ? bone.a : bone.b;
      const auto known = std::find_if(points.begin(), points.end(), [&](const Vec3& p) {
        return (p - end).norm() <= k_same * bone.length();
      });
      ends[k] = static_cast<int>(known - points.begin());
      if (known == points.end()) points.push_back(end);
    }
    pairs.push_back(ends);
  }
  const Skeleton skeleton = skeleton_of(points, pairs);
  const bool tree = !has_loop(skeleton) && skeleton.joints.size() + 1 == skeleton.bones.size();
  return skeleton.bones.size() > 1 && tree ? std::optional(skeleton) : std::nullopt;
}

bool has_loop(const Skeleton& skeleton) {
  std::vector<int> parent(skeleton.bones.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const BoneJoint& joint : skeleton.joints) {
    const int a = root_of(parent, joint.a), b = root_of(parent, joint.b);
    if (a == b) return true;
    parent[static_cast<std::size_t>(a)] = b;
  }
  return false;
}

BonePlace nearest_bone(std::span<const Bone> bones, const Vec3& point) {
  BonePlace best;
  for (std::size_t k = 0; k < bones.size(); ++k) {
    const double t = std::clamp(bones[k].parameter(point), 0.0, 1.0);
    const double distance = (bones[k].at(t) - point).norm();
    if (best.bone < 0 || distance < best.distance) best = {static_cast<int>(k), t, distance};
  }
  return best;
}

double far_share(const Bone& bone, double at, double length, const Vec3& point) {
  const double s = std::clamp((bone.parameter(point) - at) * bone.length() / length + 0.5, 0.0, 1.0);
  return s * s * (3 - 2 * s);
}

}  // namespace exemplar::bend
