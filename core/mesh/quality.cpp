#include "core/mesh/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

constexpr double degrees = 180 / std::numbers::pi;

Box bounds_of(const Points& points) {
  Box box;
  for (Eigen::Index i = 0; i < points.rows(); ++i) box.extend(Vec3(points.row(i)));
  return box;
}

double angle_between(const Vec3& a, const Vec3& b) {
  return degrees * std::atan2(a.cross(b).norm(), a.dot(b));
}

void measure_edges(const TriMesh& mesh, const Edges& edges, SurfaceReport& report) {
  if (edges.rows() == 0) return;
  double sum = 0;
  report.shortest_edge = std::numeric_limits<double>::infinity();
  for (Eigen::Index e = 0; e < edges.rows(); ++e) {
    const double length = (mesh.vertices.row(edges(e, 0)) - mesh.vertices.row(edges(e, 1))).norm();
    report.shortest_edge = std::min(report.shortest_edge, length);
    report.longest_edge = std::max(report.longest_edge, length);
    sum += length;
  }
  report.mean_edge = sum / static_cast<double>(edges.rows());
}

double smallest_angle(const TriMesh& mesh) {
  double smallest = 180;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k % 3))); };
    if ((x(1) - x(0)).cross(x(2) - x(0)).squaredNorm() == 0) continue;
    for (int k = 0; k < 3; ++k)
      smallest = std::min(smallest, angle_between(x(k + 1) - x(k), x(k + 2) - x(k)));
  }
  return smallest;
}

}  // namespace

SurfaceReport inspect(const TriMesh& mesh) {
  SurfaceReport report;
  report.vertices = static_cast<int>(mesh.vertices.rows());
  report.triangles = static_cast<int>(mesh.triangles.rows());
  const SurfaceEdges edges = surface_edges(mesh.triangles);
  for (int e = 0; e < edges.triangles.rows(); ++e) {
    const std::size_t count = edges.triangles[e].size();
    report.boundary_edges += count == 1;
    report.non_manifold_edges += count > 2;
  }
  const Parts parts = connected_parts(mesh.triangles, mesh.vertices.rows());
  report.parts = parts.count;
  report.non_manifold_vertices =
      static_cast<int>(non_manifold_vertices(mesh.triangles, mesh.vertices.rows()).size());
  report.inconsistent_edges = static_cast<int>(inconsistent_edges(mesh.triangles).rows());
  const Repair repaired = repair_surface(mesh, {.orient = false});
  report.degenerate_triangles = repaired.degenerate_triangles;
  report.duplicate_triangles = repaired.duplicate_triangles;
  report.duplicate_vertices = repaired.merged_vertices;
  report.self_intersections = count_self_intersections(mesh);
  report.min_angle = smallest_angle(mesh);
  measure_edges(mesh, edges.edges, report);
  report.closed = report.triangles > 0 && report.boundary_edges == 0;
  report.manifold =
      report.triangles > 0 && report.non_manifold_edges == 0 && report.non_manifold_vertices == 0;
  if (report.closed && report.manifold) {
    const auto used = static_cast<int>((parts.of_vertex.array() >= 0).count());
    const int euler = used - static_cast<int>(edges.edges.rows()) + report.triangles;
    report.genus = report.parts - euler / 2;
  }
  report.area = surface_area(mesh.vertices, mesh.triangles);
  report.volume = signed_volume(mesh.vertices, mesh.triangles);
  report.bounds = bounds_of(mesh.vertices);
  return report;
}

DihedralRange dihedral_range(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 x[4] = {a, b, c, d};
  DihedralRange range{180, 0};
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      // The angle at edge ij lies between the parts of the other two corners that stand across the edge.
      const int k = i != 0 && j != 0 ? 0 : (i != 1 && j != 1 ? 1 : 2);
      const int l = 6 - i - j - k;
      const Vec3 edge = (x[j] - x[i]).normalized();
      const Vec3 u = x[k] - x[i] - (x[k] - x[i]).dot(edge) * edge;
      const Vec3 v = x[l] - x[i] - (x[l] - x[i]).dot(edge) * edge;
      const double angle = angle_between(u, v);
      range.min = std::min(range.min, angle);
      range.max = std::max(range.max, angle);
    }
  }
  return range;
}

