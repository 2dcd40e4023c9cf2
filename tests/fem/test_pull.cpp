// Pulls in the implicit methods against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

// 8 kg, so stiff that it moves as one; pulled at the middle of its top face, above its centre.
const char* k_cube = R"({"time": {"duration": 1, "fps": 100, "steps_per_frame": 10}, "gravity": [0, 0, 0],
  "bodies": [{"name": "cube", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}},
    "volume": {"grid": [2, 2, 2]}, "material": {"density": 1000, "young": 1e8, "poisson": 0.3}}],
  "loads": [{"body": "cube", "pull": {"point": [0, 0.1, 0], "target": [0, 0.15, 0], "stiffness": 800}}],
  "methods": {"fem": {"integrator": "bdf2"}}})";

double height(testing::FemRun& run) {
  return run.method().diagnostics().centre_of_mass.y();
}

TEST(Pull, AStiffCubeSwingsLikeAPointMass) {
  testing::FemRun run(k_cube);
  const double omega = std::sqrt(800 / 8.0), amplitude = 0.05;
  double worst = 0;
  for (int frame = 1; frame <= 63; ++frame) {  // a whole turn
    ASSERT_EQ(run.frames(frame, frame).status, Status::ok);
    worst = std::max(worst, std::abs(height(run) - amplitude * (1 - std::cos(omega * 0.01 * frame))));
  }
  EXPECT_LT(worst, 1e-3 * amplitude);
  const Diagnostics d = run.method().diagnostics();
  EXPECT_LT(std::abs(d.angular_momentum.norm()), 1e-6);
}

TEST(Pull, ItsWorkIsWhatTheBodyGains) {
  testing::FemRun run(k_cube);
  ASSERT_EQ(run.frames(1, 16).status, Status::ok);  // near the target: all of the spring's energy
  const Diagnostics d = run.method().diagnostics();
  const double left = 0.05 - height(run), given = 0.5 * 800 * (0.05 * 0.05 - left * left);
  EXPECT_NEAR(d.external_work, given, 2e-3 * given);
  EXPECT_NEAR(d.kinetic_energy + d.numerical_dissipation, given, 2e-3 * given);
  EXPECT_NEAR(d.numerical_dissipation, 0, 1e-2 * given);
}

TEST(Pull, TheLargestForceLimitsTheAcceleration) {
  testing::FemRun run(k_cube, {"loads[0].pull.max_force=4", "loads[0].pull.target=[0,50,0]"});
  ASSERT_EQ(run.frames(1, 50).status, Status::ok);
  EXPECT_NEAR(run.method().diagnostics().linear_momentum.y(), 4 * 0.5, 1e-6);
}

TEST(Pull, ActsFromAndUntilItsTimes) {
  testing::FemRun run(k_cube, {"loads[0].pull.max_force=4", "loads[0].pull.target=[0,50,0]",
                               "loads[0].from=0.1", "loads[0].until=0.3"});
  ASSERT_EQ(run.frames(1, 10).status, Status::ok);
  EXPECT_EQ(run.method().diagnostics().linear_momentum.y(), 0);
  ASSERT_EQ(run.frames(11, 50).status, Status::ok);
  EXPECT_NEAR(run.method().diagnostics().linear_momentum.y(), 4 * 0.2, 1e-6);
}

// A bar of 1 m, 0.1 × 0.1 m², E = 1 MPa without Poisson's ratio, held at one end; a pull at the middle of the other end
// by a force F = k d: in the mean over the end face the bar gives way by F L/(E A).
TEST(Pull, StretchesABarByItsForce) {
  testing::FemRun run(R"({"time": {"duration": 1, "fps": 1}, "gravity": [0, 0, 0],
    "bodies": [{"name": "bar", "surface": {"box": {"size": [1, 0.1, 0.1], "resolution": [20, 2, 2]}},
      "volume": {"grid": [20, 2, 2]}, "material": {"density": 1000, "young": 1e6, "poisson": 0},
      "supports": [{"region": {"half_space": {"point": [-0.4999, 0, 0], "normal": "-x"}}}]}],
    "loads": [{"body": "bar", "pull": {"point": [0.5, 0, 0], "target": [10, 0, 0], "stiffness": 2, "max_force": 10}}],
    "methods": {"fem": {"mode": "quasi-static"}}})");
  ASSERT_EQ(run.frames(1, 1).status, Status::ok);
  EXPECT_NEAR(run.extra("reaction_x"), -10, 1e-4);
  const Points& rest = run.scene().bodies[0].volume().mesh.vertices;
  const Points now = run.nodes();
  double middle = 0;
  int count = 0;
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    if (std::abs(rest(i, 0)) > 1e-9) continue;  // the section half way along the bar
    middle += now(i, 0) - rest(i, 0);
    ++count;
  }
  ASSERT_EQ(count, 9);
  const double expected = 10 * 0.5 / (1e6 * 0.01);
  EXPECT_NEAR(middle / count, expected, 5e-3 * expected);
}

// The surface hangs on a cage whose tets share few nodes: blocks between them all must exist.
TEST(Pull, HoldsASurfaceThatIsEmbedded) {
  testing::FemRun run(k_cube, {R"(bodies[0].surface={"sphere": {"radius": 0.1, "resolution": 2}})",
                               R"(bodies[0].volume={"always_cage": true, "cage_cell": 0.05})",
                               "loads[0].pull.target=[0.05,0.12,0.03]"});
  ASSERT_EQ(run.frames(1, 5).status, Status::ok);
  EXPECT_GT(run.method().diagnostics().linear_momentum.x(), 0.1);
}

TEST(Pull, GoesOnWithTheSameBits) {
  testing::FemRun run(k_cube, {"loads[0].until=0.035"}), other(k_cube, {"loads[0].until=0.035"});
  ASSERT_EQ(run.frames(1, 6).status, Status::ok);
  ASSERT_EQ(other.frames(1, 2).status, Status::ok);
  other.resume();
  ASSERT_EQ(other.frames(3, 6).status, Status::ok);
  EXPECT_EQ(run.state(), other.state());
}

}  // namespace
}  // namespace exemplar::fem
