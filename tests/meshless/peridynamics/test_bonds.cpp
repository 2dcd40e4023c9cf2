// Bond lists and the kernel against brute force.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {
namespace {

ParticleSet random_cloud(int count, std::uint64_t seed) {
  ParticleSet set;
  set.positions.resize(count, 3);
  for (int i = 0; i < count; ++i) {
    for (int a = 0; a < 3; ++a) set.positions(i, a) = uniform_random(seed, 3 * i + a);
    set.volumes.push_back(1e-3 * (0.5 + uniform_random(seed + 1, i)));
    set.body.push_back(i % 7 == 0 ? 1 : 0);
    set.on_surface.push_back(1);
  }
  return set;
}

Points shaken(const Points& rest, double amount, std::uint64_t seed) {
  Points moved = rest;
  for (Eigen::Index k = 0; k < moved.size(); ++k) {
    moved.data()[k] += amount * (2 * uniform_random(seed, static_cast<std::uint64_t>(k)) - 1);
  }
  return moved;
}

const std::vector<Material> two_materials = {{2200, 1e6, 0, 0}, {1500, 3e6, 0, 0}};

TEST(Bonds, AreAllPairsWithinTheHorizonOfOneBody) {
  const ParticleSet set = random_cloud(700, 5);
  const double horizon = 0.21;
  const BondModel model = build_bonds(set, two_materials, horizon, 0.05, StiffnessMode::paper);
  for (int i = 0; i < 700; ++i) {
    std::vector<int> expected;
    for (int j = 0; j < 700; ++j) {
      const double r = (set.positions.row(i) - set.positions.row(j)).norm();
      if (i != j && set.body[i] == set.body[j] && r <= horizon) expected.push_back(j);
    }
    const auto row = model.bonds.neighbour.begin() + model.bonds.begin[i];
    ASSERT_EQ(std::vector<int>(row, row + model.bonds.alive[i]), expected);
    ASSERT_EQ((model.bonds.end(i) - model.bonds.begin[i]) % BondList::width, 0);
  }
}

TEST(Bonds, ALatticeTakesSixBytesPerBond) {
  const ParticleSet set = cube_grid(32, 32, 32, 1e-3);
  for (const StiffnessMode mode : {StiffnessMode::paper, StiffnessMode::taper, StiffnessMode::calibrated}) {
    const BondList bonds = build_bonds(set, two_materials, 3e-3, 1e-3, mode).bonds;
    EXPECT_LT(static_cast<double>(bonds.bytes()) / static_cast<double>(bonds.directed_bonds()), 6.5);
    EXPECT_GT(bonds.kinds.size(), 6U);
    EXPECT_LT(bonds.kinds.size(), 2000U);
  }
  const BondList cloud =
      build_bonds(random_cloud(2000, 5), two_materials, 0.25, 0.06, StiffnessMode::paper).bonds;
  EXPECT_TRUE(cloud.kind.empty());
  EXPECT_EQ(cloud.pull.size(), cloud.neighbour.size());
}

TEST(Bonds, KindsAreTheBondsOfTheirPlaces) {
  ParticleSet set = cube_grid(12, 9, 7, 1e-3);
  set.positions.rowwise() += Eigen::RowVector3d(0.3, -0.7, 0.1);  // positions are rounded differently
  const BondModel model = build_bonds(set, two_materials, 3e-3, 1e-3, StiffnessMode::calibrated);
  const BondList& bonds = model.bonds;
  ASSERT_FALSE(bonds.kind.empty());
  for (int i = 0; i < static_cast<int>(bonds.particles()); ++i) {
    for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
      const int j = bonds.neighbour[b];
      const double r0 = (set.positions.row(j) - set.positions.row(i)).norm();
      const double k = 0.5 * (model.stiffness[i] + model.stiffness[j]);
      const double w = k * partial_volume(r0, 3e-3, 1e-3) * set.volumes[i] * set.volumes[j];
      ASSERT_NEAR(bonds.kind_of(b).inverse_square * r0 * r0, 1, 2e-13);
      ASSERT_NEAR(bonds.kind_of(b).pull * r0 / w, 1, 2e-13);
      const BondKind other = bonds.kind_of(bonds.find(j, i));
      ASSERT_EQ(bonds.kind_of(b).inverse_square, other.inverse_square);
      ASSERT_EQ(bonds.kind_of(b).pull, other.pull);
    }
  }
}

