#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/output/described_state.h"
#include "meshless/mass_spring/checks/experiments.h"

namespace exemplar::mass_spring {
namespace {

TriMesh flat_sheet(int n) {
  TriMesh mesh;
  mesh.vertices.resize((n + 1) * (n + 1), 3);
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      mesh.vertices.row(i + (n + 1) * j) << static_cast<double>(i) / n, 0, static_cast<double>(j) / n;
  mesh.triangles.resize(2 * n * n, 3);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int a = i + (n + 1) * j;
      mesh.triangles.row(2 * (i + n * j)) << a, a + n + 1, a + 1;
      mesh.triangles.row(2 * (i + n * j) + 1) << a + 1, a + n + 1, a + n + 2;
    }
  return mesh;
}

SpringBody block(const SpringOptions& options, int n = 3) {
  return {make_tet_network(box_tets(Vec3(1, 1, 1), {n, n, n}), {}, {}), options};
}

SpringOptions undamped() {
  SpringOptions options;
  options.damping_ratio = 0.0;
  return options;
}

void shake(SpringBody& body, double amount) {
  for (Eigen::Index i = 0; i < body.positions.size(); ++i)
    body.positions.data()[i] += amount * normal_random(3, i);
}

TEST(Network, VolumeRuleHasTheSumThatGivesYoungsModulus) {
  NetworkOptions options;
  options.young = 3e6;
  for (const double share : {0.0, 0.25}) {
    options.cross_share = share;
    const Network solid = make_tet_network(box_tets(Vec3(2, 1, 1), {4, 2, 2}), {}, options);
    EXPECT_NEAR(solid.stiffness.dot(solid.rest_lengths.cwiseAbs2()), 6.0 * 3e6 * 2.0, 1.0);
    EXPECT_NEAR(solid.masses.sum(), 2000.0, 1e-9);
    const Network sheet = make_sheet_network(flat_sheet(4), options);
    EXPECT_NEAR(sheet.stiffness.dot(sheet.rest_lengths.cwiseAbs2()), 3.0 * 3e6 * options.thickness, 1e-6);
    EXPECT_NEAR(sheet.masses.sum(), 1.0, 1e-12);
  }
}

TEST(Network, KindsOfSpringsAndBadInput) {
  const Network sheet = make_sheet_network(flat_sheet(3), {});
  // 33 edges of a 3 × 3 sheet cut along diagonals, 21 inner ones with a bend spring across.
  EXPECT_EQ(std::count(sheet.kinds.begin(), sheet.kinds.end(), SpringKind::structural), 33);
  EXPECT_EQ(std::count(sheet.kinds.begin(), sheet.kinds.end(), SpringKind::bend), 21);
  TriMesh loose = flat_sheet(1);
  Points with_stray(5, 3);
  with_stray.topRows(loose.vertices.rows()) = loose.vertices;
  loose.vertices = with_stray;
  loose.vertices.row(4) << 9, 9, 9;
  EXPECT_THROW(make_sheet_network(loose, {}), InputError);
  TriMesh collapsed = flat_sheet(2);
  collapsed.vertices.row(1) = collapsed.vertices.row(0);
  EXPECT_THROW(make_sheet_network(collapsed, {}), InputError);
}

TEST(SpringBody, ForcesAreTheGradientOfTheEnergy) {
  SpringBody body = block(undamped(), 2);
  shake(body, 0.05);
  const Points forces = body.spring_forces();
  const double step = 1e-6;
  for (const Eigen::Index k : {0, 7, 22, 40}) {
    const double x = body.positions.data()[k];
    body.positions.data()[k] = x + step;
    const double high = body.elastic_energy();
    body.positions.data()[k] = x - step;
    const double low = body.elastic_energy();
    body.positions.data()[k] = x;
    EXPECT_NEAR(forces.data()[k], -(high - low) / (2.0 * step), 1e-4 * forces.cwiseAbs().maxCoeff());
  }
}

TEST(SpringBody, StepsAreVerletsOfEquation23) {
  SpringBody body = block(undamped(), 2);
  shake(body, 0.02);
  const double h = 0.5 * body.stable_step();
  const Vec3 g(0, -9.81, 0);
  Points previous = body.positions, now = body.positions;
  for (int k = 0; k < 50; ++k) {
    SpringBody probe = block(undamped(), 2);
    probe.positions = now;
    Points a = body.network().masses.cwiseInverse().asDiagonal() * probe.spring_forces();
    a.rowwise() += g.transpose();
    const Points next = 2.0 * now - previous + h * h * a;
    previous = now;
    now = next;
    body.step(h, g);
    ASSERT_LT((body.positions - now).cwiseAbs().maxCoeff(), 1e-12) << k;
  }
}

TEST(SpringBody, ConservesMomentumAndEnergy) {
  SpringBody body = block(undamped());
  shake(body, 0.03);
  const auto angular = [&] {
    Vec3 sum = Vec3::Zero();
    for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
      sum += body.network().masses(i) * Vec3(body.positions.row(i)).cross(Vec3(body.velocities.row(i)));
    return sum;
  };
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
    body.velocities.row(i) << 1, 0.5 * body.positions(i, 2), 0;
  const Vec3 p = (body.network().masses.transpose() * body.velocities).transpose(), l = angular();
  const double energy = body.elastic_energy() + body.kinetic_energy(), h = 0.2 * body.stable_step();
  for (int k = 0; k < 4000; ++k) body.step(h, Vec3::Zero());
  EXPECT_LT(((body.network().masses.transpose() * body.velocities).transpose() - p).norm(), 1e-10 * p.norm());
  EXPECT_LT((angular() - l).norm(), 1e-10 * p.norm());
  EXPECT_NEAR(body.elastic_energy() + body.kinetic_energy(), energy, 0.03 * energy);
}

TEST(SpringBody, TheStableStepIsStableAndALargerOneIsNot) {
  for (const double zeta : {0.0, 0.3}) {
    SpringOptions options;
    options.damping_ratio = zeta;
    SpringBody body = block(options);
    shake(body, 0.01);
    const double before = body.elastic_energy();
    for (int k = 0; k < 3000; ++k) body.step(body.stable_step(), Vec3::Zero());
    EXPECT_LT(body.elastic_energy() + body.kinetic_energy(), 4.0 * before) << zeta;
    SpringBody fast = block(options);
    shake(fast, 0.01);
    for (int k = 0; k < 300; ++k) fast.step(4.0 * fast.stable_step(), Vec3::Zero());
    EXPECT_FALSE(fast.elastic_energy() < 100.0 * before) << zeta;
  }
}

TEST(SpringBody, DampingTakesEnergyAndNoRigidMotion) {
  SpringOptions options;
  options.damping_ratio = 0.3;
  SpringBody body = block(options);
  body.velocities.rowwise() = Eigen::RowVector3d(2, -1, 3);
  shake(body, 0.02);
  for (int k = 0; k < 4000; ++k) body.step(body.stable_step(), Vec3::Zero());
  EXPECT_LT(body.elastic_energy(), 1e-3);
  EXPECT_LT((body.velocities.colwise().mean() - Eigen::RowVector3d(2, -1, 3)).norm(), 1e-2);
}

// What dampers and air have taken is what is missing, the nearer the smaller the step.
TEST(SpringBody, DampedEnergyIsWhatIsMissing) {
  SpringOptions options;
  options.air_drag = 20;
  for (const bool of_material : {false, true}) {
    options.damping_ratio = of_material ? 0.0 : 0.3;
    options.damping_time = of_material ? 0.3 * block(undamped()).stable_step() : 0.0;
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      SpringBody body = block(options);
      body.velocities.rowwise() = Eigen::RowVector3d(2, -1, 3);
      shake(body, 0.02);
      const double before = body.elastic_energy() + body.kinetic_energy();
      const double h = body.stable_step() / (k == 0 ? 10 : 40);
      for (int step = 0; step < (k == 0 ? 2000 : 8000); ++step) body.step(h, Vec3::Zero());
      const double missing = before - body.elastic_energy() - body.kinetic_energy();
      EXPECT_GT(missing, 0.1 * before);
      errors[k] = std::abs(body.damped_energy() - missing) / missing;
    }
    EXPECT_LT(errors[0], of_material ? 4e-3 : 1e-3);
    EXPECT_LT(errors[1], 0.6 * errors[0]);
  }
}

