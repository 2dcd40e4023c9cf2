// Dynamics of solids: conservation laws, plasticity of Fig. 4, drift experiment of §6.1, determinism and
// resuming.
#include "fem/solid_model.h"

#include <gtest/gtest.h>

#include <numbers>

#include "core/base/parallel.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/cuboid_cases.h"

namespace exemplar::fem {
namespace {

Vec3 momentum(const SolidModel& model) {
  return model.solver().state().velocities.transpose() * model.solver().masses();
}
Vec3 angular_momentum(const SolidModel& model) {
  Vec3 sum = Vec3::Zero();
  const ImplicitState& s = model.solver().state();
  for (Eigen::Index i = 0; i < s.positions.rows(); ++i) {
    sum += model.solver().masses()[i] *
           Vec3(s.positions.row(i).transpose()).cross(Vec3(s.velocities.row(i).transpose()));
  }
  return sum;
}

SolidBody spinning_box() {
  SolidBody body;
  body.mesh = tet_box({1, 0.5, 0.7}, {5, 4, 4});
  body.energy = ModifiedStVK{1e5, 2e5};
  body.velocities.resize(body.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i) {
    const Vec3 p = body.mesh.vertices.row(i).transpose();
    body.velocities.row(i) = (Vec3(0.3, -0.2, 0.1) + Vec3(2, 3, -1).cross(p)).transpose();
  }
  return body;
}

ImplicitOptions tight(LinearMethod linear = LinearMethod::direct) {
  ImplicitOptions options;
  options.linear = linear;
  options.newton.force_tolerance = 1e-10;
  return options;
}

TEST(SolidModel, FreeFallIsTheExactDiscreteSolution) {
  SolidBody body;
  body.mesh = tet_box({1, 1, 1}, {3, 3, 3});
  SolidModel model({body}, tight());
  StepInput input;
  input.dt = 0.01;
  const Vec3 gravity(0, -9.81, 0);
  input.forces = model.solver().masses() * gravity.transpose();
  const int steps = 20;
  for (int k = 0; k < steps; ++k) ASSERT_EQ(model.step(input).status, StepStatus::ok);
  // Implicit Euler: x_n = x_0 + h² g n(n+1)/2.
  const double drop = -9.81 * input.dt * input.dt * steps * (steps + 1) / 2;
  const Points moved = model.body_positions(0) - body.mesh.vertices;
  EXPECT_LT((moved.col(1).array() - drop).abs().maxCoeff(), 1e-10);
  EXPECT_LT(moved.col(0).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SolidModel, MomentumOfAFreeSpinningBody) {
  double losses[2];
  int k = 0;
  for (const double dt : {0.01, 0.005}) {
    SolidModel model({spinning_box()}, tight());
    StepInput input;
    input.dt = dt;
    const Vec3 p0 = momentum(model), l0 = angular_momentum(model);
    for (int step = 0; step < static_cast<int>(0.2 / dt + 0.5); ++step) {
      const Points v = model.solver().state().velocities;
      const Vec3 before = angular_momentum(model);
      ASSERT_EQ(model.step(input).status, StepStatus::ok);
      // L' = L + h Σ m v'×v for implicit Euler with forces that have no moment.
      Vec3 change = Vec3::Zero();
      for (Eigen::Index i = 0; i < v.rows(); ++i) {
        change +=
            dt * model.solver().masses()[i] *
            Vec3(model.solver().state().velocities.row(i).transpose()).cross(Vec3(v.row(i).transpose()));
      }
      EXPECT_LT((angular_momentum(model) - before - change).norm(), 1e-9 * l0.norm());
    }
    EXPECT_LT((momentum(model) - p0).norm(), 1e-11 * p0.norm());
    losses[k++] = (angular_momentum(model) - l0).norm() / l0.norm();
  }
  EXPECT_LT(losses[1], 0.6 * losses[0]);
}

TEST(SolidModel, NoEnergyFromNothingOverALongRun) {
  SolidModel model({spinning_box()}, tight());
  StepInput input;
  input.dt = 0.02;
  const auto total = [&] {
    const ImplicitState& s = model.solver().state();
    return model.internal_energy() +
           0.5 * (s.velocities.rowwise().squaredNorm().transpose() * model.solver().masses())(0);
  };
  double previous = total();
  for (int step = 0; step < 200; ++step) {
    ASSERT_EQ(model.step(input).status, StepStatus::ok);
    EXPECT_LE(total(), previous * (1 + 1e-9));
    previous = total();
  }
}

TEST(SolidModel, SameBitsForAnyThreadsAndAfterResuming) {
  std::vector<Points> ends;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    SolidModel model = make_twisting_cuboid({5, 5, 9}, ExampleMethod::incompatible, LinearMethod::automatic);
    StepInput input;
    input.dt = 0.01;
    input.forces = compression_forces(model, 3000);
    for (int step = 0; step < 6; ++step) {
      ASSERT_EQ(model.step(input).status, StepStatus::ok);
      // State out and in again after every step must change nothing.
      if (threads == 2) {
        SolidModel other =
            make_twisting_cuboid({5, 5, 9}, ExampleMethod::incompatible, LinearMethod::automatic);
        other.set_state(model.state());
        SolidModel::State state = other.state();
        model.set_state(std::move(state));
      }
    }
    ends.push_back(model.body_positions(0));
  }
  set_thread_count(0);
  EXPECT_TRUE((ends[0].array() == ends[1].array()).all());
  EXPECT_TRUE((ends[0].array() == ends[2].array()).all());
}

TEST(Plasticity, ThreeCuboidsOfFigure4) {
  const CuboidResult conventional = compress_cuboid(PlasticCase::conventional);
  EXPECT_LT(std::abs(conventional.twist_degrees), 0.1);
  EXPECT_LT(conventional.height_change, -0.10);
  EXPECT_NEAR(conventional.largest_plastic, 0.43, 0.05);
  const CuboidResult projected = compress_cuboid(PlasticCase::projected);
  EXPECT_GT(std::abs(projected.twist_degrees), 20);
  const CuboidResult penalised = compress_cuboid(PlasticCase::distance_dependent);
  EXPECT_LT(std::abs(penalised.twist_degrees), 0.1);
  EXPECT_LT(std::abs(penalised.height_change), 1e-3);
}

TEST(Examples, DriftIsSmallBesideTheConventionalPotential) {
  const DriftResult result = drift_experiment({5, 5, 9}, 100);
  EXPECT_GE(result.force_ratio, 100);
  EXPECT_NEAR(result.weight_of_largest, 0.5, 0.15);
  EXPECT_TRUE(result.single_bump);
  EXPECT_LT(result.energy_at_examples, 1e-8 * result.largest_energy);
}

TEST(Examples, CompatibleAndIncompatibleAgreeOnTheTwist) {
  double twist[2];
  int k = 0;
  for (const ExampleMethod method : {ExampleMethod::incompatible, ExampleMethod::compatible}) {
    SolidModel model = make_twisting_cuboid({5, 5, 9}, method, LinearMethod::direct);
    StepInput input;
    input.dt = 0.01;
    input.forces = compression_forces(model, 4000);
    for (int step = 0; step < 40; ++step) {
      const StepOutcome outcome = model.step(input);
      ASSERT_EQ(outcome.status, StepStatus::ok) << outcome.newton.message();
    }
    twist[k++] = twist_angle(model);
  }
  EXPECT_GT(std::abs(twist[0]), 2);
  EXPECT_NEAR(twist[1] / twist[0], 1, 0.05);
}

}  // namespace
}  // namespace exemplar::fem
