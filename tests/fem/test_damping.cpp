// Viscosity acts on the rate of strain: rigid motions of any size cost nothing, neither momentum changes, and
// a bar creeps as the textbook's Kelvin–Voigt solid does.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/mesh/volume/tet_box.h"
#include "core/world/rotation.h"
#include "fem/solid_model.h"
#include "tests/support/derivatives.h"

namespace exemplar::fem {
namespace {

Points noisy(const Points& x, double size, std::uint64_t seed) {
  Points out = x;
  for (Eigen::Index i = 0; i < out.size(); ++i)
    out.data()[i] += size * normal_random(seed, static_cast<std::uint64_t>(i));
  return out;
}

Vec3 angular_momentum(const SolidModel& model) {
  const ImplicitState& state = model.solver().state();
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index i = 0; i < state.positions.rows(); ++i) {
    const Vec3 x = state.positions.row(i), v = state.velocities.row(i);
    sum += model.solver().masses()[i] * x.cross(v);
  }
  return sum;
}

SolidModel spinning_bar(double damping) {
  SolidBody body;
  body.mesh = tet_box({1, 0.1, 0.1}, {9, 2, 2});
  body.energy = make_energy(ElasticModel::modified_stvk, 1e6, 0.3);
  body.damping = damping;
  body.velocities.resize(body.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i)
    body.velocities.row(i) = Vec3(0, 0, 15).cross(Vec3(body.mesh.vertices.row(i).transpose())).transpose();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-9;
  return SolidModel({std::move(body)}, std::move(options));
}

TEST(Damping, ASpinningBarKeepsItsAngularMomentum) {
  // Stretched by its spin (8 %), which is what made rotations cost work: a tenth was lost in this time.
  SolidModel damped = spinning_bar(0.02), free = spinning_bar(0);
  StepInput input;
  input.dt = 2.5e-4;
  const double first = angular_momentum(damped).z();
  for (int k = 0; k < 400; ++k) {
    input.time += input.dt;
    ASSERT_EQ(damped.step(input).status, StepStatus::ok);
    ASSERT_EQ(free.step(input).status, StepStatus::ok);
  }
  // Implicit Euler itself loses about h ω² in a second.
  EXPECT_NEAR(angular_momentum(free).z(), first, 0.01 * first);
  EXPECT_NEAR(angular_momentum(damped).z(), angular_momentum(free).z(), 1e-3 * first);
  EXPECT_GT(damped.solver().state().energies.damping, 0);
}

struct Viscosity {
  TetMesh mesh = tet_box({1, 0.5, 0.5}, {3, 2, 2});
  TetElements elements{mesh};
  std::vector<int> columns;
  BlockPattern pattern{static_cast<int>(mesh.vertices.rows()), elements.nodes, 4};
  ViscousTerm term{elements, {3, 5}, 0.1};
  Points start = noisy(mesh.vertices, 0.05, 1);

  Viscosity() {
    for (int i = 0; i < mesh.vertices.rows(); ++i) columns.push_back(i);
    term.connect(pattern, columns);
    term.begin_step({0.05, {{1, start}}});
  }
  static Points points(const VecX& z) { return Eigen::Map<const Points>(z.data(), z.size() / 3, 3); }
  static VecX flat_of(const Points& x) { return Eigen::Map<const VecX>(x.data(), x.size()); }
  VecX gradient(const Points& x) {
    Points g = Points::Zero(x.rows(), 3);
    VecX none;
    term.add_gradient(x, none, g, none);
    return flat_of(g);
  }
  MatX hessian(const Points& x, bool project) {
    BlockMatrix a(pattern);
    MatX c(pattern.dofs(), 0), d(0, 0);
    term.add_hessian(x, {}, project, a, c, d);
    return a.to_dense();
  }
};

TEST(Damping, DerivativesOfViscosity) {
  Viscosity v;
  const VecX z = Viscosity::flat_of(noisy(v.start, 0.1, 2));
  const auto g =
      testing::check_gradient([&](const VecX& y) { return v.term.value(Viscosity::points(y), {}); },
                              [&](const VecX& y) { return v.gradient(Viscosity::points(y)); }, z, 1e-2, 1e-7);
  EXPECT_TRUE(g.ok) << g.message;
  const auto h = testing::check_hessian([&](const VecX& y) { return v.gradient(Viscosity::points(y)); },
                                        [&](const VecX& y) { return v.hessian(Viscosity::points(y), false); },
                                        z, 1e-2, 1e-7);
  EXPECT_TRUE(h.ok) << h.message;
  const MatX projected = v.hessian(Viscosity::points(z), true);
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(projected);
  EXPECT_GT(eigen.eigenvalues().minCoeff(), -1e-12 * eigen.eigenvalues().maxCoeff());
  EXPECT_LT(
      Eigen::SelfAdjointEigenSolver<MatX>(v.hessian(Viscosity::points(z), false)).eigenvalues().minCoeff(),
      -1e-6 * eigen.eigenvalues().maxCoeff());
}

TEST(Damping, RigidMotionsOfAnySizeCostNothing) {
  Viscosity v;
  const double scale = v.term.value(noisy(v.start, 0.1, 2), {});
  ASSERT_GT(scale, 0);
  const Mat3 turn = exp_rotation(Vec3(0.7, -1.1, 0.4));
  const Points moved = (v.start * turn.transpose()).rowwise() + Vec3(3, 1, -2).transpose();
  EXPECT_LT(v.term.value(moved, {}), 1e-25 * scale);
  EXPECT_LT(v.gradient(moved).norm(), 1e-12 * scale);
  EXPECT_EQ(v.term.dissipated(v.start), 0);
}

TEST(Damping, ViscousForcesHaveNoResultantAndNoMoment) {
  Viscosity v;
  const Points x = noisy(v.start, 0.2, 3);
  const Points g = Viscosity::points(v.gradient(x));
  Vec3 moment = Vec3::Zero();
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    moment += Vec3(x.row(i).transpose()).cross(Vec3(g.row(i).transpose()));
  EXPECT_LT(g.colwise().sum().norm(), 1e-12 * g.norm());
  EXPECT_LT(moment.norm(), 1e-12 * g.norm());
}

TEST(Damping, BetweenStepsNothingIsDamped) {
  Viscosity v;
  v.term.end_step(v.start, {});
  EXPECT_EQ(v.term.value(noisy(v.start, 0.1, 2), {}), 0);
  EXPECT_EQ(v.gradient(noisy(v.start, 0.1, 2)).norm(), 0);
}

}  // namespace
}  // namespace exemplar::fem
