#include <gtest/gtest.h>

#include "meshless/shape_matching/checks/experiments.h"
#include "meshless/shape_matching/embedding.h"
#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

// Fig. 3.6: without iterations more cells are softer; with them about as stiff as one cell.
TEST(ClusterSizes, IterationsGiveBackWhatMoreCellsTake) {
  const double one = bar_tip_deflection(1, 1);
  double last = one;
  for (const int n : {2, 3, 4}) {
    const double plain = bar_tip_deflection(n, 1);
    EXPECT_GT(plain, 1.2 * last) << n;
    last = plain;
    EXPECT_NEAR(bar_tip_deflection(n, cluster_iterations(n)) / one, 1.0, 0.25) << n;
    EXPECT_LT(bar_tip_deflection(n, 1, 4), 0.6 * plain) << n;  // coarser levels stiffen too
  }
}

TEST(Volume, IsKeptUnderCompressionToHalfTheHeight) {
  EXPECT_NEAR(squeezed_volume(true), 1.0, 0.02);
  EXPECT_LT(squeezed_volume(false), 0.95);
}

TEST(Embedding, TrilinearWeightsReproduceLinearMaps) {
  const CubicalModel block = make_block({0, 0, 0}, {2, 1, 1}, {4, 2, 3}, 1.0);
  Points points = test::random_points(200, 5, 0.4);
  points.rowwise() += Eigen::RowVector3d(1, 0.5, 0.5);
  const CarriedPoints carried = embed_in_lattice(points, block.lattice);
  const Mat3 map = test::random_matrix(3);
  const Points moved = test::moved(block.model.rest_positions, map, Vec3(1, 2, 3));
  EXPECT_LT((carried.apply(moved) - test::moved(points, map, Vec3(1, 2, 3))).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Embedding, NormalsStayNormalToTransformedTangents) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Mat3 t = test::random_matrix(seed);
    const Vec3 a = test::random_rotation(seed).col(0), b = test::random_rotation(seed).col(1), n = a.cross(b);
    const Vec3 turned = transformed_normal(t, n);
    EXPECT_NEAR(turned.norm(), 1.0, 1e-12);
    EXPECT_NEAR(turned.dot(t * a), 0.0, 1e-10);
    EXPECT_NEAR(turned.dot(t * b), 0.0, 1e-10);
  }
  EXPECT_EQ(transformed_normal(Mat3::Zero(), Vec3::UnitX()), Vec3::UnitX());
}

TEST(Embedding, CellMapsIncludeEverythingThatHappenedToACell) {
  const CubicalModel block = make_block({0, 0, 0}, {2, 1, 1}, {2, 1, 1}, 1.0);
  const Mat3 map = test::random_matrix(8);
  for (const Mat3& found : cell_maps(block.model.cells, block.model.rest_positions,
                                     test::moved(block.model.rest_positions, map, Vec3(3, 2, 1))))
    EXPECT_LT((found - map).norm(), 1e-9);
}

}  // namespace
}  // namespace exemplar::shape_matching