// The same numbers without the table.
BondList written_out(const BondList& bonds) {
  BondList each = bonds;
  each.kind.clear();
  each.kinds.clear();
  for (std::size_t b = 0; b < bonds.neighbour.size(); ++b) {
    const BondKind kind = bonds.kind_of(static_cast<std::int64_t>(b));
    each.inverse_square.push_back(kind.inverse_square);
    each.pull.push_back(kind.pull);
  }
  return each;
}

TEST(Kernel, KindsGiveTheSameForcesAndBreakTheSameBonds) {
  const ParticleSet set = cube_grid(9, 8, 7, 1e-3);
  BondList kinds = build_bonds(set, two_materials, 3e-3, 1e-3, StiffnessMode::calibrated).bonds;
  ASSERT_FALSE(kinds.kind.empty());
  BondList each = written_out(kinds);
  AlignedVector<Record> records(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Vec3 x = set.positions.row(static_cast<Eigen::Index>(i));
    const double wave = 1e-5 * std::sin(0.7 * static_cast<double>(i));
    records[i] = {x.x() + wave, x.y() - wave, x.z() + 0.5 * wave, squared_limit(5e-3, 1)};
  }
  const Rules rules;
  int broke = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < static_cast<int>(set.size()); ++i) {
      const RowForce a = choose_kernel(kinds, rules)(kinds, records.data(), i, rules);
      const RowForce b = choose_kernel(each, rules)(each, records.data(), i, rules);
      ASSERT_EQ(std::tie(a.x, a.y, a.z, a.least_strain, a.released),
                std::tie(b.x, b.y, b.z, b.least_strain, b.released));
      broke += a.broke;
    }
    ASSERT_EQ(kinds.alive, each.alive);
    kinds.close_gaps();
    each.close_gaps();
  }
  EXPECT_GT(broke, 100);
}

TEST(Bonds, PlateHasTheKnownNumberOfBonds) {
  const ParticleSet set = cube_grid(128, 128, 8, 1e-3);
  EXPECT_EQ(build_bonds(set, two_materials, 3e-3, 1e-3, StiffnessMode::paper).bonds.directed_bonds(),
            13449224);
}

TEST(Bonds, CurveOrderIsAPermutationThatKeepsNeighboursClose) {
  const ParticleSet set = cube_grid(32, 32, 32, 1.0);
  const std::vector<int> order = curve_order(set.positions);
  std::vector<int> seen(set.size(), 0);
  double path = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ++seen[order[i]];
    if (i > 0) path += (set.positions.row(order[i]) - set.positions.row(order[i - 1])).norm();
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(set.size()));
  EXPECT_LT(path / static_cast<double>(set.size()), 1.2);
}

// Accelerations by a double loop over all pairs in plain formulas, breaking included.
Points brute_force(const ParticleSet& set, const Points& x, double horizon, double tau, double spacing) {
  Points a = Points::Zero(x.rows(), 3);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.rows(); ++j) {
      const double r0 = (set.positions.row(i) - set.positions.row(j)).norm();
      if (i == j || set.body[i] != set.body[j] || r0 > horizon) continue;
      const Material& material = two_materials[set.body[i]];
      const double k = 18 * material.bulk_modulus / (std::numbers::pi * std::pow(horizon, 4));
      const double beta = std::abs(r0 - horizon) <= spacing / 2 ? (horizon + spacing / 2 - r0) / spacing : 1;
      const Eigen::RowVector3d d = x.row(i) - x.row(j);
      const double strain = d.norm() / r0 - 1;
      if (strain > tau) continue;
      a.row(i) -= k * beta * set.volumes[j] * strain / material.density * d.normalized();
    }
  }
  return a;
}

