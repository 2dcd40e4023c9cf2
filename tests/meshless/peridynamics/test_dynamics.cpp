// Time integration: stability limit, energy, momenta, waves, contact, obstacles, threads, saved states.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/output/described_state.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {
namespace {

constexpr double dynamics_h = 1e-3;

Points random_velocities(std::size_t count, double amount, std::uint64_t seed) {
  Points v(static_cast<Eigen::Index>(count), 3);
  for (Eigen::Index k = 0; k < v.size(); ++k) {
    v.data()[k] = amount * normal_random(seed, static_cast<std::uint64_t>(k));
  }
  return v;
}

// A smooth bending and stretching motion, well resolved by the particles.
Points smooth_velocities(const Points& x, double amount) {
  const Eigen::RowVector3d size = x.colwise().maxCoeff();
  Points v = Points::Zero(x.rows(), 3);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    v(i, 0) = amount * std::cos(std::numbers::pi * x(i, 0) / size[0]);
    v(i, 1) = amount * std::cos(2 * std::numbers::pi * x(i, 0) / size[0]);
  }
  return v;
}

Solver make(const ParticleSet& set, const Material& material, const Rules& rules, double ratio = 3) {
  return Solver(set, std::span(&material, 1), rules, ratio * dynamics_h, dynamics_h);
}

double exact_limit(const ParticleSet& set, const Solver& solver) {
  // Mass-scaled stiffness matrix from its definition: w/r0 ξξᵀ/|ξ|² per bond.
  const Eigen::Index n = static_cast<Eigen::Index>(set.size());
  MatX stiffness = MatX::Zero(3 * n, 3 * n);
  const std::vector<double> mass = solver.masses();
  for (int i = 0; i < n; ++i) {
    solver.for_each_bond(i, [&](int j, double length, double weight) {
      const Vec3 direction = (set.positions.row(j) - set.positions.row(i)).normalized();
      const Mat3 block = weight / length * direction * direction.transpose();
      stiffness.block<3, 3>(3 * i, 3 * i) += block / mass[i];
      stiffness.block<3, 3>(3 * i, 3 * j) -= block / std::sqrt(mass[i] * mass[j]);
    });
  }
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(stiffness, Eigen::EigenvaluesOnly);
  return 2 / std::sqrt(eigen.eigenvalues().maxCoeff());
}

TEST(Dynamics, StableBelowAndUnstableAboveTheExactLimit) {
  const ParticleSet set = cube_grid(6, 5, 5, dynamics_h);
  const Material material{2200, 1e9, 0, 0};
  Rules rules;
  rules.contact = ContactModel::none;
  const double limit = exact_limit(set, make(set, material, rules));
  for (const double fraction : {0.97, 1.03}) {
    Solver solver = make(set, material, rules);
    solver.set_velocities(random_velocities(set.size(), 1e-4, 1));
    const double before = solver.energies().total();
    bool finite = true;
    for (int s = 0; s < 2000 && finite; ++s) finite = solver.step(fraction * limit);
    const double growth = finite ? solver.energies().total() / before : INFINITY;
    if (fraction < 1) {
      EXPECT_LT(growth, 20);
    } else {
      EXPECT_GT(growth, 1e6);
    }
  }
  const double bound = make(set, material, rules).stable_step();
  EXPECT_LT(bound, limit);
  EXPECT_GT(bound, 0.3 * limit);
}

// Largest relative deviation of the total energy over a fixed time.
double energy_error(const Rules& rules, const Material& material, double fraction, double speed) {
  const ParticleSet set = cube_grid(48, 6, 4, dynamics_h);
  Solver solver = make(set, material, rules);
  solver.set_velocities(smooth_velocities(set.positions, speed));
  const double start = solver.energies().total();
  const double step = solver.stable_step();
  const int steps = static_cast<int>(std::round(800 / fraction));
  double worst = 0;
  for (int s = 1; s <= steps; ++s) {
    EXPECT_TRUE(solver.step(fraction * step));
    worst = std::max(worst, std::abs(solver.energies().total() / start - 1));
  }
  return worst;
}

TEST(Dynamics, EnergyErrorIsBoundedAndOfSecondOrder) {
  Rules rules;
  const Material material{2200, 1e9, 0, 0};
  const double full = energy_error(rules, material, 0.8, 0.5);
  const double half = energy_error(rules, material, 0.4, 0.5);
  EXPECT_LT(full, 1e-3);
  EXPECT_NEAR(full / half, 4, 0.4);
}

