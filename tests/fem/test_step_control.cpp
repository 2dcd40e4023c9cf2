// TR-BDF2 and error-controlled steps: order, estimates, momenta, what is left of spin and bounce at default settings, the
// same bits for any number of threads and after resuming.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/mesh/volume/tet_box.h"
#include "core/run/step_error.h"
#include "fem/solid_model.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

constexpr Integrator k_rule = Integrator::tr_bdf2;

ImplicitOptions tr_bdf2() {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-11;
  options.integrator = k_rule;
  return options;
}

void take_step(fem::SolidModel& model, double dt, const Points& forces = {}) {
  StepInput input;
  input.forces = forces;
  for (const StepStage& stage : stages_of(k_rule, dt)) {
    input.dt = stage.dt;
    input.rule = stage.rule;
    ASSERT_EQ(model.step(input).status, StepStatus::ok);
  }
}

// A bar that was stretched by 5 % and let go.
fem::SolidBody stretched_bar(double damping) {
  fem::SolidBody body;
  body.mesh = tet_box({1, 0.2, 0.2}, {4, 2, 2});
  body.energy = ModifiedStVK{1e4, 1e4};
  body.damping = damping;
  body.positions = body.mesh.vertices;
  body.positions.col(0) *= 1.05;
  return body;
}

Points swing(int steps, double damping) {
  fem::SolidModel model({stretched_bar(damping)}, tr_bdf2());
  for (int k = 0; k < steps; ++k) take_step(model, 0.3 / steps * (k % 2 == 0 ? 1.3 : 0.7));
  return model.body_positions(0);
}

TEST(TrBdf2, IsOfSecondOrderWithStepsOfDifferentLengthAndWithDamping) {
  for (const double damping : {0.0, 2e-3}) {
    const Points a = swing(100, damping), b = swing(200, damping), c = swing(400, damping);
    EXPECT_NEAR(std::log2((a - b).norm() / (b - c).norm()), 2, 0.2) << damping;
  }
}

TEST(TrBdf2, FallsOnTheParabola) {
  fem::SolidBody body;
  body.mesh = tet_box({1, 1, 1}, {2, 2, 2});
  fem::SolidModel model({body}, tr_bdf2());
  const Points weight = model.solver().masses() * Vec3(0, -9.81, 0).transpose();
  for (int k = 0; k < 20; ++k) take_step(model, 0.02, weight);
  const double fallen = (body.mesh.vertices - model.body_positions(0)).col(1).mean();
  EXPECT_NEAR(fallen, 0.5 * 9.81 * 0.4 * 0.4, 1e-12);
}

// Against a hundred steps in its place: after some steps, so that there is a motion with all derivatives.
TEST(StepError, IsWhatOneStepIsOffBy) {
  const double h = 2e-3;
  fem::SolidModel coarse({stretched_bar(0)}, tr_bdf2()), fine({stretched_bar(0)}, tr_bdf2());
  for (int k = 0; k < 40; ++k) take_step(coarse, h / 8);
  fine.set_state(coarse.state());
  const ImplicitState start = coarse.solver().state();
  take_step(coarse, h);
  for (int k = 0; k < 100; ++k) take_step(fine, h / 100);
  const Points off = fine.body_positions(0) - coarse.body_positions(0);
  const Points estimate = local_error(k_rule, start, coarse.solver().state(), h);
  EXPECT_NEAR((off.cwiseProduct(estimate)).sum() / off.squaredNorm(), 1, 0.1);
}

constexpr const char* k_spinning = R"({
  "time": {"duration": 5, "fps": 30}, "gravity": [0, 0, 0],
  "bodies": [{"name": "bar", "surface": {"box": {"size": [1, 0.1, 0.2], "resolution": [10, 2, 3]}}, "volume": {"grid": [10, 1, 2]},
    "material": {"density": 1000, "young": 1e7, "poisson": 0.3}, "angular_velocity": [0.3, 10, 0.1]}]})";

TEST(StepControl, AFreeBarKeepsItsSpin) {
  FemRun run(k_spinning);
  const Vec3 before = run.method().diagnostics().angular_momentum;
  ASSERT_EQ(run.frames(1, 150).status, Status::ok);
  EXPECT_LT((run.method().diagnostics().angular_momentum - before).norm(), 0.01 * before.norm());
}

