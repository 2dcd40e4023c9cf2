#include "core/implicit/step_unknowns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/core/implicit/implicit_support.h"

namespace exemplar {
namespace {

using testing::random_points;

// Five nodes: 1 held whole, 3 in y only; two terms with 2 and 3 weights, the second given; a fixed and two
// dynamic obstacles.
struct Example {
  std::vector<SupportedNode> held{{1, {true, true, true}, Vec3::Zero(), Vec3::Zero()},
                                  {3, {false, true, false}, Vec3::Zero(), Vec3::Zero()}};
  NodeColumns columns{5, std::vector<int>{1}};
  StepUnknowns unknowns{columns, held};
  StepPoint point{random_points(5, 1), {VecX{{0.1, 0.2}}, VecX{{0.3, 0.4, 0.5}}}, VecX::LinSpaced(18, 1, 18)};

  Example() {
    unknowns.add_weights(2, false, true);
    unknowns.add_weights(3, true, true);
    unknowns.add_obstacle(true);
    unknowns.add_obstacle(false);
    unknowns.add_obstacle(true);
  }
};

TEST(StepUnknowns, NodesComeFirstThenFreeWeightsThenDynamicObstacles) {
  const Example e;
  EXPECT_EQ(e.unknowns.dofs(), 12);
  EXPECT_EQ(e.unknowns.border(), 2 + 6 + 6);
  EXPECT_EQ(e.unknowns.column(1), -1);
  EXPECT_EQ(e.unknowns.column(4), 3);
  EXPECT_EQ(e.unknowns.borders_of_weights(0)[0], 0);
  EXPECT_EQ(e.unknowns.borders_of_weights(0)[1], 1);
  EXPECT_EQ(e.unknowns.borders_of_weights(1)[0], -1);
  EXPECT_EQ(e.unknowns.border_of_obstacle(0), 2);
  EXPECT_EQ(e.unknowns.border_of_obstacle(1), -1);
  EXPECT_EQ(e.unknowns.border_of_obstacle(2), 8);
  ASSERT_EQ(e.unknowns.simplex_groups().size(), 1u);
  EXPECT_EQ(e.unknowns.simplex_groups()[0].count, 2);
  EXPECT_TRUE(e.unknowns.is_weight(1));
  EXPECT_FALSE(e.unknowns.is_weight(2));
  const VecX z = e.unknowns.pack(e.point);
  EXPECT_EQ(z.segment<3>(3), e.point.x.row(2).transpose());
  EXPECT_EQ(z.segment<2>(12), e.point.weights[0]);
  EXPECT_EQ(z.tail<6>(), e.point.q.tail<6>());
}

TEST(StepUnknowns, FreeWeightsShareWhatGivenOnesLeave) {
  const double free = std::numeric_limits<double>::quiet_NaN();
  const NodeColumns columns{1, std::vector<int>{}};
  StepUnknowns unknowns(columns, {});
  unknowns.add_weights(VecX{{free, 0.3, free}}, true);
  unknowns.add_weights(VecX{{1.0, free}}, true);   // no room: zero
  unknowns.add_weights(VecX{{2.0, free}}, false);  // the affine span has no limit
  EXPECT_EQ(unknowns.border(), 3);
  const std::vector<std::vector<int>> expected{{0, -1, 1}, {-1, -1}, {-1, 2}};
  for (std::size_t t = 0; t < 3; ++t)
    EXPECT_TRUE(std::ranges::equal(unknowns.borders_of_weights(t), expected[t])) << t;
  ASSERT_EQ(unknowns.simplex_groups().size(), 1u);
  EXPECT_EQ(unknowns.simplex_groups()[0].begin, 0);
  EXPECT_EQ(unknowns.simplex_groups()[0].count, 2);
  EXPECT_NEAR(unknowns.simplex_groups()[0].total, 0.7, 1e-15);
  StepPoint point{Points::Zero(1, 3), {VecX{{0.1, 0.3, 0.2}}, VecX{{1.0, 0.0}}, VecX{{2.0, 5.0}}}, VecX()};
  const VecX z = unknowns.pack(point);
  EXPECT_EQ(VecX(z.tail(3)), (VecX{{0.1, 0.2, 5.0}}));
  unknowns.unpack(VecX(z.array() + 1), point);
  EXPECT_EQ(point.weights[0], (VecX{{1.1, 0.3, 1.2}}));
  EXPECT_EQ(point.weights[1], (VecX{{1.0, 0.0}}));
}

TEST(StepUnknowns, UnpackingChangesUnknownsOnly) {
  const Example e;
  StepPoint other{Points::Zero(5, 3), {VecX::Zero(2), VecX::Ones(3)}, VecX::Constant(18, -1)};
  e.unknowns.unpack(e.unknowns.pack(e.point), other);
  for (const int i : {0, 2, 3, 4}) EXPECT_EQ(other.x.row(i), e.point.x.row(i));
  EXPECT_TRUE(other.x.row(1).isZero());
  EXPECT_EQ(other.weights[0], e.point.weights[0]);
  EXPECT_EQ(other.weights[1], VecX(VecX::Ones(3)));
  EXPECT_EQ(other.q.head<6>(), e.point.q.head<6>());
  EXPECT_EQ(other.q.segment<6>(6), VecX(VecX::Constant(6, -1)));
}

TEST(StepUnknowns, MaskedCoordinatesStandAlone) {
  const Example e;
  VecX g;
  e.unknowns.pack_gradient({Points::Ones(5, 3), VecX::Ones(14)}, g);
  EXPECT_EQ(g.sum(), 12 + 14 - 1);
  EXPECT_EQ(g[3 * 2 + 1], 0);
  const std::vector<int> all{0, 1, 2, 3};
  const BlockPattern pattern(4, all, 4);
  BorderedHessian h;
  h.reset(pattern, 14);
  for (double& v : h.a.values()) v = 2;
  h.c.setOnes();
  e.unknowns.mask(h);
  const MatX a = h.a.to_dense();
  for (int j = 0; j < 12; ++j) {
    const bool masked = j == 7;
    EXPECT_EQ(a(7, j), masked ? 2 : 0);
    EXPECT_EQ(a(j, 7), masked ? 2 : 0);
    EXPECT_EQ(h.c.row(j).sum(), masked ? 0 : 14);
  }
  EXPECT_EQ(a(6, 8), 2);
}

}  // namespace
}  // namespace exemplar