// Worst deviation of kinetic + elastic + contact + released energy while a bar is torn apart.
double fracture_error(ContactModel contact, double fraction) {
  const ParticleSet set = cube_grid(24, 6, 4, dynamics_h);
  const Material material{2200, 1e9, 0, 2e-3};
  Rules rules;
  rules.contact = contact;
  Solver solver = make(set, material, rules);
  solver.set_velocities(smooth_velocities(set.positions, -8));
  const double start = solver.energies().total();
  const double step = fraction * solver.stable_step();
  double worst = 0;
  for (int s = 0; s < static_cast<int>(300 / fraction); ++s) {
    EXPECT_TRUE(solver.step(step));
    worst = std::max(worst, std::abs(solver.energies().total() / start - 1));
  }
  EXPECT_GT(solver.broken_bonds(), 1000);
  return worst;
}

TEST(Dynamics, EnergyIsKeptWhenBondsBreakAtTheDefaultStep) {
  // A bond that breaks leaves out half a step's work, which belongs to what it releases; a contact force beyond
  // the rest distance of a pair would show here as energy from nothing.
  for (const ContactModel contact : {ContactModel::none, ContactModel::levine, ContactModel::emu}) {
    EXPECT_LT(fracture_error(contact, 0.8), 1e-2) << static_cast<int>(contact);
    EXPECT_LT(fracture_error(contact, 0.2), 2e-3) << static_cast<int>(contact);
  }
}

TEST(Dynamics, MomentaToRoundOffWithBreakingBonds) {
  const ParticleSet set = cube_grid(16, 8, 4, dynamics_h);
  const Material material{2200, 1e9, 0, 2e-3};
  Solver solver = make(set, material, Rules{});
  const Points v = random_velocities(set.size(), 6, 3);
  solver.set_velocities(v);
  const Vec3 p = solver.momentum();
  const Vec3 l = solver.angular_momentum();
  double scale = 0;  // Σ m |v|
  for (Eigen::Index i = 0; i < v.rows(); ++i) scale += solver.masses()[i] * v.row(i).norm();
  for (int s = 0; s < 1000; ++s) ASSERT_TRUE(solver.step(0.5 * solver.stable_step()));
  EXPECT_GT(solver.broken_bonds(), 2000);
  EXPECT_LT((solver.momentum() - p).norm(), 1e-13 * scale);
  EXPECT_LT((solver.angular_momentum() - l).norm(), 1e-13 * scale * 16 * dynamics_h);
}

TEST(Dynamics, LongitudinalWaveSpeed) {
  // A standing wave along a bar that cannot move sideways: ω = c π/L with c² = 1.8 K_eff/ρ up to the
  // lattice's anisotropy. C11 of the lattice (δ = 3λ, mode paper) from the exact sums: C11 = E
  // (1−ν)/((1+ν)(1−2ν)).
  const double K = 1e9, rho = 2200, E = .9974 * 1.5 * K, nu = .2775;
  const double C11 = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  const int length = 250, side = 9;
  const ParticleSet set = cube_grid(length, side, side, dynamics_h);
  Rules rules;
  rules.stiffness = StiffnessMode::paper;
  rules.contact = ContactModel::none;
  Solver solver = make(set, {rho, K, 0, 0}, rules);
  // Only the middle column has a full neighbourhood; a plane wave in it needs only x displacements around it,
  // which are prescribed by looking at its acceleration: a = −ω² u for the lattice mode u = cos(q x).
  const double q = 2 * std::numbers::pi / (120 * dynamics_h), amplitude = 1e-7 * dynamics_h;
  Points moved = set.positions;
  for (Eigen::Index i = 0; i < moved.rows(); ++i)
    moved(i, 0) += amplitude * std::cos(q * set.positions(i, 0));
  solver.set_positions(moved);
  solver.evaluate();
  const Eigen::Index middle = (side / 2 * side + side / 2) * length + 120;
  const double omega_squared =
      -solver.accelerations()(middle, 0) / (amplitude * std::cos(q * set.positions(middle, 0)));
  const double speed = std::sqrt(omega_squared) / q;
  EXPECT_NEAR(speed / std::sqrt(C11 / rho), 1, 0.01);
  EXPECT_NEAR(speed / std::sqrt(1.8 * 1.1208 * K / rho), 1, 0.03);
}

