#include "core/mesh/topology.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

using testing::box_surface;
using testing::merge_meshes;
using testing::sphere_surface;
using testing::torus_surface;
using testing::unit;

int euler(const TriMesh& mesh) {
  return static_cast<int>(mesh.vertices.rows() - unique_edges(mesh.triangles).rows() + mesh.triangles.rows());
}

TEST(Topology, EulerCharacteristic) {
  EXPECT_EQ(euler(box_surface(-unit, unit)), 2);
  EXPECT_EQ(euler(sphere_surface(1, 8, 12)), 2);
  EXPECT_EQ(euler(torus_surface(2, 0.5, 12, 8)), 0);
}

TEST(Topology, EdgesKnowTheirTriangles) {
  const TriMesh mesh = torus_surface(2, 0.5, 9, 7);
  const SurfaceEdges edges = surface_edges(mesh.triangles);
  for (int t = 0; t < mesh.triangles.rows(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int e = edges.of_triangle(t, k);
      const std::set<int> expected{mesh.triangles(t, (k + 1) % 3), mesh.triangles(t, (k + 2) % 3)};
      EXPECT_EQ(expected, (std::set<int>{edges.edges(e, 0), edges.edges(e, 1)}));
      const auto at = edges.triangles[e];
      EXPECT_EQ(at.size(), 2u);
      EXPECT_NE(std::find(at.begin(), at.end(), t), at.end());
    }
  }
}

TEST(Topology, BordersAndNonManifoldEdges) {
  EXPECT_EQ(boundary_edges(sphere_surface(1, 8, 12).triangles).rows(), 0);
  EXPECT_EQ(boundary_edges(sphere_surface(1, 8, 12, true).triangles).rows(), 12);
  Triangles fan(3, 3);  // three leaves on one edge
  fan << 0, 1, 2, 0, 1, 3, 0, 1, 4;
  EXPECT_EQ(non_manifold_edges(fan).rows(), 1);
  EXPECT_EQ(boundary_edges(fan).rows(), 6);
}

TEST(Topology, FlippedTriangleIsFound) {
  TriMesh mesh = sphere_surface(1, 6, 9);
  EXPECT_EQ(inconsistent_edges(mesh.triangles).rows(), 0);
  std::swap(mesh.triangles(20, 0), mesh.triangles(20, 1));
  EXPECT_EQ(inconsistent_edges(mesh.triangles).rows(), 3);
}

TEST(Topology, TwoTetsAtOneVertexAreNotManifold) {
  Triangles triangles(8, 3);
  triangles << 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2, 0, 5, 4, 0, 4, 6, 4, 5, 6, 0, 6, 5;
  EXPECT_EQ(non_manifold_vertices(triangles, 7), std::vector<int>{0});
  EXPECT_TRUE(non_manifold_vertices(sphere_surface(1, 6, 9).triangles, 100).empty());
}

TEST(Topology, Parts) {
  const TriMesh both = merge_meshes(box_surface(-unit, unit), sphere_surface(1, 5, 6));
  Points vertices(both.vertices.rows() + 1, 3);
  const Parts parts = connected_parts(both.triangles, vertices.rows());
  EXPECT_EQ(parts.count, 2);
  EXPECT_EQ(parts.of_vertex[0], 0);
  EXPECT_EQ(parts.of_vertex[8], 1);
  EXPECT_EQ(parts.of_vertex[vertices.rows() - 1], -1);
  EXPECT_EQ(parts.of_element[11], 0);
  EXPECT_EQ(parts.of_element[12], 1);
}

TEST(Topology, NeighboursMatchEdges) {
  const TriMesh mesh = sphere_surface(1, 6, 9);
  const Edges edges = unique_edges(mesh.triangles);
  const Adjacency neighbours = vertex_neighbours(edges, mesh.vertices.rows());
  EXPECT_EQ(neighbours.items.size(), static_cast<std::size_t>(2 * edges.rows()));
  EXPECT_EQ(neighbours[0].size(), 9u);  // the pole
  for (int v = 0; v < neighbours.rows(); ++v) {
    EXPECT_TRUE(std::is_sorted(neighbours[v].begin(), neighbours[v].end()));
    for (const int n : neighbours[v]) {
      const auto back = neighbours[n];
      EXPECT_NE(std::find(back.begin(), back.end(), v), back.end());
    }
  }
}

TEST(Topology, BoundaryOfTwoTets) {
  TetMesh mesh;
  mesh.vertices.resize(6, 3);
  mesh.vertices << 9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1;  // vertex 0 is not used
  mesh.tets.resize(2, 4);
  mesh.tets << 1, 2, 3, 4, 2, 3, 4, 5;
  Eigen::VectorXi to_vertex;
  Eigen::VectorXi to_tet;
  const TriMesh surface = boundary_surface(mesh, &to_vertex, &to_tet);
  EXPECT_EQ(surface.triangles.rows(), 6);
  EXPECT_EQ(surface.vertices.rows(), 5);
  EXPECT_EQ(to_vertex[0], 1);
  EXPECT_EQ((to_tet.array() == 0).count(), 3);
  EXPECT_EQ(boundary_edges(surface.triangles).rows(), 0);
  EXPECT_EQ(inconsistent_edges(surface.triangles).rows(), 0);
  // Outwards: the signed volume of the surface is that of the tets.
  double volume = 0;
  for (int t = 0; t < 6; ++t) {
    const auto x = [&](int k) { return Vec3(surface.vertices.row(surface.triangles(t, k))); };
    volume += x(0).dot(x(1).cross(x(2))) / 6;
  }
  EXPECT_NEAR(volume, 1.0 / 6 + 2.0 / 6, 1e-14);
  EXPECT_EQ(unique_edges(mesh.tets).rows(), 9);
}

