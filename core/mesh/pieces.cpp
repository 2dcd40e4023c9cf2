#include "core/mesh/pieces.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "core/base/errors.h"
#include "core/base/random.h"

namespace exemplar {

namespace {

// Faces opposite each corner, outwards.
constexpr int k_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

struct FaceOwner {
  std::array<int, 3> key;
  int tet, face;
};

// Both sides of every inner face, one after the other.
std::vector<std::pair<FaceOwner, FaceOwner>> inner_faces(const Tets& tets) {
  std::vector<FaceOwner> faces;
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    for (int f = 0; f < 4; ++f) {
      std::array<int, 3> key{tets(t, k_faces[f][0]), tets(t, k_faces[f][1]), tets(t, k_faces[f][2])};
      std::sort(key.begin(), key.end());
      faces.push_back({key, static_cast<int>(t), f});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const FaceOwner& p, const FaceOwner& q) {
    return std::tie(p.key, p.tet) < std::tie(q.key, q.tet);
  });
  std::vector<std::pair<FaceOwner, FaceOwner>> pairs;
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) {
    if (faces[i].key == faces[i + 1].key) pairs.emplace_back(faces[i], faces[i + 1]);
  }
  return pairs;
}

int root_of(std::vector<int>& parent, int i) {
  while (parent[static_cast<std::size_t>(i)] != i) {
    parent[static_cast<std::size_t>(i)] =
        parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
    i = parent[static_cast<std::size_t>(i)];
  }
  return i;
}

// Connected parts of equal labels, numbered by their first tet.
Pieces connected_pieces(const TetMesh& mesh, const std::vector<int>& labels) {
  std::vector<int> parent(labels.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& [p, q] : inner_faces(mesh.tets)) {
    if (labels[static_cast<std::size_t>(p.tet)] != labels[static_cast<std::size_t>(q.tet)]) continue;
    const int a = root_of(parent, p.tet), b = root_of(parent, q.tet);
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  Pieces pieces;
  pieces.of_tet.assign(labels.size(), -1);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const auto root = static_cast<std::size_t>(root_of(parent, static_cast<int>(t)));
    pieces.of_tet[t] = root == t ? pieces.count++ : pieces.of_tet[root];
  }
  return pieces;
}

Points tet_centres(const TetMesh& mesh) {
  Points centres = Points::Zero(mesh.tets.rows(), 3);
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    for (int k = 0; k < 4; ++k) centres.row(t) += 0.25 * mesh.vertices.row(mesh.tets(t, k));
  }
  return centres;
}

}  // namespace

Pieces cut_by_planes(const TetMesh& mesh, std::span<const CutPlane> planes) {
  const Points centres = tet_centres(mesh);
  std::vector<int> labels(static_cast<std::size_t>(centres.rows()), 0);
  std::map<std::vector<bool>, int> sides;
  for (Eigen::Index t = 0; t < centres.rows(); ++t) {
    std::vector<bool> side;
    for (const CutPlane& plane : planes)
      side.push_back((centres.row(t).transpose() - plane.point).dot(plane.normal) > 0);
    labels[static_cast<std::size_t>(t)] = sides.emplace(side, static_cast<int>(sides.size())).first->second;
  }
  return connected_pieces(mesh, labels);
}

Pieces cut_by_cells(const TetMesh& mesh, int count, std::uint64_t seed) {
  const Points centres = tet_centres(mesh);
  std::vector<int> labels(static_cast<std::size_t>(centres.rows()), 0);
  VecX distance = VecX::Constant(centres.rows(), std::numeric_limits<double>::infinity());
  auto chosen = static_cast<Eigen::Index>(uniform_random(seed, 0) * static_cast<double>(centres.rows()));
  for (int cell = 0; cell < std::min<Eigen::Index>(count, centres.rows()); ++cell) {
    for (Eigen::Index t = 0; t < centres.rows(); ++t) {
      const double d = (centres.row(t) - centres.row(chosen)).squaredNorm();
      if (d >= distance[t]) continue;
      distance[t] = d;
      labels[static_cast<std::size_t>(t)] = cell;
    }
    distance.maxCoeff(&chosen);
  }
  return connected_pieces(mesh, labels);
}

Pieces cut_by_labels(const TetMesh& mesh, const std::vector<int>& labels) {
  if (static_cast<Eigen::Index>(labels.size()) != mesh.tets.rows()) {
    throw InputError("the pieces do not fill the body: " + std::to_string(labels.size()) + " labels for " +
                     std::to_string(mesh.tets.rows()) + " tets");
  }
  return connected_pieces(mesh, labels);
}

std::vector<Cut> cuts_between(const TetMesh& mesh, const Pieces& pieces) {
  std::map<std::pair<int, int>, std::vector<int>> corners;
  for (const auto& [p, q] : inner_faces(mesh.tets)) {
    const int a = pieces.of_tet[static_cast<std::size_t>(p.tet)],
              b = pieces.of_tet[static_cast<std::size_t>(q.tet)];
    if (a == b) continue;
    const FaceOwner& low = a < b ? p : q;  // seen from outside the lower piece: counter-clockwise
    auto& list = corners[{std::min(a, b), std::max(a, b)}];
    for (const int k : k_faces[low.face]) list.push_back(mesh.tets(low.tet, k));
  }
  std::vector<Cut> cuts;
  for (const auto& [pair, list] : corners) {
    Cut& cut = cuts.emplace_back();
    cut.a = pair.first;
    cut.b = pair.second;
    cut.faces = Eigen::Map<const Triangles>(list.data(), static_cast<Eigen::Index>(list.size() / 3), 3);
    for (Eigen::Index f = 0; f < cut.faces.rows(); ++f) {
      const Vec3 u = mesh.vertices.row(cut.faces(f, 0)), v = mesh.vertices.row(cut.faces(f, 1)),
                 w = mesh.vertices.row(cut.faces(f, 2));
      const double area = 0.5 * (v - u).cross(w - u).norm();
      cut.area += area;
      cut.centre += area / 3 * (u + v + w);
    }
    cut.centre /= cut.area;
  }
  return cuts;
}

}  // namespace exemplar
