#include "core/mesh/quality.h"

#include <gtest/gtest.h>

#include "core/mesh/mass_properties.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

using testing::box_surface;
using testing::merge_meshes;
using testing::sphere_surface;
using testing::torus_surface;

TEST(Quality, TorusReport) {
  const SurfaceReport report = inspect(torus_surface(1, 0.3, 60, 24));
  EXPECT_EQ(report.parts, 1);
  EXPECT_EQ(report.genus, 1);
  EXPECT_TRUE(report.closed);
  EXPECT_TRUE(report.manifold);
  EXPECT_EQ(report.self_intersections, 0u);
  EXPECT_NEAR(report.bounds.max.x(), 1.3, 1e-12);
  EXPECT_NEAR(report.volume, 2 * std::numbers::pi * std::numbers::pi * 0.09, 0.03);
}

TEST(Quality, DefectsAreCounted) {
  TriMesh mesh = merge_meshes(sphere_surface(1, 6, 8, true), box_surface(Vec3(3, 0, 0), Vec3(4, 1, 1)));
  mesh.triangles.conservativeResize(mesh.triangles.rows() + 2, 3);
  mesh.triangles.bottomRows(2) << 0, 0, 1, mesh.triangles.row(0);
  const SurfaceReport report = inspect(mesh);
  EXPECT_EQ(report.parts, 2);
  EXPECT_FALSE(report.closed);
  EXPECT_EQ(report.degenerate_triangles, 1);
  EXPECT_EQ(report.duplicate_triangles, 1);
  EXPECT_FALSE(report.manifold);
}

TEST(Quality, RegularTet) {
  const Vec3 a(1, 1, 1), b(1, -1, -1), c(-1, 1, -1), d(-1, -1, 1);
  const double angle = std::acos(1.0 / 3) * 180 / std::numbers::pi;
  const DihedralRange range = dihedral_range(a, b, c, d);
  EXPECT_NEAR(range.min, angle, 1e-12);
  EXPECT_NEAR(range.max, angle, 1e-12);
  EXPECT_NEAR(radius_ratio(a, b, c, d), 1, 1e-12);
  EXPECT_NEAR(radius_ratio(a, b, c, Vec3(-1, 1, -1 + 1e-9)), 0, 1e-6);
}

TEST(Quality, BoxTetsHaveKnownAngles) {
  const TetReport six = inspect(box_tets(Vec3::Ones(), {2, 2, 2}, Split::six));
  EXPECT_NEAR(six.min_dihedral, 45, 1e-9);
  EXPECT_NEAR(six.max_dihedral, 90, 1e-9);
  EXPECT_EQ(six.inverted, 0);
  EXPECT_NEAR(six.volume, 1, 1e-13);
  const TetReport five = inspect(box_tets(Vec3::Ones(), {2, 2, 2}, Split::five));
  EXPECT_NEAR(five.min_dihedral, std::acos(1 / std::sqrt(3.0)) * 180 / std::numbers::pi, 1e-9);
  EXPECT_EQ(five.parts, 1);
}

TEST(Repair, SoupBecomesAClosedBox) {
  const TriMesh box = box_surface(-Vec3::Ones(), Vec3::Ones());
  TriMesh soup;
  soup.vertices.resize(37, 3);
  soup.triangles.resize(13, 3);
  for (int t = 0; t < 12; ++t) {
    for (int k = 0; k < 3; ++k) {
      soup.vertices.row(3 * t + k) = box.vertices.row(box.triangles(t, k)).array() + 1e-13 * k;
      soup.triangles(t, t % 2 ? k : 2 - k) = 3 * t + k;  // every second one flipped
    }
  }
  soup.vertices.row(36) << 5, 5, 5;
  soup.triangles.row(12) << 0, 1, 1;
  const Repair result = repair_surface(soup);
  EXPECT_EQ(result.mesh.vertices.rows(), 8);
  EXPECT_EQ(result.mesh.triangles.rows(), 12);
  EXPECT_EQ(result.merged_vertices, 28);
  EXPECT_EQ(result.unused_vertices, 1);
  EXPECT_EQ(result.degenerate_triangles, 1);
  EXPECT_EQ(result.flipped_triangles, 6);
  EXPECT_TRUE(result.orientable);
  EXPECT_NEAR(signed_volume(result.mesh.vertices, result.mesh.triangles), 8, 1e-9);
  EXPECT_EQ(result.vertex_map[36], -1);
  for (int v = 0; v < 36; ++v) {
    EXPECT_LT((result.mesh.vertices.row(result.vertex_map[v]) - soup.vertices.row(v)).norm(), 1e-12);
  }
}

TEST(Repair, CavitiesStayAndOthersTurn) {
  TriMesh inner = sphere_surface(0.5, 8, 10);
  inner.triangles.col(0).swap(inner.triangles.col(1));
  TriMesh outside = sphere_surface(0.5, 8, 10);
  outside.vertices.col(0).array() += 5;
  outside.triangles.col(0).swap(outside.triangles.col(1));
  const Repair result = repair_surface(merge_meshes(merge_meshes(sphere_surface(1, 12, 16), inner), outside));
  EXPECT_EQ(result.flipped_triangles, outside.triangles.rows());
}

TEST(Repair, MoebiusStripCannotBeOriented) {
  const int n = 12;
  TriMesh strip;
  strip.vertices.resize(2 * n, 3);
  strip.triangles.resize(2 * n, 3);
  for (int i = 0; i < n; ++i) {
    const double u = 2 * std::numbers::pi * i / n;
    for (int s = 0; s < 2; ++s) {
      const double r = 1 + (s ? 0.2 : -0.2) * std::cos(u / 2);
      strip.vertices.row(2 * i + s) << r * std::cos(u), r * std::sin(u), (s ? 0.2 : -0.2) * std::sin(u / 2);
    }
    const bool last = i == n - 1;
    const int c = last ? 1 : 2 * i + 2;
    const int d = last ? 0 : 2 * i + 3;
    strip.triangles.row(2 * i) << 2 * i, c, d;
    strip.triangles.row(2 * i + 1) << 2 * i, d, 2 * i + 1;
  }
  EXPECT_FALSE(repair_surface(strip).orientable);
}

}  // namespace
}  // namespace exemplar
