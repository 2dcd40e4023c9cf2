#include "rigidplastic/lbs/outcome.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rigidplastic/lbs/method.h"
#include "tests/rigidplastic/lbs/barrels.h"
#include "tests/support/metric.h"
#include "tests/support/run.h"

namespace exemplar::lbs {

namespace {

// Four points on one bone, in their only example: moved by (0, 0.1, 0).
LbsBody lifted_body() {
  Points rest(4, 3);
  rest << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1;
  const BonePose still(1), lifted{{Vec3(0, 0.1, 0), Quat::Identity()}};
  Skin skin(rest, Points::Zero(1, 3), sparse_weights(MatX::Ones(4, 1)), {still, lifted});
  LbsBody body;
  body.deformable.emplace(std::move(skin), Edges(0, 2), Parameters{}, 1);
  body.examples = {"lifted"};
  body.blows.struck = Points::Zero(4, 3);
  return body;
}

// Two copies of a barrel in the air, far apart; a ball will strike the first of them.
SceneSettings two_copies() {
  SceneSettings settings;
  settings.time = {0.5, 60, 4};
  BodySettings body = soft_barrel(Vec3::UnitX());
  body.position = Vec3(0, 2, 0);
  body.repeat = two_of_them(5);
  settings.bodies.push_back(body);
  settings.obstacles.push_back(thrown_ball(30, Vec3(-2, 2.5, 0), Vec3(14, 0, 0)));
  return settings;
}

}  // namespace

// By hand: (2 · 0.1 − 1 · 0.1 + 0) / (2 + 1 + 5).
TEST(LbsOutcome, StruckDepthIsWhatGaveWayAlongTheBlows) {
  std::vector<LbsBody> bodies;
  bodies.push_back(lifted_body());
  EXPECT_EQ(struck_depth(bodies), 0);
  bodies[0].blows.struck.row(0) << 0, 2, 0;
  bodies[0].blows.struck.row(1) << 0, -1, 0;
  bodies[0].blows.struck.row(2) << 3, 0, 4;
  EXPECT_NEAR(struck_depth(bodies), 0.1 / 8, 1e-15);
}

TEST(LbsOutcome, CopiesDifferOnceOneOfThemIsStruck) {
  const Scene scene = make_scene(two_copies(), "");
  const auto method = make_method(scene, {});
  EXPECT_LT(metric(*method, "shape_variety"), 1e-12);
  EXPECT_EQ(metric(*method, "struck_depth"), 0);
  for (int frame = 1; frame <= 30; ++frame) method->advance(scene.frame_time(frame), k_never);
  EXPECT_GT(metric(*method, "shape_variety"), 2e-3);
  EXPECT_GT(metric(*method, "struck_depth"), 2e-3);
  EXPECT_GT(metric(*method, "weight_barrel_crushed"), 0.01);
}

// Handles lie on the body and fall with it.
TEST(LbsOutcome, HandlesAndStrongestWeightsAreWritten) {
  SceneSettings settings = two_copies();
  settings.obstacles.clear();
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  const std::vector<Geometry> before = method->fields();
  for (int frame = 1; frame <= 12; ++frame) method->advance(scene.frame_time(frame), k_never);
  const std::vector<Geometry> after = method->fields();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before[1].series, "handles");
  ASSERT_EQ(before[1].points.rows(), 12);
  const Vec3 fall = (after[0].points - before[0].points).colwise().mean().transpose();
  EXPECT_NEAR(fall.y(), -0.5 * 9.81 * 0.04, 0.01);
  for (Eigen::Index h = 0; h < 12; ++h) {
    EXPECT_LT((after[1].points.row(h) - before[1].points.row(h) - fall.transpose()).norm(), 1e-9);
    EXPECT_LT((before[0].points.rowwise() - before[1].points.row(h)).rowwise().norm().minCoeff(), 0.02);
  }
  for (const FieldArray& array : before[0].arrays) {
    if (array.name != "strongest_weight") continue;
    EXPECT_GE(*std::min_element(array.values.begin(), array.values.end()), 1.0 / 6);
    EXPECT_LE(*std::max_element(array.values.begin(), array.values.end()), 1 + 1e-12);
  }
}

}  // namespace exemplar::lbs
