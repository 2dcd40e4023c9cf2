// Elastic constants and cut energy of the simple cubic lattice against its exact lattice sums.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {
namespace {

constexpr double lattice_K = 10e9, lattice_rho = 2200, lattice_h = 1e-3;

struct Row {
  double ratio;
  StiffnessMode mode;
  int neighbours;
  double bulk, young, poisson, cut;
};

class Lattice : public ::testing::TestWithParam<Row> {
 protected:
  // A block in which the middle particle has its whole horizon, and whose bonds cannot break.
  void SetUp() override {
    const int n = 2 * static_cast<int>(GetParam().ratio) + 3;
    m_set = cube_grid(n, n, n, lattice_h);
    Rules rules;
    rules.stiffness = GetParam().mode;
    rules.contact = ContactModel::none;
    m_material.density = lattice_rho;
    m_material.bulk_modulus = lattice_K;
    m_solver.emplace(m_set, std::span(&m_material, 1), rules, GetParam().ratio * lattice_h, lattice_h);
    m_middle = (n * n * n) / 2;
  }
  // Strain energy density of the middle particle when space is stretched by (1 + e) along the axes.
  double density(const Vec3& e) {
    Points moved = m_set.positions;
    for (int a = 0; a < 3; ++a) moved.col(a) *= 1 + e[a];
    m_solver->set_positions(moved);
    return m_solver->elastic_energies()[m_middle] / m_set.volumes[m_middle];
  }
  ParticleSet m_set;
  Material m_material;
  std::optional<Solver> m_solver;
  int m_middle = 0;
};

TEST_P(Lattice, ElasticConstants) {
  const double e = 1e-6;
  // The energy is ½ C11 Σ e_a² + C12 Σ e_a e_b up to third order; the odd part cancels between ±e.
  const auto even = [&](const Vec3& s) { return 0.5 * (density(s) + density(-s)); };
  const double C11 = 2 * even({e, 0, 0}) / (e * e);
  const double C12 = even({e, e, 0}) / (e * e) - C11;
  const double bulk = even({e, e, e}) / (4.5 * e * e);
  EXPECT_EQ(m_solver->bonds().alive[std::find(m_solver->order().begin(), m_solver->order().end(), m_middle) -
                                    m_solver->order().begin()],
            GetParam().neighbours);
  EXPECT_NEAR(bulk / lattice_K, GetParam().bulk, 1e-4);
  EXPECT_NEAR((C11 + 2 * C12) / (3 * lattice_K), GetParam().bulk, 1e-4);
  EXPECT_NEAR((C11 - 2 * C12 * C12 / (C11 + C12)) / (1.5 * lattice_K), GetParam().young, 1e-4);
  EXPECT_NEAR(C12 / (C11 + C12), GetParam().poisson, 1e-4);
}

TEST_P(Lattice, CutEnergy) {
  // The bonds that one column along x sends across a (100) plane, all at strain τ.
  const double delta = GetParam().ratio * lattice_h, G = 3.8;
  const double tau = std::sqrt(5 * G / (9 * lattice_K * delta));
  const Vec3 middle = m_set.positions.row(m_middle);
  const double plane = middle.x() + 0.5 * lattice_h;
  double energy = 0;
  for (int i = 0; i < static_cast<int>(m_set.size()); ++i) {
    const Vec3 x = m_set.positions.row(i);
    if (x.x() > plane || std::abs(x.y() - middle.y()) + std::abs(x.z() - middle.z()) > 1e-9) continue;
    m_solver->for_each_bond(i, [&](int j, double length, double weight) {
      if (m_set.positions(j, 0) > plane) energy += 0.5 * weight * tau * tau * length;
    });
  }
  EXPECT_NEAR(energy / (lattice_h * lattice_h) / G, GetParam().cut, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(ExactSums, Lattice,
                         ::testing::Values(Row{2, StiffnessMode::paper, 32, .9714, 1.0812, .2217, .8746},
                                           Row{3, StiffnessMode::paper, 122, 1.1208, .9974, .2775, 1.1477},
                                           Row{4, StiffnessMode::paper, 256, .9432, .9264, .2544, .9133},
                                           Row{6, StiffnessMode::paper, 924, 1.0298, .9894, .2598, 1.0372},
                                           Row{3, StiffnessMode::taper, 122, .9002, .8330, .2687, .8731}));

TEST(Calibrated, EnergyDensityInTheBulkIsExact) {
  for (const double ratio : {2.0, 3.0, 4.0}) {
    const int n = 4 * static_cast<int>(ratio) + 1;
    const ParticleSet set = cube_grid(n, n, n, lattice_h);
    const Material material{lattice_rho, lattice_K, 0, 0};
    Rules rules;
    rules.contact = ContactModel::none;
    Solver solver(set, std::span(&material, 1), rules, ratio * lattice_h, lattice_h);
    const double e = 1e-5;
    solver.set_positions(set.positions * (1 + e));
    const double density = solver.elastic_energies()[n * n * n / 2] / set.volumes[0];
    EXPECT_NEAR(density / (4.5 * lattice_K * e * e), 1, 1e-6) << ratio;
  }
}

TEST(Calibrated, SurfaceSofteningIsMostlyGone) {
  // Energy of a whole dilated block over that of the continuum: 1 if surfaces were as stiff as the bulk.
  const auto relative = [](StiffnessMode mode) {
    const ParticleSet set = cube_grid(16, 16, 4, lattice_h);
    const Material material{lattice_rho, lattice_K, 0, 0};
    Rules rules;
    rules.stiffness = mode;
    Solver solver(set, std::span(&material, 1), rules, 3 * lattice_h, lattice_h);
    const double e = 1e-5;
    solver.set_positions(set.positions * (1 + e));
    return solver.energies().elastic /
           (4.5 * lattice_K * e * e * set.volumes[0] * static_cast<double>(set.size()));
  };
  EXPECT_LT(relative(StiffnessMode::taper), 0.65);
  EXPECT_NEAR(relative(StiffnessMode::calibrated), 1, 0.05);
}

TEST(Calibrated, StrengthGivesTheFractureEnergyOfACut) {
  const int n = 13;
  const double G = 10, delta = 3 * lattice_h;
  const ParticleSet set = cube_grid(n, n, n, lattice_h);
  const Material material{lattice_rho, lattice_K, G, 0};
  Rules rules;
  rules.strength_spread = 0;
  const Solver solver(set, std::span(&material, 1), rules, delta, lattice_h);
  const int middle = n * n * n / 2;
  const double tau = solver.strain_limits()[middle];
  // Mean over directions: every bond at strain τ, (ξ·n)⁺ → r0/4, one column per volume.
  double energy = 0;
  solver.for_each_bond(middle, [&](int, double length, double weight) {
    energy += 0.5 * weight / set.volumes[0] * tau * tau * length * length / 4;
  });
  EXPECT_NEAR(energy / G, 1, 1e-12);
  EXPECT_NEAR(tau / std::sqrt(5 * G / (9 * lattice_K * delta)), 1, 0.1);
}

TEST(Spread, IsKeyedByParticle) {
  const ParticleSet set = cube_grid(20, 20, 20, lattice_h);
  const Material material{lattice_rho, lattice_K, 0, 1e-3};
  Rules rules;
  const Solver solver(set, std::span(&material, 1), rules, 2 * lattice_h, lattice_h);
  // The same particles given in another order, with the same ids, keep their strength by id.
  const std::vector<double> tau = solver.strain_limits();
  double mean = 0, square = 0;
  for (const double t : tau) mean += t / static_cast<double>(tau.size());
  for (const double t : tau) square += (t - mean) * (t - mean) / static_cast<double>(tau.size());
  EXPECT_NEAR(mean, 1e-3, 1e-6);
  EXPECT_NEAR(std::sqrt(square) / 1e-3, 0.02, 5e-4);
  const ParticleSet fewer = cube_grid(20, 20, 10, lattice_h);
  const Solver half(fewer, std::span(&material, 1), rules, 2 * lattice_h, lattice_h);
  const std::vector<double> first = half.strain_limits();
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first[i], tau[i]);
}

}  // namespace
}  // namespace exemplar::peridynamics