TEST(SelfIntersections, CleanShapesHaveNone) {
  EXPECT_EQ(count_self_intersections(box_surface(-unit, unit)), 0u);
  TriMesh sphere = sphere_surface(1, 20, 30);
  EXPECT_EQ(count_self_intersections(sphere), 0u);
  sphere.vertices = sphere.vertices * testing::some_rotation();
  EXPECT_EQ(count_self_intersections(sphere), 0u);
  EXPECT_EQ(count_self_intersections(torus_surface(2, 0.5, 20, 12)), 0u);
}

TEST(SelfIntersections, CrossingBoxes) {
  // A long thin box through a face pair of a cube pierces two faces of it only.
  const TriMesh both =
      merge_meshes(box_surface(-unit, unit), box_surface(Vec3(-0.11, -0.13, -3), Vec3(0.07, 0.05, 3)));
  const auto pairs = self_intersections(both, 1000);
  EXPECT_GT(pairs.size(), 0u);
  EXPECT_EQ(pairs.size(), count_self_intersections(both));
  for (const auto& [s, t] : pairs) {
    EXPECT_LT(s, 4);   // the cube's z faces come first
    EXPECT_GE(t, 16);  // the thin box's sides, without its z faces
  }
  EXPECT_EQ(self_intersections(both, 3).size(), 3u);
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
}

TEST(SelfIntersections, TouchingCountsNearMissDoesNot) {
  const double gap = 1e-15;
  const TriMesh cube = box_surface(-unit, unit);
  EXPECT_GT(count_self_intersections(merge_meshes(cube, box_surface(Vec3(1, -0.5, -0.5), Vec3(2, 0.5, 0.5)))),
            0u);
  EXPECT_EQ(
      count_self_intersections(merge_meshes(cube, box_surface(Vec3(1 + gap, -0.5, -0.5), Vec3(2, 0.5, 0.5)))),
      0u);
}

TEST(SelfIntersections, FoldOverASharedEdge) {
  TriMesh mesh;
  mesh.vertices.resize(4, 3);
  mesh.vertices << 0, 0, 0, 1, 0, 0, 0.2, 1, 0, 0.7, 0.8, 0;
  mesh.triangles.resize(2, 3);
  mesh.triangles << 0, 1, 2, 1, 0, 3;
  EXPECT_EQ(count_self_intersections(mesh), 1u);
  mesh.vertices(3, 1) = -0.8;  // unfolded
  EXPECT_EQ(count_self_intersections(mesh), 0u);
  mesh.vertices.row(3) << 0.7, 0.8, 1e-300;  // almost folded is not folded
  EXPECT_EQ(count_self_intersections(mesh), 0u);
}

TEST(SelfIntersections, SharedVertex) {
  TriMesh mesh;
  mesh.vertices.resize(5, 3);
  mesh.vertices << 0, 0, 0, 1, -1, 0, 1, 1, 0, 1, 0, -1, 1, 0, 1;
  mesh.triangles.resize(2, 3);
  mesh.triangles << 0, 1, 2, 0, 3, 4;
  EXPECT_EQ(count_self_intersections(mesh), 1u);
  mesh.vertices.row(3) << -1, 0, -1;
  mesh.vertices.row(4) << -1, 0, 1;
  EXPECT_EQ(count_self_intersections(mesh), 0u);
}

// Against a dense sampling of both triangles' intersection: two triangles cross when an edge of one, cut into
// many points, changes sides of the other inside it.
TEST(SelfIntersections, RandomPairsMatchBruteForce) {
  int crossing = 0;
  for (int trial = 0; trial < 400; ++trial) {
    TriMesh mesh;
    mesh.vertices = testing::random_points(6, 1, 100 + static_cast<std::uint64_t>(trial));
    mesh.triangles.resize(2, 3);
    mesh.triangles << 0, 1, 2, 3, 4, 5;
    const auto x = [&](int i) { return Vec3(mesh.vertices.row(i)); };
    const auto crosses = [&](int a, int b, int base) {
      const Vec3 normal = (x(base + 1) - x(base)).cross(x(base + 2) - x(base));
      const double da = normal.dot(x(a) - x(base));
      const double db = normal.dot(x(b) - x(base));
      if (da * db > 0) return false;
      const Vec3 point = x(a) + da / (da - db) * (x(b) - x(a));
      for (int k = 0; k < 3; ++k) {
        const Vec3 from = x(base + k);
        const Vec3 to = x(base + (k + 1) % 3);
        if ((to - from).cross(point - from).dot(normal) < 0) return false;
      }
      return true;
    };
    bool expected = false;
    for (int k = 0; k < 3; ++k) expected |= crosses(k, (k + 1) % 3, 3) || crosses(3 + k, 3 + (k + 1) % 3, 0);
    EXPECT_EQ(count_self_intersections(mesh), expected ? 1u : 0u) << trial;
    crossing += expected;
  }
  EXPECT_GT(crossing, 40);
}

}  // namespace
}  // namespace exemplar
