// A bar with three bones and two examples, made by hand, for checks that need no scene: x along the bar, the
// middle bone carries a linear share of everything between the ends. And a fork of two prongs.
#pragma once

#include "core/mesh/models/primitives.h"
#include "core/mesh/topology.h"
#include "rigidplastic/lbs/deformable.h"

namespace exemplar::lbs {

inline TriMesh bar_mesh() {
  return make_box({Vec3(1.0, 0.2, 0.2), {20, 4, 4}});
}

// Bones at x = −0.5, 0, 0.5 with hat functions as weights.
inline MatX bar_weights(const Points& points) {
  MatX weights(points.rows(), 3);
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const double s = std::clamp(2 * points(i, 0), -1.0, 1.0);
    weights.row(i) << std::max(0.0, -s), 1 - std::abs(s), std::max(0.0, s);
  }
  return weights;
}

// Example 1 bends the ends down, example 2 pushes the right end in and twists it.
inline std::vector<BonePose> bar_poses() {
  std::vector<BonePose> poses(3, BonePose(3));
  poses[1][0] = {Vec3(0.02, -0.15, 0), Quat(Eigen::AngleAxisd(0.6, Vec3::UnitZ()))};
  poses[1][2] = {Vec3(-0.02, -0.15, 0), Quat(Eigen::AngleAxisd(-0.6, Vec3::UnitZ()))};
  poses[2][2] = {Vec3(-0.2, 0, 0.03), Quat(Eigen::AngleAxisd(0.9, Vec3(1, 0.2, 0).normalized()))};
  return poses;
}

inline Skin bar_skin() {
  const TriMesh mesh = bar_mesh();
  Points centres(3, 3);
  centres << -0.5, 0, 0, 0, 0, 0, 0.5, 0, 0;
  return Skin(mesh.vertices, centres, sparse_weights(bar_weights(mesh.vertices)), bar_poses());
}

inline Deformable bar(const Parameters& parameters) {
  return Deformable(bar_skin(), unique_edges(bar_mesh().triangles), parameters);
}

}  // namespace exemplar::lbs