std::string balls(double distance) {
  const auto ball = [&](const char* name, double side) {
    return fmt::format(
        R"({{"name": "{}", "surface": {{"sphere": {{"radius": 0.1, "resolution": 2}}}},
            "material": {{"density": 1000, "young": 1e6, "poisson": 0.3}}, "position": [{}, 0, 0], "velocity": [{}, 0, 0]}})",
        name, side * distance, -2 * side);
  };
  return fmt::format(
      R"({{"time": {{"duration": 0.1, "fps": 120}}, "gravity": [0, 0, 0], "bodies": [{}, {}]}})",
      ball("a", -1), ball("b", 1));
}

TEST(StepControl, SoftBallsBounceApart) {
  FemRun run(balls(0.11));
  ASSERT_EQ(run.frames(1, 5).status, Status::ok);
  const Points v = [&] {
    for (const Geometry& geometry : run.method().fields()) {
      if (geometry.series != "surface") continue;
      for (const FieldArray& array : geometry.arrays) {
        if (array.name == "velocity")
          return Points(Eigen::Map<const Points>(array.values.data(), to_row(array.values.size()) / 3, 3));
      }
    }
    return Points();
  }();
  ASSERT_GT(v.rows(), 0);
  const Eigen::Index half = v.rows() / 2;
  EXPECT_GT(v.col(0).tail(half).mean() - v.col(0).head(half).mean(), 0.9 * 4);
  EXPECT_LT(run.method().diagnostics().linear_momentum.norm(), 1e-9);
}

constexpr const char* k_struck = R"({
  "time": {"duration": 0.1, "fps": 60}, "gravity": [0, 0, 0],
  "bodies": [{"name": "bar", "surface": {"box": {"size": [0.6, 0.1, 0.1], "resolution": [6, 2, 2]}}, "volume": {"grid": [6, 1, 1]},
    "material": {"density": 1000, "young": 1e6, "poisson": 0.3}}],
  "obstacles": [{"name": "ball", "sphere": {"radius": 0.05}, "mass": 2, "position": [0.2, 0.3, 0.01], "velocity": [0, -4, 0]}]})";

// The ball's momentum is read from its poses: nothing touches it any more in the last two frames.
TEST(StepControl, MomentumGoesFromAnObstacleToTheBody) {
  FemRun run(k_struck);
  ASSERT_EQ(run.frames(1, 5).status, Status::ok);
  const Vec3 before = run.method().obstacle_poses()[0].first;
  ASSERT_EQ(run.frames(6, 6).status, Status::ok);
  const Vec3 ball = 2 * 60 * (run.method().obstacle_poses()[0].first - before);
  const Vec3 sum = run.method().diagnostics().linear_momentum + ball;
  EXPECT_LT((sum - Vec3(0, -8, 0)).norm(), 1e-8);
  EXPECT_GT(ball.y(), -7);  // there was an impact
}

TEST(StepControl, GivesTheSameBitsForThreadsAndAfterResuming) {
  FemRun whole(k_struck), parts(k_struck);
  ASSERT_EQ(whole.frames(1, 6).status, Status::ok);
  set_thread_count(3);
  const Status first = parts.frames(1, 2).status;
  parts.resume();
  const Status rest = parts.frames(3, 6).status;
  set_thread_count(0);
  ASSERT_EQ(first, Status::ok);
  ASSERT_EQ(rest, Status::ok);
  EXPECT_EQ(whole.state(), parts.state());
}

// Frames with an impact take more steps than free flight; a higher accuracy takes more of them.
TEST(StepControl, StepsFollowTheMotion) {
  FemRun run(k_struck), fine(k_struck, {"time.accuracy=1e-4"});
  ASSERT_EQ(run.frames(1, 1).status, Status::ok);
  EXPECT_LE(run.frames(2, 2).steps, 2);  // in front of the impact
  const int impact = run.frames(3, 4).steps;
  EXPECT_GT(impact, 20);
  ASSERT_EQ(fine.frames(1, 2).status, Status::ok);
  EXPECT_GT(fine.frames(3, 4).steps, 1.5 * impact);
}

TEST(StepControl, IsWhatASceneGetsThatSaysNothing) {
  FemRun run(k_struck),
      asked(k_struck, {"time.steps_per_frame=\"auto\"", "methods.fem.integrator=\"tr-bdf2\""}),
      fixed(k_struck, {"time.steps_per_frame=4"});
  EXPECT_EQ(run.frames(1, 2).steps, asked.frames(1, 2).steps);
  EXPECT_EQ(run.nodes(), asked.nodes());
  EXPECT_EQ(fixed.frames(1, 1).steps, 4);
}

}  // namespace
}  // namespace exemplar
