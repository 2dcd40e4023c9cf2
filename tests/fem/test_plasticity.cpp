// The plastic update alone, on single elements: yield, rate, penalty, volume, and that it never makes energy.
#include "fem/plasticity.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "core/base/random.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/cuboid_cases.h"
#include "fem/solid_model.h"

namespace exemplar::fem {
namespace {

constexpr double k_mu = 100, k_kappa = 250;

TetMesh one_tet() {
  TetMesh mesh;
  mesh.vertices = Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tets = Tets{{0, 1, 2, 3}};
  return mesh;
}

Points moved_by(const Mat3& f) {
  return one_tet().vertices * f.transpose();
}

// One element held at a total deformation.
struct Sample {
  ElasticEnergy energy = ModifiedStVK{k_mu, k_kappa};
  TetElements elements{one_tet()};
  Plasticity plasticity;

  explicit Sample(const PlasticParameters& parameters, const std::vector<Points>& poses = {})
      : plasticity(elements, parameters, poses) {}
  bool flow(const Mat3& total, double dt) {
    return plasticity.update(moved_by(total), energy, dt, elements).flowed;
  }
  Mat3 elastic(const Mat3& total) const { return total * plasticity.inverse()[0]; }
  double stored(const Mat3& total) const { return elastic_energy(energy, elements, moved_by(total)); }
};

// Cauchy stress of modified St. Venant–Kirchhoff for stretches without change of volume: σ_i = μ s_i² (s_i² −
// 1).
double stress_of(const Vec3& s) {
  return (k_mu * s.array().square() * (s.array().square() - 1)).matrix().norm();
}

Mat3 stretch(double s) {
  return Vec3(s, 1 / std::sqrt(s), 1 / std::sqrt(s)).asDiagonal();
}

TEST(Plasticity, NothingFlowsBelowTheYieldStress) {
  const Mat3 total = stretch(1.1);
  const double stress = stress_of(total.diagonal());
  Sample below({1.001 * stress, 5, 0}), above({0.999 * stress, 5, 0});
  EXPECT_FALSE(below.flow(total, 0.01));
  EXPECT_EQ(below.plasticity.inverse()[0], Mat3(Mat3::Identity()));
  EXPECT_EQ(below.plasticity.largest(), 0);
  EXPECT_TRUE(above.flow(total, 0.01));
  EXPECT_GT(above.plasticity.largest(), 0);
}

// Small strains: the elastic strain falls at the rate ν (‖σ‖ − τ)/‖σ‖, so that ‖σ‖ = τ + (‖σ₀‖ − τ) exp(−νt).
TEST(Plasticity, StressRelaxesToTheYieldStressAtTheGivenRate) {
  const Mat3 total = stretch(1.001);
  const double first = stress_of(total.diagonal()), yield = 0.4 * first, rate = 7;
  Sample sample({yield, rate, 0});
  const double dt = 1e-3;
  for (int k = 1; k <= 1000; ++k) {
    sample.flow(total, dt);
    if (k % 100 != 0) continue;
    const double stress = stress_of(sample.elastic(total).diagonal());
    EXPECT_NEAR(stress, yield + (first - yield) * std::exp(-rate * k * dt), 5e-3 * first) << k;
  }
}

TEST(Plasticity, OneLongStepIsManyShortOnes) {
  const Mat3 total = stretch(1.05);
  Sample once({1, 5, 0}), often({1, 5, 0});
  once.flow(total, 0.4);  // ν Δt = 2: ten pieces
  for (int k = 0; k < 10; ++k) often.flow(total, 0.04);
  EXPECT_LT((once.plasticity.inverse()[0] - often.plasticity.inverse()[0]).norm(), 1e-12);
}

TEST(Plasticity, ThePenaltyRaisesTheYieldStressWithTheDistance) {
  const Mat3 total = stretch(1.2);
  const double stress = stress_of(total.diagonal());
  const std::vector<Points> on{moved_by(stretch(1.2))}, off{moved_by(stretch(0.8))};
  // On the example there is no distance; the squeezed example is nearest in its rest shape, d = ‖E‖.
  Sample with_example({0.5 * stress, 5, 1e9}, on);
  EXPECT_TRUE(with_example.flow(total, 0.01));
  const double distance = green_strain(total).norm(), eta = 0.5 * stress / distance;
  Sample below({0.5 * stress, 5, 1.01 * eta}, off);
  EXPECT_FALSE(below.flow(total, 0.01));
  // Above it the projection of the strain is rest: there is nothing to flow towards.
  Sample above({0.5 * stress, 5, 0.9 * eta}, off);
  above.flow(total, 0.01);
  EXPECT_LT(above.plasticity.largest(), 1e-12);
}

Mat3 random_state(std::uint64_t seed, double size) {
  Mat3 f = Mat3::Identity();
  for (int i = 0; i < 9; ++i) f(i) += size * normal_random(seed, static_cast<std::uint64_t>(i));
  return f;
}

// Without the check of W_i a tenth of these raise it, by up to 1.7 %.
TEST(Plasticity, NoFlowMakesEnergyOrChangesVolume) {
  int flowed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Mat3 total = random_state(3 * seed, 0.2);
    std::vector<Points> poses;
    for (std::uint64_t i = 1; i <= seed % 3; ++i) {
      const Mat3 pose = random_state(3 * seed + i, 0.3);
      if (pose.determinant() > 0.1) poses.push_back(moved_by(pose));
    }
    Sample sample({0.1, 20, 0}, poses);
    for (int step = 0; step < 5; ++step) {
      const double before = sample.stored(total);
      flowed += sample.flow(total, 0.01) ? 1 : 0;
      EXPECT_LE(sample.stored(total), before * (1 + 1e-12)) << seed;
      EXPECT_NEAR(sample.plasticity.inverse()[0].determinant(), 1, 1e-12) << seed;
    }
  }
  EXPECT_GT(flowed, 1000);
}

// A compressed box with an elastic and a plastic example: what W_i and W_p lose at the same place is the
// dissipation.
TEST(Plasticity, DissipationCountsBothPotentials) {
  SolidBody body;
  body.mesh = tet_box({1, 1, 2}, {3, 3, 5});
  body.energy = ModifiedStVK{1e4, 2e4};
  ExampleSet set;
  set.poses = {twisted_pose(body.mesh.vertices, 2, 60, 0.8)};
  body.examples.push_back(set);
  PlasticBody plastic;
  plastic.parameters = {500, 10, 0};
  body.plastic = plastic;
  body.positions = body.mesh.vertices;
  body.positions.col(2) *= 0.8;
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  SolidModel frozen({body}, options), flowing({body}, options);
  StepInput input;
  input.dt = 0.01;
  for (int step = 0; step < 5; ++step) {
    frozen.set_state(flowing.state());
    frozen.plasticity_frozen = true;
    ASSERT_EQ(frozen.step(input).status, StepStatus::ok);
    const double before = flowing.plastic_dissipation();
    ASSERT_EQ(flowing.step(input).status, StepStatus::ok);
    ASSERT_EQ(frozen.body_positions(0), flowing.body_positions(0));
    const double internal = frozen.internal_energy() - flowing.internal_energy();
    const double examples = frozen.example_energy() - flowing.example_energy();
    EXPECT_GT(std::abs(examples), 1e-3 * internal);  // W_p is no small part
    EXPECT_NEAR(flowing.plastic_dissipation() - before, internal + examples, 1e-9 * internal);
  }
}

}  // namespace
}  // namespace exemplar::fem