// Two masses on a spring: ω = √(2k/m), the material's β gives ζ = β ω/2; far above what an explicit step can bear the
// spring creeps back as exp(−t/β).
TEST(SpringBody, TheMaterialsDampingFollowsTheClosedForm) {
  SpringOptions options = undamped();
  Network network;
  network.rest_positions.resize(2, 3);
  network.rest_positions << 0, 0, 0, 1, 0, 0;
  network.springs.resize(1, 2);
  network.springs << 0, 1;
  network.rest_lengths = VecX::Constant(1, 1.0);
  network.stiffness = VecX::Constant(1, 200.0);
  network.masses = VecX::Constant(2, 1.0);
  const double omega = std::sqrt(2.0 * 200.0 / 1.0), start = 0.01, end = 0.2;
  for (const double zeta : {0.1, 0.5, 1e3}) {
    options.damping_time = 2.0 * zeta / omega;
    SpringBody body(network, options);
    body.positions(1, 0) += start;
    body.velocities.rowwise() = Eigen::RowVector3d(1, 2, 3);
    const double h = zeta > 1 ? body.stable_step() / 10 : 1e-5;
    const int steps = static_cast<int>(std::round(end / h));
    for (int k = 0; k < steps; ++k) body.step(end / steps, Vec3::Zero());
    const double damped = omega * std::sqrt(std::max(0.0, 1.0 - zeta * zeta));
    const double exact = zeta > 1
                             ? start * std::exp(-end / options.damping_time)
                             : start * std::exp(-zeta * omega * end) *
                                   (std::cos(damped * end) + zeta * omega / damped * std::sin(damped * end));
    EXPECT_NEAR(body.positions(1, 0) - body.positions(0, 0) - 1.0, exact, 1e-4 * start) << zeta;
    EXPECT_LT((body.velocities.colwise().mean() - Eigen::RowVector3d(1, 2, 3)).norm(), 1e-12);
  }
}