TEST(Dynamics, FreeFallIsExact) {
  const ParticleSet set = cube_grid(5, 5, 5, dynamics_h);
  Solver solver = make(set, {2200, 1e9, 0, 0}, Rules{});
  solver.set_gravity({0, -9.81, 0});
  const double dt = 1e-7;
  for (int s = 0; s < 1000; ++s) ASSERT_TRUE(solver.step(dt));
  const double fall = (solver.positions() - set.positions).col(1).mean();
  EXPECT_NEAR(fall, -0.5 * 9.81 * 1e-8, 1e-6 * 0.5 * 9.81 * 1e-8);
}

TEST(Dynamics, ContactStopsCollidingBodies) {
  ParticleSet set = cube_grid(5, 5, 5, dynamics_h);
  ParticleSet both;
  both.append(set, 0);
  both.append(cube_grid(5, 5, 5, dynamics_h, Vec3(0.2 * dynamics_h, 5 * dynamics_h, 0.3 * dynamics_h)), 1);
  const std::vector<Material> materials(2, Material{2200, 1e9, 0, 0});
  Solver solver(both, materials, Rules{}, 2 * dynamics_h, dynamics_h);
  Points v = Points::Zero(250, 3);
  v.topRows(125).col(1).setConstant(5);
  v.bottomRows(125).col(1).setConstant(-5);
  solver.set_velocities(v);
  const double start = solver.energies().total();
  double worst = 0;
  for (int s = 0; s < 2500; ++s) {
    ASSERT_TRUE(solver.step(0.5 * solver.stable_step()));
    worst = std::max(worst, std::abs(solver.energies().total() / start - 1));
  }
  EXPECT_LT(worst, 1e-2);
  EXPECT_LT(solver.velocities().topRows(125).col(1).mean(), -1);
  EXPECT_GT(solver.velocities().bottomRows(125).col(1).mean(), 1);
  EXPECT_LT(std::abs(solver.momentum().y()), 1e-13);
}

TEST(Dynamics, FloorReflectsAndKeepsAccount) {
  const ParticleSet set = cube_grid(5, 5, 5, dynamics_h, Vec3(0, 2 * dynamics_h, 0));
  Solver solver = make(set, {2200, 1e9, 0, 0}, Rules{}, 2);
  solver.set_obstacles([](int, const Vec3& x) { return ObstaclePoint{.distance = x.y()}; }, 0);
  Points v = Points::Zero(125, 3);
  v.col(1).setConstant(-3);
  solver.set_velocities(v);
  const double start = solver.energies().total();
  const Vec3 before = solver.momentum();
  Vec3 given = Vec3::Zero();
  for (int s = 0; s < 4000; ++s) {
    ASSERT_TRUE(solver.step(0.5 * solver.stable_step()));
    for (const ObstacleImpulse& hit : solver.take_impulses()) given += hit.impulse;
  }
  EXPECT_GT(solver.velocities().col(1).mean(), 1);
  EXPECT_LT((solver.momentum() + given - before).norm(), 1e-12 * before.norm());
  EXPECT_NEAR(solver.energies().total() / start, 1, 0.02);
  EXPECT_GT(solver.positions().col(1).minCoeff(), 0.3 * dynamics_h);
}

// A lying block: what contact takes is never negative and small beside the weight's work, and all is accounted for.
TEST(Dynamics, ARestingBlockKeepsItsEnergyAccount) {
  const ParticleSet set = cube_grid(6, 4, 5, dynamics_h, Vec3(0, 0.5 * dynamics_h, 0));
  Solver solver = make(set, {2200, 1e7, 0, 0}, Rules{}, 2);
  solver.set_gravity({0, -5000, 0});  // swings many times within the test
  for (const double restitution : {0.0, 0.5, 0.99}) {
    Solver run = solver;
    run.set_obstacles(
        [=](int, const Vec3& x) { return ObstaclePoint{.distance = x.y(), .restitution = restitution}; }, 0);
    const double start = run.energies().total();
    double scale = 0, worst = 0;
    for (int s = 0; s < 6000; ++s) {
      ASSERT_TRUE(run.step(0.8 * run.stable_step()));
      const Energies e = run.energies();
      scale = std::max(scale, e.kinetic + e.elastic);
      worst = std::max(worst, std::abs(e.total() - start));
    }
    EXPECT_GT(run.energies().dissipated, -0.01 * scale) << restitution;
    EXPECT_LT(worst, 0.01 * scale) << restitution;
  }
}

