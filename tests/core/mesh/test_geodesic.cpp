#include "core/mesh/geodesic.h"

#include <gtest/gtest.h>

#include <array>

#include "core/mesh/samples.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

// Against Floyd and Warshall's all-pairs distances.
TEST(Geodesic, MatchesAllPairs) {
  const TriMesh mesh = testing::sphere_surface(1, 6, 7);
  const Edges edges = unique_edges(mesh.triangles);
  const auto n = mesh.vertices.rows();
  MatX all = MatX::Constant(n, n, 1e9);
  all.diagonal().setZero();
  for (int e = 0; e < edges.rows(); ++e) {
    const double length = (mesh.vertices.row(edges(e, 0)) - mesh.vertices.row(edges(e, 1))).norm();
    all(edges(e, 0), edges(e, 1)) = all(edges(e, 1), edges(e, 0)) = length;
  }
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) all(i, j) = std::min(all(i, j), all(i, k) + all(k, j));
    }
  }
  const EdgeGraph graph(mesh.vertices, edges);
  for (int i = 0; i < n; ++i) EXPECT_LT((graph.distances(i) - all.col(i)).cwiseAbs().maxCoeff(), 1e-12);
  const std::array<int, 3> sources{3, 17, 30};
  const VecX multi = graph.distances(sources);
  const Eigen::VectorXi nearest = graph.nearest_source(sources);
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(multi[i], std::min({all(i, 3), all(i, 17), all(i, 30)}), 1e-12);
    EXPECT_NEAR(all(i, sources[static_cast<std::size_t>(nearest[i])]), multi[i], 1e-12);
  }
}

TEST(Geodesic, RadiusStopsEarly) {
  const TriMesh mesh = testing::sphere_surface(1, 12, 16);
  const EdgeGraph graph(mesh.vertices, unique_edges(mesh.triangles));
  const VecX full = graph.distances(5);
  const VecX limited = graph.distances(5, 0.8);
  int inside = 0;
  for (int i = 0; i < full.size(); ++i) {
    if (full[i] <= 0.8) {
      ++inside;
      EXPECT_EQ(limited[i], full[i]);
    } else {
      EXPECT_TRUE(std::isinf(limited[i]));
    }
  }
  const auto reached = graph.within(5, 0.8);
  EXPECT_EQ(static_cast<int>(reached.size()), inside);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    EXPECT_EQ(reached[i].distance, full[reached[i].vertex]);
    EXPECT_GE(reached[i].distance, i > 0 ? reached[i - 1].distance : 0.0);
  }
}

TEST(Samples, CoverByAreaAndFollowTheSurface) {
  TriMesh box = testing::box_surface(-Vec3(1, 1, 3), Vec3(1, 1, 3));
  const int count = 20000;
  const SurfaceSamples samples = sample_surface(box, count, 7);
  const Points points = sample_positions(samples, box.triangles, box.vertices);
  const int on_top = static_cast<int>((points.col(2).array().abs() > 3 - 1e-9).count());
  EXPECT_NEAR(on_top / static_cast<double>(count), 8.0 / 56, 1e-3);  // two faces of area 4 out of 56
  EXPECT_LT(points.colwise().mean().norm(), 0.02);
  EXPECT_GE(samples.barycentric.minCoeff(), 0);
  const SurfaceSamples again = sample_surface(box, count, 7);
  EXPECT_TRUE(again.triangle == samples.triangle && again.barycentric == samples.barycentric);
  EXPECT_FALSE(sample_surface(box, count, 8).barycentric == samples.barycentric);
}

}  // namespace
}  // namespace exemplar
