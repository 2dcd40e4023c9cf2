#include "core/mesh/embedding.h"

#include <cassert>

#include "core/base/parallel.h"
#include "core/mesh/bvh.h"
#include "core/mesh/distance.h"
#include "core/mesh/point_map.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

Vec4 weights_in(const TetMesh& mesh, int tet, const Vec3& point) {
  const auto corner = [&](int k) { return Vec3(mesh.vertices.row(mesh.tets(tet, k))); };
  return tet_barycentric(point, corner(0), corner(1), corner(2), corner(3));
}

struct Carrier {
  int tet = -1;
  Vec4 weights = Vec4::Zero();
};

// The tet in which the point lies deepest, the first one on ties.
Carrier containing(const TetMesh& mesh, const Bvh& tree, const Vec3& point) {
  Carrier best;
  double depth = -1e-9;  // relative to the tet; lets points on the boundary in
  Box box;
  box.extend(point);
  tree.for_overlaps(box, [&](int tet) {
    const Vec4 weights = weights_in(mesh, tet, point);
    if (!weights.allFinite()) return;
    const double smallest = weights.minCoeff();
    if (smallest > depth || (smallest == depth && tet < best.tet)) {
      depth = smallest;
      best = {tet, weights};
    }
  });
  return best;
}

}  // namespace

Vec4 tet_barycentric(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const Vec3 ad = d - a;
  const Vec3 p = point - a;
  const double volume6 = ab.dot(ac.cross(ad));
  const double wb = p.dot(ac.cross(ad)) / volume6;
  const double wc = p.dot(ad.cross(ab)) / volume6;
  const double wd = p.dot(ab.cross(ac)) / volume6;
  return Vec4(1 - wb - wc - wd, wb, wc, wd);
}

Embedding embed(const Points& points, const TetMesh& mesh) {
  assert(mesh.tets.rows() > 0 || points.rows() == 0);
  Embedding result;
  result.tet = Eigen::VectorXi::Constant(points.rows(), -1);
  result.weights.setZero(points.rows(), 4);
  if (points.rows() == 0) return result;
  const Bvh tree(element_boxes(mesh.vertices, mesh.tets));
  Eigen::VectorXi to_tet;
  const SurfaceDistance boundary(boundary_surface(mesh, nullptr, &to_tet));
  parallel_for(
      static_cast<std::size_t>(points.rows()),
      [&](std::size_t i) {
        const auto row = static_cast<Eigen::Index>(i);
        const Vec3 point = points.row(row);
        Carrier carrier = containing(mesh, tree, point);
        if (carrier.tet < 0) {
          carrier.tet = to_tet[boundary.nearest(point).triangle];
          carrier.weights = weights_in(mesh, carrier.tet, point);
        }
        result.tet[row] = carrier.tet;
        result.weights.row(row) = carrier.weights;
      },
      64);
  return result;
}

Points apply(const Embedding& embedding, const Tets& tets, const Points& positions) {
  return PointMap::embedded(embedding, tets).apply(positions);
}

}  // namespace exemplar