double radius_ratio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const double volume6 = std::abs((b - a).cross(c - a).dot(d - a));
  const double area2 = (b - a).cross(c - a).norm() + (b - a).cross(d - a).norm() +
                       (c - a).cross(d - a).norm() + (c - b).cross(d - b).norm();
  const Vec3 u = b - a;
  const Vec3 v = c - a;
  const Vec3 w = d - a;
  const double lift =
      (u.squaredNorm() * v.cross(w) + v.squaredNorm() * w.cross(u) + w.squaredNorm() * u.cross(v)).norm();
  // inradius = volume6 / area2, circumradius = lift / (2 volume6).
  return area2 * lift > 0 ? 6 * volume6 * volume6 / (area2 * lift) : 0;
}

TetReport inspect(const TetMesh& mesh) {
  TetReport report;
  report.vertices = static_cast<int>(mesh.vertices.rows());
  report.tets = static_cast<int>(mesh.tets.rows());
  report.parts = connected_parts(mesh.tets, mesh.vertices.rows()).count;
  report.bounds = bounds_of(mesh.vertices);
  if (report.tets == 0) return report;
  const VecX volumes = tet_volumes(mesh.vertices, mesh.tets);
  report.min_volume = volumes.minCoeff();
  report.max_volume = volumes.maxCoeff();
  report.min_dihedral = 180;
  report.min_radius_ratio = 2;
  double sum = 0;
  for (int t = 0; t < report.tets; ++t) {
    const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.tets(t, k))); };
    const DihedralRange range = dihedral_range(x(0), x(1), x(2), x(3));
    report.min_dihedral = std::min(report.min_dihedral, range.min);
    report.max_dihedral = std::max(report.max_dihedral, range.max);
    const double ratio = radius_ratio(x(0), x(1), x(2), x(3));
    if (ratio < report.min_radius_ratio) {
      report.min_radius_ratio = ratio;
      report.worst_tet = t;
    }
    sum += ratio;
    report.volume += volumes[t];
    report.inverted += !(volumes[t] > 0);
  }
  report.mean_radius_ratio = sum / report.tets;
  return report;
}

namespace {

std::string pair_text(const Edges& edges) {
  return fmt::format("{} (the first joins vertices {} and {})", edges.rows(), edges(0, 0), edges(0, 1));
}

}  // namespace

void check_sheet(const TriMesh& mesh) {
  const Edges shared = non_manifold_edges(mesh.triangles);
  if (shared.rows() > 0)
    throw InputError(
        fmt::format("a sheet must be manifold; edges of more than two triangles: {}", pair_text(shared)));
  const Edges turned = inconsistent_edges(mesh.triangles);
  if (turned.rows() > 0)
    throw InputError(
        fmt::format("the triangles disagree about the sheet's orientation; edges: {}", pair_text(turned)));
  const std::vector<int> pinched = non_manifold_vertices(mesh.triangles, mesh.vertices.rows());
  if (!pinched.empty())
    throw InputError(
        fmt::format("a sheet must be manifold; {} vertices join parts at a point (the first is {})",
                    pinched.size(), pinched.front()));
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0));
    const Vec3 u = Vec3(mesh.vertices.row(mesh.triangles(t, 1))) - a,
               v = Vec3(mesh.vertices.row(mesh.triangles(t, 2))) - a;
    if (!(u.cross(v).norm() > 1e-10 * (u.squaredNorm() + v.squaredNorm())))
      throw InputError(fmt::format("triangle {} of the sheet has no area", t));
  }
}

}  // namespace exemplar
