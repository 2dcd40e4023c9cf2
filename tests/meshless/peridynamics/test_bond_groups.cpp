// Bonds by fours: they are the bonds of the list, and the kernel on them is the kernel on rows.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/index.h"
#include "core/base/random.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics::bond_groups_test {  // its names are other files' too
namespace {

const Material glass{2200, 1e9, 0, 5e-3};
constexpr double spacing = 1e-3;

// The particles of a box inside a ball: rows of every length.
ParticleSet ball(int across) {
  const ParticleSet box = cube_grid(across, across, across, spacing);
  const double radius = 0.5 * across * spacing;
  const Vec3 middle = Vec3::Constant(0.5 * (across - 1) * spacing);
  ParticleSet out;
  std::vector<Eigen::Index> kept;
  for (std::size_t i = 0; i < box.size(); ++i) {
    if ((Vec3(box.positions.row(to_row(i))) - middle).norm() > radius) continue;
    kept.push_back(to_row(i));
    out.volumes.push_back(box.volumes[i]);
    out.body.push_back(0);
    out.on_surface.push_back(0);
  }
  out.positions = box.positions(kept, Eigen::all);
  return out;
}

ParticleSet in_memory_order(const ParticleSet& set) {
  const std::vector<int> order = memory_order(set, spacing);
  ParticleSet out = set;
  out.positions = set.positions(order, Eigen::all);
  return out;
}

struct Lattice {
  ParticleSet set;
  BondList bonds;
  BondGroups groups;
  explicit Lattice(const ParticleSet& particles, StiffnessMode mode = StiffnessMode::calibrated)
      : set(in_memory_order(particles)),
        bonds(build_bonds(set, std::span(&glass, 1), 3 * spacing, spacing, mode).bonds) {
    EXPECT_FALSE(bonds.kind.empty());
    groups.build(bonds);
  }
};

TEST(BondGroups, HoldEveryBondOnceWithItsKind) {
  for (const ParticleSet& particles : {cube_grid(13, 9, 5, spacing), ball(11)}) {
    Lattice lattice(particles, StiffnessMode::taper);
    const BondList& bonds = lattice.bonds;
    std::set<std::pair<int, int>> found;
    for (std::size_t g = 0; g < lattice.groups.size(); ++g) {
      for (const BondGroups::Entry& entry : lattice.groups.of(g)) {
        for (int l = 0; l < BondGroups::width; ++l) {
          if ((entry.alive() >> l & 1) == 0) continue;
          const int i = to_int(BondGroups::width * g) + l, j = i + entry.offset;
          ASSERT_LT(i, j);
          ASSERT_TRUE(found.emplace(i, j).second);
          const std::int64_t b = bonds.find(i, j);
          ASSERT_GE(b, 0);
          const BondGroups::Four& four = lattice.groups.fours[entry.four()];
          ASSERT_EQ(four.inverse_square[l], bonds.kind_of(b).inverse_square);
          ASSERT_EQ(four.pull[l], bonds.kind_of(b).pull);
        }
      }
    }
    EXPECT_EQ(2 * static_cast<std::int64_t>(found.size()), bonds.directed_bonds());
  }
}

// Chunks that are gone through at the same time write to different particles, those of lanes without a bond too.
TEST(BondGroups, EntriesLeadNoFurtherThanTheNextChunk) {
  for (const ParticleSet& particles : {cube_grid(64, 40, 8, spacing), ball(30), cube_grid(200, 3, 3, spacing),
                                       cube_grid(10, 10, 90, spacing)}) {
    const Lattice lattice(particles);
    const BondGroups& groups = lattice.groups;
    ASSERT_GE(groups.chunks(), 2u);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const BondGroups::Entry& entry : groups.of(g)) {
        const std::size_t last = BondGroups::width * g + BondGroups::width - 1 + to_size(entry.offset);
        ASSERT_LE(last / BondGroups::width / groups.chunk, g / groups.chunk + 1);
      }
    }
  }
}

// Positions are rounded, and the same bond in two places must not be of two kinds: a plate of a million bonds has few.
TEST(BondGroups, OfALatticeShareFewPatterns) {
  ParticleSet set = cube_grid(64, 40, 8, spacing);
  for (Eigen::Index i = 0; i < set.positions.rows(); ++i)
    set.positions.row(i) += Eigen::RowVector3d(0.1, 0.7, 0.3);
  const Lattice lattice(set);
  EXPECT_LT(lattice.bonds.kinds.size(), 550u);
  EXPECT_LT(lattice.groups.patterns.size(), 20000u);  // entries; 28 386 with 574 kinds
}