TEST(SpringBody, ConstraintsHoldLengthsAtLargeSteps) {
  SpringOptions options;
  options.integration = Integration::constraints;
  options.iterations = 200;
  options.air_drag = 2.0;
  Network rope;
  const int n = 20;
  rope.rest_positions.resize(n, 3);
  rope.springs.resize(n - 1, 2);
  for (int i = 0; i < n; ++i) rope.rest_positions.row(i) << 0.1 * i, 0, 0;
  for (int i = 0; i + 1 < n; ++i) rope.springs.row(i) << i, i + 1;
  rope.masses = VecX::Ones(n);
  rope.rest_lengths = VecX::Constant(n - 1, 0.1);
  rope.stiffness = VecX::Ones(n - 1);
  rope.kinds.assign(n - 1, SpringKind::structural);
  SpringBody body(rope, options);
  body.set_held({HeldNode{0}});
  for (int k = 0; k < 600; ++k) body.step(1.0 / 60.0, Vec3(0, -9.81, 0));
  EXPECT_NEAR(body.positions(n - 1, 1), -1.9, 0.03);  // hangs straight down, not stretched
  EXPECT_EQ(body.positions(0, 0), 0.0);
}

TEST(SpringBody, ConstraintsConserveMomentumWithUnequalMasses) {
  SpringOptions options;
  options.integration = Integration::constraints;
  SpringBody body = block(options, 2);
  shake(body, 0.1);
  for (int k = 0; k < 20; ++k) body.step(0.01, Vec3::Zero());
  EXPECT_LT((body.network().masses.transpose() * body.velocities).norm(), 1e-9 * body.network().masses.sum());
}

TEST(SpringBody, OverstretchedSpringsAreRemovedAndPullNoMore) {
  SpringOptions options = undamped();
  options.strain_limit = 0.2;
  SpringBody body = block(options, 1);
  body.positions.col(0) *= 1.5;
  const double before = body.elastic_energy();
  body.step(1e-9, Vec3::Zero());
  EXPECT_NEAR(body.released_energy(), before - body.elastic_energy(), 1e-6 * before);
  EXPECT_GT(body.released_energy(), 0.1 * before);
  EXPECT_GT(body.broken_springs(), 0);
  EXPECT_LT(body.broken_springs(), body.network().springs.rows());
  for (Eigen::Index s = 0; s < body.network().springs.rows(); ++s) {
    const double l =
        (body.positions.row(body.network().springs(s, 0)) - body.positions.row(body.network().springs(s, 1)))
            .norm();
    EXPECT_EQ(body.is_broken(s), l > 1.2 * body.network().rest_lengths(s));
  }
}

// What a spring held is that of half a step before it broke, where the velocities are.
TEST(SpringBody, WhatBreaksBringsNoEnergy) {
  SpringOptions options = undamped();
  options.strain_limit = 0.05;
  SpringBody body = block(options, 2);
  body.velocities.col(0) = 0.3 * body.positions.col(0) / body.stable_step() * 0.2;
  const auto sum = [&] { return body.kinetic_energy() + body.elastic_energy() + body.released_energy(); };
  const double start = sum();
  for (int k = 0; k < 40; ++k) body.step(body.stable_step(), Vec3::Zero());
  EXPECT_GT(body.broken_springs(), 0);
  EXPECT_GT(body.released_energy(), 0.01 * start);
  EXPECT_NEAR(sum(), start, 0.15 * body.released_energy());
}

TEST(SpringBody, ThreadsAndResumeDoNotChangeABit) {
  std::vector<StateArrays> states;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    SpringBody body = block({}, 10);
    shake(body, 0.01);
    for (int k = 0; k < 20; ++k) {
      body.step(body.stable_step(), Vec3(0, -9.81, 0));
      body.set_state(body.state());
    }
    states.push_back(arrays_of_state(body.state()));
  }
  set_thread_count(0);
  EXPECT_TRUE(states[0] == states[1]);
  EXPECT_TRUE(states[0] == states[2]);
}

// levine2014 §2: the stiffness of which network depends on the mesh.
TEST(SpringBody, BarStiffnessAtTwoResolutions) {
  const double volume2 = bar_modulus(2, StiffnessRule::volume),
               volume4 = bar_modulus(4, StiffnessRule::volume);
  const double uniform2 = bar_modulus(2, StiffnessRule::uniform),
               uniform4 = bar_modulus(4, StiffnessRule::uniform);
  EXPECT_NEAR(volume2, 1e6, 0.25e6);
  EXPECT_NEAR(volume4, 1e6, 0.25e6);
  EXPECT_NEAR(volume4 / volume2, 1.0, 0.05);
  EXPECT_GT(uniform4 / uniform2, 25.0 / 18.0);  // one k for all: (n + 1)² chains of n springs side by side
}

}  // namespace
}  // namespace exemplar::mass_spring
