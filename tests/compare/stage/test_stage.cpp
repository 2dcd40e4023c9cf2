#include "compare/stage/stage.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"

namespace exemplar::stage {

namespace {

TEST(Stage, NamesAreThoseOfTheArraysInWrittenFrames) {
  const Stage stage =
      read_stage(R"({"bodies": [{"name": "car"}, {"name": "barrel", "repeat": {"count": [2, 1, 2]}},
    {"name": "barrel-top", "repeat": null}], "obstacles": [{"name": "pin", "repeat": {"count": [1, 2, 1]}}, {"name": "floor"}],
    "camera": {"follow": "car", "field_of_view": 30, "hide": ["pin"], "close_ups": [{"name": "roof", "at": [0, 1, 0], "size": 0.5}]}})");
  EXPECT_EQ(stage.bodies,
            (std::vector<std::string>{"car", "barrel-1", "barrel-2", "barrel-3", "barrel-4", "barrel-top"}));
  EXPECT_EQ(stage.looks.size(), 6u);
  EXPECT_EQ(stage.camera.follow, "car");
  EXPECT_EQ(stage.camera.field_of_view, 30);
  ASSERT_EQ(stage.camera.close_ups.size(), 1u);
  EXPECT_EQ(stage.camera.close_ups[0].size, 0.5);
  EXPECT_EQ(places_of(stage.bodies, "barrel"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(places_of(stage.bodies, "barrel-2"), (std::vector<int>{2}));
  EXPECT_EQ(places_of(stage.bodies, "ship"), std::vector<int>());
  EXPECT_EQ(hidden_obstacles(stage, {}), (std::vector<int>{0, 1}));
  EXPECT_EQ(hidden_obstacles(stage, {"floor"}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(hidden_obstacles(stage, {"obstacles"}).size(), 5u);
  EXPECT_THROW(hidden_obstacles(stage, {"wall"}), InputError);
  for (const char* damaged : {"", "[", "3", R"({"bodies": 7})", R"({"bodies": [{"name": 3}]})"})
    EXPECT_TRUE(read_stage(damaged).bodies.empty()) << damaged;
}

TEST(Stage, LooksFollowTheMaterial) {
  const auto look = [](const std::string& material, const std::string& kind = "solid") {
    return read_stage(R"({"bodies": [{"name": "a", "kind": ")" + kind + R"(", "material": )" + material +
                      "}]}")
        .looks.at(0);
  };
  EXPECT_EQ(look(R"({"density": 7850, "young": 2e11, "yield_stress": 2.5e8})"), Look::metal);
  EXPECT_EQ(look(R"({"density": 2440, "young": 7.2e10, "fracture_energy": 3.8, "yield_stress": null})"),
            Look::glass);
  EXPECT_EQ(look(R"({"density": 1100, "young": 2e6})"), Look::rubber);
  EXPECT_EQ(look(R"({"density": 300, "young": 2e6})", "sheet"), Look::cloth);
  EXPECT_EQ(look(R"({"density": 2400, "young": 3e10, "fracture_energy": 100})"), Look::plain);
}

// A bar that was turned, moved and stretched: what is left after the best rigid motion is the stretch.
TEST(Stage, ChangeOfShapeIsWhatNoRigidMotionExplains) {
  Geometry bar;
  bar.kind = CellKind::points;
  Points rest(8, 3);
  rest << -2, 0, 0, -1, 0, 0, 0, 0.2, 0, 0, -0.2, 0, 0, 0, 0.2, 0, 0, -0.2, 1, 0, 0, 2, 0, 0;
  const Mat3 turn = Eigen::AngleAxisd(1.1, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  for (const double stretch : {0.0, 0.1}) {
    Points now = rest;
    now.col(0) *= 1 + stretch;
    now = (now * turn.transpose()).eval().rowwise() + Eigen::RowVector3d(7, -3, 1);
    bar.points = now;
    bar.arrays = {make_array("displacement", Association::point, now - rest)};
    const VecX change = change_of_shape(bar);
    for (Eigen::Index i = 0; i < 8; ++i)
      EXPECT_NEAR(change[i], stretch * std::abs(rest(i, 0)), 0.01 * stretch + 1e-9);
  }
  bar.arrays.clear();
  EXPECT_EQ(rest_over(bar).rows(), 0);
  EXPECT_EQ(change_of_shape(bar), VecX::Zero(8));
}

// One point in twenty is pushed in by 0.2 m: the others stay where they are.
TEST(Stage, ADentDoesNotMoveTheRest) {
  Geometry plate;
  plate.kind = CellKind::points;
  plate.points.resize(40, 3);
  for (int i = 0; i < 40; ++i) plate.points.row(i) << 0.1 * (i % 8), 0.1 * (i / 8), 0.02 * (i % 3);
  Points moved = Points::Zero(40, 3);
  moved(0, 2) = moved(39, 2) = -0.2;
  plate.points += moved;
  plate.arrays = {make_array("displacement", Association::point, moved)};
  const VecX change = change_of_shape(plate);
  EXPECT_NEAR(change[0], 0.2, 0.01);
  EXPECT_NEAR(change[39], 0.2, 0.01);
  EXPECT_LT(change.segment(1, 38).maxCoeff(), 0.01);
}

TEST(Stage, ObstaclesThatMoveAndThoseThatAreHidden) {
  Geometry before;
  before.points.resize(6, 3);
  before.points << 0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 6, 0, 0, 5, 1, 0;
  before.connectivity = {0, 1, 2, 3, 4, 5};
  before.arrays.push_back(make_integer_array("obstacle", Association::cell, {0, 1}));
  Geometry after = before;
  after.points.bottomRows(3).col(1).array() += 0.3;
  EXPECT_EQ(moving_obstacles({&before, nullptr, &after}), std::vector<int>{1});
  EXPECT_EQ(moving_obstacles({&before, &before}), std::vector<int>());
  const Geometry one = without_obstacles(before, {0});
  EXPECT_EQ(one.connectivity, (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(one.arrays[0].values, std::vector<double>{1});
  EXPECT_EQ(cell_count(without_obstacles(before, {0, 1})), 0u);
}

}  // namespace

}  // namespace exemplar::stage
