// Every kind of controller inside `fem`: the weight follows what the controller reads, other weights of the
// set stay free, and what makes no sense is refused or said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

// A box on its foot, pushed sideways at its head; CONTROLLERS stands for the list.
std::string box(const std::string& controllers, const std::string& method = R"("mode": "quasi-static")") {
  return R"({
    "time": {"duration": 1, "fps": 10, "steps_per_frame": 1}, "gravity": [0, 0, 0],
    "bodies": [{
      "name": "box",
      "surface": {"box": {"size": [1, 2, 1], "resolution": [2, 4, 2]}}, "volume": {"grid": [2, 4, 2]},
      "material": {"density": 60, "young": 3e4, "poisson": 0.3},
      "examples": [
        {"name": "shear", "use": "elastic", "shear": {"direction": "x", "normal": "y", "amount": 0.5}},
        {"name": "long", "use": "elastic", "stretch": {"axis": "y", "factor": 1.5}},
        {"name": "flat", "use": "plastic", "stretch": {"axis": "y", "factor": 0.5}}
      ],
      "supports": [{"region": {"half_space": {"point": [0, -0.99, 0], "normal": "-y"}}}],
      "controllers": [)" +
         controllers + R"(]
    }],
    "loads": [{"region": {"half_space": {"point": [0, 0.99, 0], "normal": "y"}}, "value": [6000, 0, 0], "ramp_up": 0.2}],
    "methods": {"fem": {"examples": {"stiffness": 3}, )" +
         method + R"(}}
  })";
}

const char* k_long = R"({"example": "long", "curve": {"times": [0, 0.2], "weights": [0, 0.4]}})";

TEST(Controllers, TheOtherWeightsOfTheSetStayFree) {
  FemRun alone(box("")), led(box(k_long));
  ASSERT_EQ(alone.frames(1, 4).status, Status::ok);
  ASSERT_EQ(led.frames(1, 4).status, Status::ok);
  ASSERT_GT(alone.extra("weight_box_shear"), 0.3);
  EXPECT_EQ(led.extra("weight_box_long"), 0.4);
  // The push still finds its example, in the room that is left.
  EXPECT_GT(led.extra("weight_box_shear"), 0.3);
  EXPECT_LE(led.extra("weight_box_shear"), 0.6 + 1e-12);
  // And it is taller.
  EXPECT_GT(led.nodes().col(1).maxCoeff(), alone.nodes().col(1).maxCoeff() + 0.05);
}

TEST(Controllers, AFullWeightLeavesTheOthersNone) {
  FemRun run(box(R"({"example": "long", "curve": {"times": [0, 0.2], "weights": [0, 1]}})"));
  ASSERT_EQ(run.frames(1, 4).status, Status::ok);
  EXPECT_EQ(run.extra("weight_box_long"), 1);
  EXPECT_EQ(run.extra("weight_box_shear"), 0);
}

TEST(Controllers, WeightsThatLeaveTheSimplexAreClampedAndSaid) {
  FemRun run(box(R"({"example": "long", "curve": {"times": [0, 0.2], "weights": [0, 1]}},
                    {"example": "shear", "curve": {"times": [0, 0.2], "weights": [0, 1]}})"));
  const std::size_t before = run.method().notes().size();
  ASSERT_EQ(run.frames(1, 4).status, Status::ok);
  EXPECT_EQ(run.extra("weight_box_long"), 0.5);
  EXPECT_EQ(run.extra("weight_box_shear"), 0.5);
  ASSERT_EQ(run.method().notes().size(), before + 1);
  EXPECT_EQ(run.method().notes().back().severity, Severity::warning);
  EXPECT_NE(run.method().notes().back().text.find("scaled down"), std::string::npos);
}

TEST(Controllers, TheAffineSpanHasNoSimplex) {
  FemRun run(box(R"({"example": "long", "curve": {"times": [0, 0.2], "weights": [0, 1]}},
                    {"example": "shear", "curve": {"times": [0, 0.2], "weights": [0, 1]}})"),
             {"methods.fem.examples.affine=true"});
  ASSERT_EQ(run.frames(1, 4).status, Status::ok);
  EXPECT_EQ(run.extra("weight_box_long"), 1);
  EXPECT_EQ(run.extra("weight_box_shear"), 1);
}

TEST(Controllers, AJointsAngleSetsTheWeight) {
  FemRun run(
      box(R"({"example": "long", "joint_angle": {"a": [-0.5, -1, 0], "joint": [-0.5, 0, 0], "b": [-0.5, 1, 0],
                     "angles": [90, 180], "weights": [1, 0]}})"));
  ASSERT_EQ(run.frames(1, 4).status, Status::ok);
  // The angle at the start of the last step; the box hardly moves any more.
  const Points x = run.nodes();
  const auto node = [&](const Vec3& rest) {
    Eigen::Index best = 0;
    (run.scene().bodies[0].volume().mesh.vertices.rowwise() - rest.transpose())
        .rowwise()
        .norm()
        .minCoeff(&best);
    return Vec3(x.row(best).transpose());
  };
  const Vec3 p = node(Vec3(-0.5, -1, 0)) - node(Vec3(-0.5, 0, 0)),
             q = node(Vec3(-0.5, 1, 0)) - node(Vec3(-0.5, 0, 0));
  const double angle = std::acos(p.dot(q) / (p.norm() * q.norm())) * 180 / std::numbers::pi;
  ASSERT_LT(angle, 179);
  EXPECT_NEAR(run.extra("weight_box_long"), (180 - angle) / 90, 0.02);
}

