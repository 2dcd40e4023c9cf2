// Bodies meet each other in the methods whose contact is made of impulses at points: none goes through
// another, momentum is kept, a pile comes to rest, and nothing depends on threads or on resuming.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare/registered_methods.h"
#include "core/base/parallel.h"
#include "core/scene/scene_file.h"
#include "tests/support/method_run.h"

namespace exemplar {
namespace bodies_meet_tests {

const Registry& methods() {
  static const Registry registry = registered_methods();
  return registry;
}

std::string block(const std::string& name, const Vec3& position, const Vec3& velocity, double density = 500,
                  const std::string& size = "[0.2, 0.2, 0.2]") {
  return fmt::format(
      R"({{"name": "{}", "surface": {{"box": {{"size": {}, "resolution": [4, 4, 4]}}}}, "volume": {{"grid": [3, 3, 3]}},
           "material": {{"density": {}, "young": 1e5, "poisson": 0.25, "friction": 0.5}},
           "position": [{}, {}, {}], "velocity": [{}, {}, {}]}})",
      name, size, density, position.x(), position.y(), position.z(), velocity.x(), velocity.y(),
      velocity.z());
}

std::string scene(const std::string& bodies, double duration, const std::string& gravity,
                  const std::string& obstacles = "[]") {
  return fmt::format(R"({{"time": {{"duration": {}, "fps": 60, "steps_per_frame": 2}}, "gravity": {},
                          "bodies": [{}], "obstacles": {}}})",
                     duration, gravity, bodies, obstacles);
}

class BodiesMeet : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, BodiesMeet, ::testing::Values("shape-matching", "mass-spring"),
                         [](const auto& name) { return std::string(name.param).substr(0, 4); });

// Means over the vertices of each of two bodies of equal surfaces.
std::array<Vec3, 2> centres(const testing::MethodRun& run) {
  const Points x = run.surface();
  const Eigen::Index half = x.rows() / 2;
  return {x.topRows(half).colwise().mean().transpose(), x.bottomRows(half).colwise().mean().transpose()};
}

TEST_P(BodiesMeet, BlocksThatFlyIntoEachOtherKeepTheirMomentumAndTheirOrder) {
  for (const double speed : {1.0, 5.0}) {  // sound: 14 m/s
    const std::string text = scene(block("left", {-0.15, 0, 0}, {speed, 0, 0}) + "," +
                                       block("right", {0.15, 0.03, 0.02}, {-0.5 * speed, 0, 0}, 1500),
                                   0.3, "[0, 0, 0]");
    testing::MethodRun run(methods(), text, {}, GetParam());
    const Vec3 before = run.method().diagnostics().linear_momentum;
    const StepReport report = run.frames(1, 12);
    ASSERT_EQ(report.status, Status::ok) << report.message;
    EXPECT_LT(centres(run)[0].x(), centres(run)[1].x() - 0.1) << speed;
    const double size = run.method().diagnostics().mass * speed;
    EXPECT_LT((run.method().diagnostics().linear_momentum - before).norm(), 1e-11 * size) << speed;
    EXPECT_GT(run.method().diagnostics().contact_dissipation, 0);
  }
}

// Not shape matching: there the upper block creeps by about 2 cm/s.
TEST(BodiesMeetAtRest, ABlockOfSpringsLiesStillOnAnotherOne) {
  const std::string floor = R"([{"name": "floor", "plane": {}}])";
  testing::MethodRun run(
      methods(),
      scene(block("low", {0, 0.1, 0}, {0, 0, 0}) + "," + block("high", {0.02, 0.31, 0.01}, {0, 0, 0}), 2,
            "[0, -9.81, 0]", floor),
      {}, "mass-spring");
  ASSERT_EQ(run.frames(1, 50).status, Status::ok);
  const std::array<Vec3, 2> before = centres(run);
  ASSERT_EQ(run.frames(51, 70).status, Status::ok);
  // They swing on (the springs hardly damp that), but neither sinks nor drifts.
  for (const std::size_t b : {0, 1}) EXPECT_LT((centres(run)[b] - before[b]).norm(), 4e-3) << b;
  EXPECT_NEAR(centres(run)[0].y(), 0.1, 0.02);
  EXPECT_NEAR(centres(run)[1].y(), 0.3, 0.03);
  EXPECT_LT(run.extra("body_overlap"), 0.01);
}

TEST_P(BodiesMeet, FrictionBetweenThemStopsASlidingBlock) {
  // μ = 0.5: 1 m/s over 0.102 m and 0.2 s.
  const std::string held =
      R"(, "supports": [{"region": {"box": {"low": [-2, -2, -2], "high": [2, 2, 2]}}}]})";
  std::string low = block("low", {0.1, -0.05, 0}, {0, 0, 0}, 500, "[0.8, 0.1, 0.4]");
  low = low.substr(0, low.size() - 1) + held;
  testing::MethodRun run(methods(),
                         scene(low + "," + block("slider", {-0.1, 0.1001, 0}, {1, 0, 0}), 1, "[0, -9.81, 0]"),
                         {}, GetParam());
  ASSERT_EQ(run.frames(1, 40).status, Status::ok);
  EXPECT_NEAR(centres(run)[1].x(), -0.1 + 1 / (2 * 0.5 * 9.81), 0.03);
}

TEST_P(BodiesMeet, TheSameBitsForAnyThreadsAndAfterResuming) {
  const std::string text =
      scene(block("left", {-0.11, 0, 0}, {3, 0, 0}) + "," + block("right", {0.11, 0.03, 0.02}, {-3, 0, 0}),
            0.3, "[0, -9.81, 0]", R"([{"name": "floor", "plane": {}, "position": [0, -0.15, 0]}])");
  StateArrays first;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    testing::MethodRun run(methods(), text, {}, GetParam());
    ASSERT_EQ(run.frames(1, 5).status, Status::ok);
    if (threads == 3) run.resume();
    ASSERT_EQ(run.frames(6, 10).status, Status::ok);
    if (threads == 1) first = run.state();
    EXPECT_EQ(run.state(), first) << threads;
  }
  set_thread_count(0);
}

TEST(BodiesMeetAsleep, APileFallsAsleepAsAWholeAndWakesWhenItIsHit) {
  const std::string floor = R"([{"name": "floor", "plane": {}}])";
  testing::MethodRun run(
      methods(),
      scene(block("low", {0, 0.1, 0}, {0, 0, 0}) + "," + block("high", {0.02, 0.301, 0.01}, {0, 0, 0}) + "," +
                block("late", {0, 5, 0}, {0, 0, 0}),
            2, "[0, -9.81, 0]", floor),
      {"methods.shape-matching.sleep=true"}, "shape-matching");
  ASSERT_EQ(run.frames(1, 50).status, Status::ok);
  EXPECT_GE(run.extra("sleeping_bodies"), 2);
  ASSERT_EQ(run.frames(51, 60).status, Status::ok);  // it arrives after 0.97 s
  EXPECT_EQ(run.extra("sleeping_bodies"), 0);
  EXPECT_LT(run.extra("body_overlap"), 0.05);
}

}  // namespace bodies_meet_tests
}  // namespace exemplar