TEST(BondGroups, OfAPlateAreNearlyAllFull) {
  Lattice plate(cube_grid(64, 40, 8, spacing));
  EXPECT_GT(plate.groups.bonds_per_entry(plate.bonds), 3.85);
  Lattice round(ball(30), StiffnessMode::taper);
  EXPECT_GT(round.groups.bonds_per_entry(round.bonds), 3.6);
}

TEST(BondGroups, RowsOfALatticeStayTogetherAndOthersFollowTheCurve) {
  ParticleSet set = cube_grid(5, 24, 7, spacing);
  const std::vector<int> order = memory_order(set, spacing);
  std::set<int> seen(order.begin(), order.end());
  EXPECT_EQ(seen.size(), set.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (i % 24 == 0) continue;
    const Vec3 step = (set.positions.row(order[i]) - set.positions.row(order[i - 1])).transpose();
    ASSERT_LT((step - spacing * Vec3::UnitY()).norm(), 1e-12);
  }
  const ParticleSet plate = cube_grid(9, 24, 7, spacing);  // layers across the longest side, rows of nine
  const std::vector<int> of_plate = memory_order(plate, spacing);
  for (std::size_t i = 0; i < of_plate.size(); ++i) {
    const Vec3 expected(static_cast<double>(i % 9), static_cast<double>(i / 63),
                        static_cast<double>(i / 9 % 7));
    ASSERT_LT(
        (Vec3(plate.positions.row(of_plate[i])) - Vec3(plate.positions.row(of_plate[0])) - spacing * expected)
            .norm(),
        1e-12);
  }
  set.positions(17, 1) += 0.01 * spacing;
  EXPECT_EQ(memory_order(set, spacing), curve_order(set.positions));
}

// What is left of the groups is what they would be made anew, in the same order: a run that goes on from a saved state adds
// up as one that was never stopped.
void expect_groups_as_made_anew(Lattice& lattice) {
  BondGroups anew;
  anew.build(lattice.bonds);
  for (std::size_t g = 0; g < anew.size(); ++g) {
    const auto kept = lattice.groups.of(g), made = anew.of(g);
    ASSERT_EQ(kept.size(), made.size());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      ASSERT_EQ(kept[k].offset, made[k].offset);
      ASSERT_EQ(kept[k].alive(), made[k].alive());
    }
  }
}

// A pass as the solver makes it, on one thread.
std::vector<RowForce> pass_by_groups(Lattice& lattice, const AlignedVector<Record>& records,
                                     const Columns& positions, const Rules& rules) {
  const std::size_t count = records.size();
  Columns forces;
  forces.resize(count);
  for (std::size_t i = 0; i < count; ++i) forces.set(i, no_force(rules));
  std::vector<BrokenBond> broken;
  choose_group_kernel(rules)(lattice.bonds, lattice.groups, positions, 0, lattice.groups.size(), rules,
                             forces, broken);
  std::vector<RowForce> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(group_force(forces, i, rules));
  BondList& bonds = lattice.bonds;
  for (const BrokenBond& bond : broken) {
    for (const auto& [i, j] : {std::pair(bond.i, bond.j), std::pair(bond.j, bond.i)})
      break_bond(bonds, records.data(), i, bonds.find(i, j), bond.e, rules, out[to_size(i)]);
    lattice.groups.remove(bond.i, bond.j);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!out[i].broke) continue;
    bonds.close_row(to_int(i));
    lattice.groups.close(i / BondGroups::width);
  }
  return out;
}

void expect_same(const RowForce& grouped, const RowForce& row) {
  const double scale = 1e-13 * (1 + std::abs(row.x) + std::abs(row.y) + std::abs(row.z));
  ASSERT_NEAR(grouped.x, row.x, scale);
  ASSERT_NEAR(grouped.y, row.y, scale);
  ASSERT_NEAR(grouped.z, row.z, scale);
  ASSERT_EQ(grouped.least_strain, row.least_strain);
  ASSERT_EQ(grouped.broke, row.broke);
  ASSERT_NEAR(grouped.released, row.released, 1e-14 * row.released);
  for (int axis = 0; axis < 3; ++axis) {
    const double lost = std::abs(row.lost[0]) + std::abs(row.lost[1]) + std::abs(row.lost[2]);
    ASSERT_NEAR(grouped.lost[axis], row.lost[axis], 1e-13 * lost);
  }
}

void expect_same_energies(const Lattice& lattice, const AlignedVector<Record>& records,
                          const Columns& positions) {
  Columns energies;
  energies.resize(records.size());
  add_group_energies(lattice.groups, positions, 0, lattice.groups.size(), energies);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double row = row_energy(lattice.bonds, records.data(), to_int(i));
    ASSERT_NEAR(energies.column(0)[i], row, 1e-13 * row);
  }
}

