// The second-order integrator: its order, momenta, what is left of a bounce, steps of different length,
// resuming.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/mesh/volume/tet_box.h"
#include "fem/solid_model.h"
#include "tests/fem/fem_run.h"

namespace exemplar {
namespace {

using testing::FemRun;

ImplicitOptions bdf2() {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-11;
  options.integrator = Integrator::bdf2;
  return options;
}

// Free fall: BDF2 is exact for a parabola once it has two good points; the first step is implicit Euler's,
// whose error of ½ g h² stays bounded by a few h².
TEST(Bdf2, FreeFall) {
  double errors[2];
  int k = 0;
  for (const double dt : {0.02, 0.01}) {
    fem::SolidBody body;
    body.mesh = tet_box({1, 1, 1}, {2, 2, 2});
    fem::SolidModel model({body}, bdf2());
    StepInput input;
    input.dt = dt;
    input.forces = model.solver().masses() * Vec3(0, -9.81, 0).transpose();
    const int steps = static_cast<int>(0.4 / dt + 0.5);
    for (int step = 0; step < steps; ++step) ASSERT_EQ(model.step(input).status, StepStatus::ok);
    const double moved = (model.body_positions(0) - body.mesh.vertices).col(1).mean();
    errors[k++] = std::abs(moved + 0.5 * 9.81 * 0.4 * 0.4);
  }
  EXPECT_LT(errors[0], 9.81 * 0.02 * 0.02);
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.2);
}

// Steps that change from one to the next keep the order.
TEST(Bdf2, StepsOfDifferentLength) {
  const auto swing = [](int steps) {
    fem::SolidBody body;
    body.mesh = tet_box({1, 0.2, 0.2}, {4, 2, 2});
    body.energy = ModifiedStVK{1e4, 1e4};
    body.positions = body.mesh.vertices;
    body.positions.col(0) *= 1.05;
    fem::SolidModel model({body}, bdf2());
    StepInput input;
    const double mean = 0.3 / steps;
    for (int k = 0; k < steps; ++k) {
      input.dt = mean * (k % 2 == 0 ? 1.3 : 0.7);
      EXPECT_EQ(model.step(input).status, StepStatus::ok);
    }
    return Points(model.body_positions(0));
  };
  const Points a = swing(200), b = swing(400), c = swing(800);
  const double order = std::log2((a - b).norm() / (b - c).norm());
  EXPECT_NEAR(order, 2, 0.3);
}

TEST(Bdf2, LinearMomentumIsExactAndAngularMomentumKeptBetter) {
  const auto lost = [](Integrator integrator) {
    fem::SolidBody body;
    body.mesh = tet_box({1, 0.5, 0.7}, {3, 3, 3});
    body.energy = ModifiedStVK{1e5, 2e5};
    body.velocities.resize(body.mesh.vertices.rows(), 3);
    for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i)
      body.velocities.row(i) =
          (Vec3(0.3, -0.2, 0.1) + Vec3(2, 3, -1).cross(Vec3(body.mesh.vertices.row(i).transpose())))
              .transpose();
    ImplicitOptions options = bdf2();
    options.integrator = integrator;
    fem::SolidModel model({body}, options);
    const auto momenta = [&] {
      std::pair<Vec3, Vec3> sums{Vec3::Zero(), Vec3::Zero()};
      const ImplicitState& s = model.solver().state();
      for (Eigen::Index i = 0; i < s.positions.rows(); ++i) {
        const Vec3 p = model.solver().masses()[i] * s.velocities.row(i).transpose();
        sums.first += p;
        sums.second += Vec3(s.positions.row(i).transpose()).cross(p);
      }
      return sums;
    };
    const auto before = momenta();
    StepInput input;
    input.dt = 0.01;
    for (int k = 0; k < 50; ++k) EXPECT_EQ(model.step(input).status, StepStatus::ok);
    const auto after = momenta();
    EXPECT_LT((after.first - before.first).norm(), 1e-11 * before.first.norm());
    return (after.second - before.second).norm() / before.second.norm();
  };
  EXPECT_LT(lost(Integrator::bdf2), 0.1 * lost(Integrator::implicit_euler));
}

std::string ball(const std::string& integrator) {
  return fmt::format(R"({{
    "time": {{"duration": 2, "fps": 100, "steps_per_frame": 1}},
    "bodies": [{{
      "name": "ball", "surface": {{"sphere": {{"radius": 0.2, "resolution": 2}}}},
      "material": {{"density": 1000, "young": 1e5, "poisson": 0.3}}, "position": [0, 1.2, 0]
    }}],
    "obstacles": [{{"name": "floor", "plane": {{}}, "friction": 0}}],
    "methods": {{"fem": {{"integrator": "{}"}}}}
  }})",
                     integrator);
}

// Dropped from 1 m: how high its centre comes again, and the most energy on the way over that at the start.
std::pair<double, double> bounce(const std::string& integrator) {
  FemRun run(ball(integrator));
  double rebound = 0, most = 0, first = 0;
  bool down = false;
  for (int frame = 1; frame <= 100; ++frame) {
    EXPECT_EQ(run.frames(frame, frame).status, Status::ok);
    const Diagnostics d = run.method().diagnostics();
    const double energy = d.kinetic_energy + d.elastic_energy + d.gravitational_energy +
                          run.extra("contact_energy") - 0.2 * 9.81 * d.mass;
    if (frame == 1) first = energy;
    most = std::max(most, energy / first);
    const double height = d.centre_of_mass.y() - 0.2;
    down = down || height < 0;
    if (down) rebound = std::max(rebound, height);
  }
  EXPECT_TRUE(down);
  return {rebound, most};
}

TEST(Bdf2, ADroppedBallKeepsItsBounce) {
  const auto [euler, euler_energy] = bounce("implicit-euler");
  const auto [second, second_energy] = bounce("bdf2");
  EXPECT_GT(second, 0.3);
  EXPECT_GT(second, 1.5 * euler);
  EXPECT_LT(euler_energy, 1.001);
  EXPECT_LT(second_energy, 1.01);
}

TEST(Bdf2, ResumedRunsHaveTheSameBits) {
  FemRun whole(ball("bdf2")), parts(ball("bdf2"));
  ASSERT_EQ(whole.frames(1, 50).status, Status::ok);
  ASSERT_EQ(parts.frames(1, 25).status, Status::ok);
  parts.resume();
  ASSERT_EQ(parts.frames(26, 50).status, Status::ok);
  EXPECT_EQ(whole.nodes(), parts.nodes());
}

}  // namespace
}  // namespace exemplar
