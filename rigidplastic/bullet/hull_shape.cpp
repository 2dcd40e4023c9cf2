#include "rigidplastic/bullet/hull_shape.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/mesh/mass_properties.h"
#include "rigidplastic/bullet/vectors.h"

namespace exemplar::rigid {

namespace {

constexpr double k_flat =
    1e-4;  // of the normals' weight: directions in which they differ by less are left alone
constexpr double k_edge_share = 1.0 / 3;  // of a vertex's shortest edge, that it may move

// What is known of a vertex from its faces, each weighted by its area.
struct Corner {
  Mat3 squares = Mat3::Zero();                                     // Σ w n nᵀ
  Vec3 normals = Vec3::Zero();                                     // Σ w n
  double shortest_edge = std::numeric_limits<double>::infinity();  // m

  // Minimises Σ w (n·s + distance)² + ε |s|².
  Vec3 inward_step(double distance) const {
    const double weight = squares.trace();
    if (weight == 0) return Vec3::Zero();
    const Vec3 step = -distance * ((squares + k_flat * weight * Mat3::Identity()).inverse() * normals);
    const double length = step.norm(), most = k_edge_share * shortest_edge;
    return length > most ? Vec3(most / length * step) : step;
  }
};

}  // namespace

Points shrunk_vertices(const TriMesh& surface, double distance) {
  const Points& vertices = surface.vertices;
  const Triangles& triangles = surface.triangles;
  std::vector<Corner> corners(static_cast<std::size_t>(vertices.rows()));
  const double outwards = signed_volume(vertices, triangles) < 0 ? -1 : 1;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 p = vertices.row(triangles(t, 0)), q = vertices.row(triangles(t, 1)),
               r = vertices.row(triangles(t, 2));
    const Vec3 area = outwards * (q - p).cross(r - p);
    const double weight = area.norm();
    if (weight == 0) continue;
    const Vec3 normal = area / weight;
    const std::array<double, 3> edges{(q - p).norm(), (r - q).norm(), (p - r).norm()};
    for (int k = 0; k < 3; ++k) {
      Corner& corner = corners[static_cast<std::size_t>(triangles(t, k))];
      corner.squares += weight * normal * normal.transpose();
      corner.normals += weight * normal;
      corner.shortest_edge = std::min({corner.shortest_edge, edges[static_cast<std::size_t>(k)],
                                       edges[static_cast<std::size_t>((k + 2) % 3)]});
    }
  }
  Points result = vertices;
  for (std::size_t v = 0; v < corners.size(); ++v)
    result.row(static_cast<Eigen::Index>(v)) += corners[v].inward_step(distance).transpose();
  return result;
}

HullShape::HullShape(const TriMesh& hull, double margin) {
  const Points inner = shrunk_vertices(hull, margin);
  for (Eigen::Index i = 0; i < inner.rows(); ++i) {
    addPoint(to_bullet(Vec3(hull.vertices.row(i))), false);
    m_shrunk.addPoint(to_bullet(Vec3(inner.row(i))), false);
  }
  setMargin(margin);
  m_shrunk.setMargin(margin);
  recalcLocalAabb();
  m_shrunk.recalcLocalAabb();
}

void HullShape::corners(const btVector3&, std::vector<btVector3>& result) const {
  result.clear();
  for (int i = 0; i < getNumPoints(); ++i) result.push_back(getScaledPoint(i));
}

void HullShape::bounds(const btTransform& transform, btVector3& low, btVector3& high) const {
  low = btVector3(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
  high = -low;
  for (int i = 0; i < getNumPoints(); ++i) {
    const btVector3 point = transform(getScaledPoint(i));
    low.setMin(point);
    high.setMax(point);
  }
}

}  // namespace exemplar::rigid
