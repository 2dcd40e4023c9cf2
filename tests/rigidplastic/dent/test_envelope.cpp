#include <gtest/gtest.h>

#include "core/base/random.h"
#include "rigidplastic/dent/checks/brute_force.h"
#include "rigidplastic/dent/envelope.h"
#include "rigidplastic/dent/smoothing.h"

namespace exemplar::dent {

namespace {

// Random heights; a share of the cells is empty.
DepthGrid random_grid(int columns, int rows, double spacing, double empty_share, std::uint64_t seed) {
  DepthGrid grid = DepthGrid::over({Vec2::Zero(), spacing * Vec2(columns - 1, rows - 1)}, spacing, 0);
  for (std::size_t k = 0; k < grid.depth.size(); ++k) {
    const double u = uniform_random(seed, 2 * k);
    if (uniform_random(seed, 2 * k + 1) >= empty_share) grid.depth[k] = 1e-3 + u;
  }
  return grid;
}

double worst_relative_difference(const DepthGrid& a, const DepthGrid& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.depth.size(); ++k) {
    if (b.depth[k] < 1e-290) continue;  // subnormal numbers have fewer digits
    worst = std::max(worst, std::abs(a.depth[k] - b.depth[k]) / b.depth[k]);
  }
  return worst;
}

}  // namespace

TEST(Envelope, EqualsTheBruteForceMaximumOnRandomGrids) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const int columns = 7 + static_cast<int>(seed) * 3, rows = 41 - static_cast<int>(seed);
    for (const double empty_share : {0.0, 0.5, 0.98}) {
      DepthGrid grid = random_grid(columns, rows, 0.013, empty_share, seed);
      for (const double width : {0.004, 0.02, 0.3}) {
        DepthGrid broadened = grid;
        broaden(broadened, width);
        EXPECT_LT(worst_relative_difference(broadened, brute_force_envelope(grid, width)), 1e-12)
            << seed << " " << width;
      }
    }
  }
}

TEST(Envelope, OneCellBecomesOneGaussian) {
  DepthGrid grid = DepthGrid::over({Vec2(-1, -1), Vec2(1, 1)}, 0.05, 0);
  grid.at(20, 20) = 0.7;
  broaden(grid, 0.2);
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) {
      const double r2 = grid.centre(i, j).squaredNorm();
      EXPECT_NEAR(grid.at(i, j), 0.7 * std::exp(-r2 / (2 * 0.2 * 0.2)), 1e-15);
    }
  }
}

TEST(Envelope, AnEmptyGridStaysEmpty) {
  DepthGrid grid = DepthGrid::over({Vec2(0, 0), Vec2(1, 1)}, 0.1, 0);
  broaden(grid, 0.2);
  EXPECT_EQ(grid.largest(), 0);
}

TEST(Smoothing, OneHeatStepIsTheFivePointStencil) {
  DepthGrid grid = DepthGrid::over({Vec2(0, 0), Vec2(1, 1)}, 0.25, 0);
  grid.at(2, 2) = 1;
  heat_step(grid);
  EXPECT_NEAR(grid.at(2, 2), 0.2, 1e-15);
  EXPECT_NEAR(grid.at(1, 2), 0.2, 1e-15);
  EXPECT_NEAR(grid.at(2, 3), 0.2, 1e-15);
  EXPECT_EQ(grid.at(1, 1), 0);
}

TEST(Smoothing, HeatStepsKeepTheSumAndRaisingStepsOnlyDeepen) {
  const DepthGrid before = random_grid(30, 20, 0.1, 0.3, 5);
  DepthGrid heated = before;
  heat_step(heated);
  double sum_before = 0, sum_after = 0;
  for (std::size_t k = 0; k < before.depth.size(); ++k)
    sum_before += before.depth[k], sum_after += heated.depth[k];
  EXPECT_NEAR(sum_after, sum_before, 1e-11);
  DepthGrid raised = before;
  smooth(raised, {0, 5});
  for (std::size_t k = 0; k < before.depth.size(); ++k) EXPECT_GE(raised.depth[k], before.depth[k]);
  EXPECT_EQ(raised.largest(), before.largest());
}

TEST(Smoothing, KeepsTheLargestDepth) {
  DepthGrid grid = random_grid(40, 40, 0.1, 0.3, 9);
  const double largest = grid.largest();
  smooth(grid, {7, 4});
  EXPECT_NEAR(grid.largest(), largest, 1e-15);
}

}  // namespace exemplar::dent