// Free flight: velocity and acceleration are known.
std::string flying(const std::string& controller, const std::string& gravity) {
  return R"({
    "time": {"duration": 2, "fps": 50, "steps_per_frame": 1}, "gravity": )" +
         gravity + R"(,
    "bodies": [{
      "name": "box", "surface": {"box": {"size": [1, 1, 1], "resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
      "material": {"density": 60, "young": 3e5, "poisson": 0.3}, "velocity": [3, 0, 0],
      "examples": [{"name": "long", "use": "elastic", "stretch": {"axis": "z", "factor": 1.2}}],
      "controllers": [)" +
         controller + R"(]
    }]
  })";
}

TEST(Controllers, TheCentresVelocitySetsTheWeight) {
  FemRun run(
      flying(R"({"example": "long", "velocity": {"direction": "x", "speeds": [0, 4], "weights": [0, 1]}})",
             "[-1, 0, 0]"));
  ASSERT_EQ(run.frames(1, 50).status, Status::ok);
  // Its velocity before the last step: 3 − 0.98.
  EXPECT_NEAR(run.extra("weight_box_long"), (3 - 0.98) / 4, 1e-6);
}

TEST(Controllers, TheTurnOfTheCentreSetsTheWeight) {
  // Velocity along x, acceleration along z: −90° about y at first.
  FemRun run(flying(R"({"example": "long", "lean": {"up": "y", "angles": [-180, 0], "weights": [0, 1]}})",
                    "[0, 0, 5]"));
  ASSERT_EQ(run.frames(1, 50).status, Status::ok);
  const double expected = 1 - std::atan2(3.0, 5 * 0.98) / std::numbers::pi;
  EXPECT_NEAR(run.extra("weight_box_long"), expected, 0.002);
}

std::string refusal(const std::string& text);

// All at once, each with its place.
TEST(Actions, WhatHoldsNoNodeIsRefusedWithItsPlace) {
  std::string text = box("");
  text.replace(text.find("-0.99"), 5, "-9.99");
  text.replace(text.find("[0, 0.99, 0]"), 12, "[0, 9.99, 0]");
  EXPECT_NE(refusal(text).find("bodies[0].supports[0]"), std::string::npos) << refusal(text);
  EXPECT_NE(refusal(text).find("loads[0]"), std::string::npos) << refusal(text);
}

std::string refusal(const std::string& text) {
  try {
    FemRun run(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Controllers, WhatMakesNoSenseIsRefusedWithItsPlace) {
  const std::string velocity =
      R"({"example": "long", "velocity": {"direction": "x", "speeds": [0, 4], "weights": [0, 1]}})";
  EXPECT_NE(refusal(box(velocity)).find("bodies[0].controllers[0]"), std::string::npos)
      << refusal(box(velocity));
  EXPECT_EQ(refusal(box(velocity, R"("mode": "dynamic")")), "");
  const std::string twice = box(std::string(k_long) + ", " + k_long);
  EXPECT_NE(refusal(twice).find("bodies[0].controllers[1].example"), std::string::npos) << refusal(twice);
  const std::string plastic = box(R"({"example": "flat", "curve": {"times": [0, 1], "weights": [0, 1]}})");
  EXPECT_NE(refusal(plastic).find("plastic flow only"), std::string::npos) << refusal(plastic);
}

}  // namespace
}  // namespace exemplar