// A floor that comes up: the work it does is what the particles gain.
TEST(Dynamics, AMovingFloorsWorkIsAccountedFor) {
  const ParticleSet set = cube_grid(5, 5, 5, dynamics_h, Vec3(0, dynamics_h, 0));
  Solver solver = make(set, {2200, 1e9, 0, 0}, Rules{}, 2);
  double time = 0;
  solver.set_obstacles(
      [&](int, const Vec3& x) {
        return ObstaclePoint{.distance = x.y() - 2 * time, .velocity = Vec3(0, 2, 0)};
      },
      2);
  const double dt = 0.8 * solver.stable_step();
  for (; time < 2000 * dt; time += dt) ASSERT_TRUE(solver.step(dt));
  const Energies e = solver.energies();
  EXPECT_GT(e.kinetic, 0.5 * 125 * 2200e-9 * 4);
  EXPECT_NEAR(e.total(), 0, 0.01 * e.work);
}

TEST(Dynamics, RollersHoldOneAxisOnly) {
  const ParticleSet set = cube_grid(6, 4, 4, dynamics_h);
  Solver solver = make(set, {2200, 1e9, 0, 0}, Rules{}, 2);
  std::vector<std::uint8_t> held(set.size(), 0);
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.positions(static_cast<Eigen::Index>(i), 1) == 0) held[i] = 2;  // y
  }
  solver.set_held(held);
  solver.set_gravity({10, -10, 0});
  const double dt = 0.5 * solver.stable_step();
  for (int s = 0; s < 1000; ++s) ASSERT_TRUE(solver.step(dt));
  const Points moved = solver.positions() - set.positions;
  const double time = 1000 * dt;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (held[i]) {
      EXPECT_EQ(moved(static_cast<Eigen::Index>(i), 1), 0);
    }
  }
  EXPECT_NEAR(moved.col(0).mean(), 5 * time * time, 1e-9 * time * time);
}

TEST(Projectile, ForceProfile) {
  Projectile p{ProjectileModel::levine, Vec3::Zero(), Vec3(0, -3, 0), 2.0, 7.0};
  EXPECT_NEAR(projectile_force(p, {0, -2, 0}).y(), -7 * 4, 1e-12);   // K_S r² at d = r, straight ahead
  EXPECT_NEAR(projectile_force(p, {2, 0, 0}).norm(), 7 * 4, 1e-12);  // sideways: halfway direction
  EXPECT_NEAR(projectile_force(p, {2, 0, 0}).x(), 7 * 4 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(projectile_force(p, {1.49, 0, 0}).norm(), 0);
  EXPECT_EQ(projectile_force(p, {3.01, 0, 0}).norm(), 0);
  p.model = ProjectileModel::indent;
  EXPECT_NEAR(projectile_force(p, {1.5, 0, 0}).x(), 7 * 0.25, 1e-12);
}

// A plate that is shot through: everything at once.
Solver shot_plate(int steps) {
  const ParticleSet set = cube_grid(32, 32, 4, dynamics_h);
  const Material material{2200, 1e9, 0, 1e-3};
  Solver solver = make(set, material, Rules{});
  solver.set_gravity({0, 0, -9.81});
  solver.set_obstacles(
      [](int, const Vec3& x) {
        return ObstaclePoint{.distance = x.z() + 3 * dynamics_h, .normal = Vec3::UnitZ()};
      },
      0);
  solver.set_projectile(Projectile{ProjectileModel::levine,
                                   Vec3(16 * dynamics_h, 15 * dynamics_h, 8 * dynamics_h), Vec3(0, 0, -100),
                                   4 * dynamics_h, 1e16});
  for (int s = 0; s < steps; ++s) EXPECT_TRUE(solver.step(1e-7));
  return solver;
}

TEST(Threads, BitIdenticalWithFracture) {
  set_thread_count(1);
  const Solver one = shot_plate(600);
  EXPECT_GT(one.broken_bonds(), 5000);
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    const Solver many = shot_plate(600);
    EXPECT_TRUE(same_state(many.save(), one.save()));
  }
  set_thread_count(0);
}

TEST(State, ResumedRunIsTheSame) {
  const Solver whole = shot_plate(600);
  Solver half = shot_plate(300);
  Solver fresh = shot_plate(0);
  fresh.load(half.save());
  for (int s = 0; s < 300; ++s) ASSERT_TRUE(fresh.step(1e-7));
  EXPECT_TRUE(same_state(fresh.save(), whole.save()));
}

}  // namespace
}  // namespace exemplar::peridynamics