TEST(Kernel, MatchesBruteForceWithBreakingBonds) {
  const ParticleSet set = random_cloud(500, 11);
  const double horizon = 0.25, spacing = 0.06, tau = 0.3;
  const Points moved = shaken(set.positions, 0.03, 3);
  std::vector<Material> materials = two_materials;
  for (Material& material : materials) material.critical_strain = tau;
  Rules rules;
  rules.stiffness = StiffnessMode::taper;
  rules.contact = ContactModel::none;
  rules.strength_spread = 0;
  const Points expected = brute_force(set, moved, horizon, tau, spacing);
  for (const bool portable : {false, true}) {
    Solver solver(set, materials, rules, horizon, spacing);
    solver.use_portable_kernel(portable);
    solver.set_positions(moved);
    solver.evaluate();
    EXPECT_GT(solver.broken_bonds(), 100);
    EXPECT_LT((solver.accelerations() - expected).cwiseAbs().maxCoeff(),
              1e-12 * expected.cwiseAbs().maxCoeff());
    // The rows have been closed up; a second evaluation must see the same bonds.
    solver.evaluate();
    EXPECT_LT((solver.accelerations() - expected).cwiseAbs().maxCoeff(),
              1e-12 * expected.cwiseAbs().maxCoeff());
  }
}

// Small strains go through a polynomial, large ones through a root: both, and the seam between them, against
// long double; the two copies of the bond must pull with exactly opposite forces.
TEST(Kernel, OneBondAtEveryStrain) {
  ParticleSet set = cube_grid(2, 1, 1, 0.01);
  Rules rules;
  rules.stiffness = StiffnessMode::paper;
  rules.contact = ContactModel::none;
  const Material stone{2000, 1e9, 0, 0};
  const double r0 = 0.01, k = 18e9 / (std::numbers::pi * std::pow(0.02, 4)), volume = 1e-6;
  for (int n = -2000; n <= 2000; ++n) {
    const double stretch = n * std::abs(n) * 1e-8;  // −4 % to 4 %, dense around 0
    Points x = set.positions;
    x.row(1) = x.row(0) + (1 + stretch) * r0 * Eigen::RowVector3d(0.48, 0.6, 0.64);
    const Eigen::RowVector3d d = x.row(1) - x.row(0);
    const long double length =
        sqrtl((long double)d[0] * d[0] + (long double)d[1] * d[1] + (long double)d[2] * d[2]);
    const double expected = static_cast<double>(k * volume / 2000 * (length / r0 - 1));
    Solver solver(set, std::span(&stone, 1), rules, 0.02, r0);
    solver.set_positions(x);
    solver.evaluate();
    const Points a = solver.accelerations();
    EXPECT_NEAR(a.row(0).dot(d.normalized()), expected, 1e-15 * k * volume / 2000) << stretch;
    EXPECT_EQ(a.row(0), -a.row(1)) << stretch;
  }
}

TEST(Bonds, ClosingGapsChangesNoForce) {
  const auto rows = [](const BondList& list) {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < list.particles(); ++i) {
      std::vector<double> row;
      for (std::int64_t b = list.begin[i]; b < list.end(i); ++b) {
        const BondKind kind = list.kind_of(b);
        row.insert(row.end(), {double(list.neighbour[b]), kind.inverse_square, kind.pull});
      }
      all.push_back(row);
    }
    return all;
  };
  BondList cloud =
      build_bonds(random_cloud(400, 5), two_materials, 0.25, 0.06, StiffnessMode::calibrated).bonds;
  BondList lattice =
      build_bonds(cube_grid(8, 8, 8, 1e-3), two_materials, 3e-3, 1e-3, StiffnessMode::calibrated).bonds;
  ASSERT_TRUE(cloud.kind.empty());
  ASSERT_FALSE(lattice.kind.empty());
  for (BondList* bonds : {&cloud, &lattice}) {
    bonds->close_gaps();
    const std::int64_t whole = bonds->begin.back();
    bonds->remove([](int i, int j) { return (i + j) % 3 != 0; });
    EXPECT_EQ(bonds->begin.back(), whole);
    const auto before = rows(*bonds);
    bonds->close_gaps();
    EXPECT_LT(bonds->begin.back(), whole / 2);
    EXPECT_EQ(rows(*bonds), before);
  }
}

