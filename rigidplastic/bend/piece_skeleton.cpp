#include "rigidplastic/bend/piece_skeleton.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>

#include "core/mesh/mass_properties.h"

namespace exemplar::bend {

namespace {

constexpr double k_piece_inset = 0.2;  // of a piece's length, that its bone stays away from the ends

// Along the piece's axis of least inertia, through its centre.
Bone bone_in(const Body& body, int piece) {
  const TetMesh& mesh = body.volume().mesh;
  Tets own(mesh.tets.rows(), 4);
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    if (body.pieces().of_tet[static_cast<std::size_t>(t)] == piece) own.row(count++) = mesh.tets.row(t);
  }
  own.conservativeResize(count, 4);
  const MassProperties mass = solid_mass_properties(body.initial_volume(), own, 1);
  const Vec3 axis = Eigen::SelfAdjointEigenSolver<Mat3>(mass.inertia).eigenvectors().col(0);
  double low = 0, high = 0;
  for (const int node : std::span(own.data(), static_cast<std::size_t>(own.size()))) {
    const double along = (Vec3(body.initial_volume().row(node)) - mass.centre).dot(axis);
    low = std::min(low, along);
    high = std::max(high, along);
  }
  const double inset = k_piece_inset * (high - low);
  return {mass.centre + (low + inset) * axis, mass.centre + (high - inset) * axis};
}

Vec3 normal_of(const Cut& cut, const Points& nodes) {
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index f = 0; f < cut.faces.rows(); ++f) {
    const Vec3 a = nodes.row(cut.faces(f, 0)), b = nodes.row(cut.faces(f, 1)), c = nodes.row(cut.faces(f, 2));
    sum += (b - a).cross(c - a);
  }
  return sum.normalized();
}

}  // namespace

Skeleton skeleton_of_pieces(const Body& body) {
  Skeleton skeleton;
  for (int p = 0; p < body.pieces().count; ++p) skeleton.bones.push_back(bone_in(body, p));
  std::vector<Cut> cuts = cuts_between(body.volume().mesh, body.pieces());
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.area > b.area; });
  std::vector<int> tree(skeleton.bones.size());
  std::iota(tree.begin(), tree.end(), 0);
  for (const Cut& cut : cuts) {
    const int from = tree[static_cast<std::size_t>(cut.a)], to = tree[static_cast<std::size_t>(cut.b)];
    if (from == to) continue;
    std::replace(tree.begin(), tree.end(), from, to);
    skeleton.joints.push_back({cut.a, cut.b, cut.centre, normal_of(cut, body.initial_volume())});
  }
  return skeleton;
}

int piece_at(const Body& body, const Vec3& point) {
  const TetMesh& mesh = body.volume().mesh;
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    Vec3 centre = Vec3::Zero();
    for (int k = 0; k < 4; ++k) centre += 0.25 * body.initial_volume().row(mesh.tets(t, k)).transpose();
    const double distance = (centre - point).squaredNorm();
    if (distance < least) least = distance, nearest = body.pieces().of_tet[static_cast<std::size_t>(t)];
  }
  return nearest;
}

}  // namespace exemplar::bend