// Layers are torn from each other, so that the longest offsets are gone when the state is saved: sums go on in the old order.
TEST(BondGroups, ARunGoesOnBitForBitWhenTheLongestBondsAreGone) {
  const ParticleSet block = cube_grid(40, 20, 20, spacing);
  Rules rules;
  const Solver fresh(block, std::span(&glass, 1), rules, 3 * spacing, spacing);
  const double dt = 0.5 * fresh.stable_step();
  Solver whole = fresh;
  Points velocities = Points::Zero(block.positions.rows(), 3);
  velocities.col(0) = 2e5 * block.positions.col(0);
  velocities.col(1) = 20 * block.positions.col(2);
  whole.set_velocities(velocities);
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(whole.step(dt));
  const BondList& bonds = whole.bonds();
  int longest = 0;
  for (std::size_t i = 0; i < bonds.particles(); ++i) {
    if (bonds.alive[i] > 0)
      longest = std::max(longest,
                         bonds.neighbour[to_size(bonds.begin[i]) + to_size(bonds.alive[i]) - 1] - to_int(i));
  }
  ASSERT_GT(longest, 0);
  ASSERT_LT(longest, 400);  // a layer
  Solver resumed = fresh;
  resumed.load(whole.save());
  for (int step = 0; step < 20; ++step) {
    ASSERT_TRUE(whole.step(dt));
    ASSERT_TRUE(resumed.step(dt));
  }
  EXPECT_EQ(whole.positions(), resumed.positions());
  EXPECT_EQ(whole.velocities(), resumed.velocities());
}

struct Variant {
  const char* name;
  BreakRule rule;
  double strengthening;
  bool clamp;
  BreakOrder order;
  bool weak;
};

class GroupKernels : public testing::TestWithParam<Variant> {};

// The forces of both kernels on lattices that are shaken so that some bonds break, some are beyond the polynomial's range
// and most are neither; three passes, so that damaged groups are gone through as well.
TEST_P(GroupKernels, ForcesAndBrokenBondsAreThoseOfTheRows) {
  Rules rules;
  rules.break_rule = GetParam().rule;
  rules.strengthening = GetParam().strengthening;
  rules.clamp_strengthening = GetParam().clamp;
  rules.break_order = GetParam().order;
  rules.weak_factor = GetParam().weak ? 0.6 : 1;
  if (!choose_group_kernel(rules)) GTEST_SKIP() << "no AVX2";
  for (const ParticleSet& particles : {cube_grid(14, 9, 6, spacing), ball(13)}) {
    Lattice lattice(particles, StiffnessMode::taper);
    if (GetParam().weak) lattice.bonds.weaken([](int i, int j) { return (i + j) % 5 == 0; });
    BondList rows = lattice.bonds;
    const std::size_t count = lattice.set.size();
    AlignedVector<Record> records(count);
    Columns columns;
    columns.resize(count);
    int broke = 0;
    for (std::uint64_t pass = 0; pass < 3; ++pass) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto shake = [&](int axis) {
          const double u = 2 * uniform_random(pass, 3 * i + to_size(axis)) - 1;
          return lattice.set.positions(to_row(i), axis) + (i % 97 == 0 ? 0.03 : 2e-3) * u * spacing;
        };
        const double limit = squared_limit(3e-3 * (1 + uniform_random(9, i)), first_look(rows, rules));
        records[i] = {shake(0), shake(1), shake(2), limit};
        columns.set(i, records[i]);
      }
      const std::vector<RowForce> grouped = pass_by_groups(lattice, records, columns, rules);
      const RowKernel row_kernel = choose_kernel(rows, rules);
      for (std::size_t i = 0; i < count; ++i) {
        const RowForce row = row_kernel(rows, records.data(), to_int(i), rules);
        expect_same(grouped[i], row);
        broke += row.broke;
      }
      ASSERT_EQ(lattice.bonds.alive, rows.alive);
      ASSERT_EQ(lattice.bonds.neighbour, rows.neighbour);
      expect_groups_as_made_anew(lattice);
      expect_same_energies(lattice, records, columns);
    }
    EXPECT_GT(broke, 50);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, GroupKernels,
    testing::Values(Variant{"Paper", BreakRule::max, 0.25, true, BreakOrder::before_force, false},
                    Variant{"NoStrengthening", BreakRule::max, 0, true, BreakOrder::before_force, false},
                    Variant{"Lammps", BreakRule::min, 0.25, false, BreakOrder::after_force, false},
                    Variant{"Weakened", BreakRule::max, 0.25, true, BreakOrder::before_force, true}),
    [](const auto& variant) { return std::string(variant.param.name); });

}  // namespace
}  // namespace exemplar::peridynamics::bond_groups_test