TEST(Kernel, ForceIsTheGradientOfTheEnergy) {
  const ParticleSet set = random_cloud(60, 2);
  const Points moved = shaken(set.positions, 0.01, 4);
  Rules rules;
  rules.contact = ContactModel::none;
  Solver solver(set, two_materials, rules, 0.4, 0.1);
  solver.set_positions(moved);
  solver.evaluate();
  const Points a = solver.accelerations();
  const std::vector<double> masses = solver.masses();
  for (const int k : {0, 31, 77, 150}) {
    const double step = 1e-6;
    double energy[2];
    for (const int side : {0, 1}) {
      Points probe = moved;
      probe.data()[k] += side == 0 ? -step : step;
      solver.set_positions(probe);
      energy[side] = solver.energies().elastic;
    }
    const double force = a.data()[k] * masses[k / 3];
    EXPECT_NEAR(-(energy[1] - energy[0]) / (2 * step), force, 1e-6 * std::abs(force) + 1e-7);
  }
}

TEST(Kernel, BreakRulesAndOrder) {
  // Two particles: the bond is stretched by 2 %, the particles' limits are drawn apart by the random spread.
  ParticleSet set = cube_grid(2, 1, 1, 1.0);
  const Material material{1000, 1e6, 0, 0.02};
  Points stretched = set.positions * 1.02;
  const auto broken = [&](Rules rules, int passes) {
    rules.contact = ContactModel::none;
    Solver solver(set, std::span(&material, 1), rules, 1.5, 1.0);
    solver.set_positions(stretched);
    for (int p = 0; p < passes; ++p) solver.evaluate();
    return std::pair(solver.broken_bonds(), solver.accelerations()(0, 0));
  };
  Rules rules;
  rules.strength_spread = 0.02;
  // Find a seed whose two limits lie on both sides of the strain.
  const auto limits = [&](std::uint64_t seed) {
    rules.seed = seed;
    return Solver(set, std::span(&material, 1), rules, 1.5, 1.0).strain_limits();
  };
  std::uint64_t seed = 1;
  while ((limits(seed)[0] - 0.02) * (limits(seed)[1] - 0.02) > -1e-9) ++seed;
  rules.break_rule = BreakRule::max;
  EXPECT_EQ(broken(rules, 1).first, 0);
  rules.break_rule = BreakRule::min;
  EXPECT_EQ(broken(rules, 1).first, 1);
  EXPECT_EQ(broken(rules, 1).second, 0);
  rules.break_order = BreakOrder::after_force;
  EXPECT_GT(broken(rules, 1).second, 0);
  EXPECT_EQ(broken(rules, 2).second, 0);
  rules.break_in_first_pass = false;
  EXPECT_EQ(broken(rules, 1).first, 0);
}

TEST(Kernel, CompressionStrengthens) {
  const ParticleSet set = cube_grid(3, 1, 1, 1.0);
  const Material material{1000, 1e6, 0, 0.01};
  Rules rules;
  rules.strength_spread = 0;
  Solver solver(set, std::span(&material, 1), rules, 1.5, 1.0);
  Points x = set.positions;
  x(0, 0) = 0.2;  // first bond at strain −0.2, second at 0
  solver.set_positions(x);
  solver.evaluate();
  const std::vector<double> tau = solver.strain_limits();
  EXPECT_NEAR(tau[0], 0.01 + 0.25 * 0.2, 1e-14);
  EXPECT_NEAR(tau[1], 0.01 + 0.25 * 0.2, 1e-14);
  EXPECT_NEAR(tau[2], 0.01, 1e-14);
}

TEST(Kernel, WeakenedBondsBreakFirst) {
  const ParticleSet set = cube_grid(12, 3, 3, 1.0);
  const Material material{1000, 1e6, 0, 0.02};
  Rules rules;
  rules.weak_factor = 0.5;
  rules.strength_spread = 0;
  Solver solver(set, std::span(&material, 1), rules, 2.0, 1.0);
  const auto crosses = [&](int i, int j) { return set.positions(i, 0) < 5.5 && set.positions(j, 0) > 5.5; };
  solver.weaken_bonds(crosses);
  Points x = set.positions;
  x.col(0) *= 1.015;
  solver.set_positions(x);
  solver.evaluate();
  for (int i = 0; i < 108; ++i) {
    for (int j = 0; j < 108; ++j) {
      const double r0 = (set.positions.row(i) - set.positions.row(j)).norm();
      const double strain = (x.row(i) - x.row(j)).norm() / r0 - 1;
      if (i == j || r0 > 2) continue;
      const bool weak = crosses(i, j) || crosses(j, i);
      ASSERT_EQ(solver.bonded(i, j), !(weak && strain > 0.01)) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace exemplar::peridynamics
