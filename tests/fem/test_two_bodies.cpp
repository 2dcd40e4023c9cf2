// Two bodies in one scene: each meets obstacles with its own reach, stiffness and friction.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

Points nodes_of(const testing::FemRun& run, std::size_t body) {
  Eigen::Index first = 0;
  for (std::size_t b = 0; b < body; ++b) first += run.scene().bodies[b].volume().mesh.vertices.rows();
  return run.nodes().middleRows(first, run.scene().bodies[body].volume().mesh.vertices.rows());
}

TEST(TwoBodies, ASmallCubeBesideALargeOneRestsAtItsOwnDistance) {
  testing::FemRun run(R"({
    "time": {"duration": 0.2, "fps": 100, "steps_per_frame": 1},
    "gravity": [0, -9.81, 0],
    "bodies": [
      {"name": "large", "surface": {"box": {"size": [4, 4, 4], "resolution": [1, 1, 1]}}, "volume": {"grid": [1, 1, 1]},
       "material": {"density": 100, "young": 1e6, "poisson": 0.3}, "position": [-5, 2, 0]},
      {"name": "small", "surface": {"box": {"size": [0.02, 0.02, 0.02], "resolution": [1, 1, 1]}},
       "volume": {"grid": [1, 1, 1]}, "material": {"density": 1000, "young": 1e6, "poisson": 0.3},
       "position": [0, 0.01, 0]}],
    "obstacles": [{"name": "ground", "plane": {}}]
  })");
  const double reach = 1e-3 * 0.02 * std::sqrt(3.0);
  // Both touch the ground in the scene and are lifted by half their own reach.
  EXPECT_NEAR(nodes_of(run, 1).col(1).minCoeff(), 1.01 * reach, 1e-9);
  EXPECT_NEAR(nodes_of(run, 0).col(1).minCoeff(), 1.01e-3 * 4 * std::sqrt(3.0), 1e-9);
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);
  EXPECT_GT(nodes_of(run, 1).col(1).minCoeff(), 0);
  EXPECT_LT(nodes_of(run, 1).col(1).minCoeff(), reach);
}

TEST(TwoBodies, EachSlidesWithItsOwnFrictionOnGroundThatSaysNone) {
  const auto box = [](const char* name, double friction, double z) {
    return fmt::format(
        R"({{"name": "{}", "surface": {{"box": {{"size": [0.4, 0.1, 0.4], "resolution": [2, 1, 2]}}}},
             "volume": {{"grid": [2, 1, 2]}}, "position": [0, 0.0506, {}], "velocity": [1, 0, 0],
             "material": {{"density": 1000, "young": 1e7, "poisson": 0.3, "friction": {}}}}})",
        name, z, friction);
  };
  constexpr double t = 0.05, smooth = 0.1, rough = 0.7;
  for (const bool says : {false, true}) {
    testing::FemRun run(fmt::format(R"({{"time": {{"duration": 0.05, "fps": 20, "steps_per_frame": 25}},
                                        "gravity": [0, -9.81, 0], "bodies": [{}, {}],
                                        "obstacles": [{{"name": "ground", "plane": {{}}{}}}]}})",
                                    box("smooth", smooth, 0), box("rough", rough, 2),
                                    says ? R"(, "friction": 0.4)" : ""));
    ASSERT_EQ(run.frames(1, 1).status, Status::ok);
    for (const std::size_t body : {0, 1}) {
      const double mu = says ? 0.4 : body == 0 ? smooth : rough;
      // Way of a uniform deceleration μ g. The boxes start just outside their reach (0.57 mm) and land on it:
      // 5 to 8 % more way is lost than at rest.
      const double lost = 0.5 * mu * 9.81 * t * t;
      EXPECT_NEAR(nodes_of(run, body).col(0).mean(), t - lost, 0.12 * lost) << body << says;
    }
  }
}

}  // namespace
}  // namespace exemplar::fem
