#include "meshless/peridynamics/checks/validation.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {

namespace {

constexpr double validation_h = 1e-3;
using Records = std::vector<ValidationRecord>;

Solver make(const ParticleSet& set, const Material& material, const Rules& rules, double ratio) {
  return Solver(set, std::span(&material, 1), rules, ratio * validation_h, validation_h);
}

struct LatticeRow {
  double ratio;
  StiffnessMode mode;
  double bulk, young, poisson, cut;
};

// Strain energy density of the middle particle when space is stretched along the axes.
double density(Solver& solver, const ParticleSet& set, const Vec3& e) {
  Points moved = set.positions;
  for (int a = 0; a < 3; ++a) moved.col(a) *= 1 + e[a];
  solver.set_positions(moved);
  return solver.elastic_energies()[set.size() / 2] / set.volumes[0];
}

double cut_energy(const Solver& solver, const ParticleSet& set, double tau) {
  const Vec3 middle = set.positions.row(static_cast<Eigen::Index>(set.size() / 2));
  const double plane = middle.x() + 0.5 * validation_h;
  double energy = 0;
  for (int i = 0; i < static_cast<int>(set.size()); ++i) {
    const Vec3 x = set.positions.row(i);
    if (x.x() > plane || std::abs(x.y() - middle.y()) + std::abs(x.z() - middle.z()) > 1e-9) continue;
    solver.for_each_bond(i, [&](int j, double length, double weight) {
      if (set.positions(j, 0) > plane) energy += 0.5 * weight * tau * tau * length;
    });
  }
  return energy / (validation_h * validation_h);
}

Records lattice_sums(const ValidationContext&) {
  static const LatticeRow rows[] = {{2, StiffnessMode::paper, .9714, 1.0812, .2217, .8746},
                                    {3, StiffnessMode::paper, 1.1208, .9974, .2775, 1.1477},
                                    {4, StiffnessMode::paper, .9432, .9264, .2544, .9133},
                                    {6, StiffnessMode::paper, 1.0298, .9894, .2598, 1.0372},
                                    {3, StiffnessMode::taper, .9002, .8330, .2687, .8731}};
  const double K = 10e9, G = 3.8, e = 1e-6;
  Records records;
  for (const LatticeRow& row : rows) {
    const int n = 2 * static_cast<int>(row.ratio) + 3;
    const ParticleSet set = cube_grid(n, n, n, validation_h);
    Rules rules;
    rules.stiffness = row.mode;
    Solver solver = make(set, {2200, K, 0, 0}, rules, row.ratio);
    const auto even = [&](const Vec3& s) {
      return 0.5 * (density(solver, set, s) + density(solver, set, -s));
    };
    const double C11 = 2 * even({e, 0, 0}) / (e * e), C12 = even({e, e, 0}) / (e * e) - C11;
    const std::string name =
        fmt::format("δ = {}λ{}: ", row.ratio, row.mode == StiffnessMode::taper ? " taper" : "");
    const std::string source = "exact sums over the simple cubic lattice";
    records.push_back(near(name + "K_eff/K", even({e, e, e}) / (4.5 * e * e) / K, row.bulk, 1e-4, source));
    records.push_back(
        near(name + "E_100/E", (C11 - 2 * C12 * C12 / (C11 + C12)) / (1.5 * K), row.young, 1e-4, source));
    records.push_back(near(name + "ν_100", C12 / (C11 + C12), row.poisson, 1e-4, source));
    const double tau = std::sqrt(5 * G / (9 * K * row.ratio * validation_h));
    records.push_back(near(name + "G_cut/G", cut_energy(solver, set, tau) / G, row.cut, 1e-4, source));
  }
  return records;
}

Records calibrated_energy(const ValidationContext&) {
  Records records;
  for (const double ratio : {2.0, 3.0, 4.0}) {
    const int n = 4 * static_cast<int>(ratio) + 1;
    const ParticleSet set = cube_grid(n, n, n, validation_h);
    Solver solver = make(set, {2200, 1e9, 0, 0}, Rules{}, ratio);
    const double e = 1e-5;
    records.push_back(near(fmt::format("energy density over 9Ke²/2, δ = {}λ", ratio),
                           density(solver, set, Vec3::Constant(e)) / (4.5e9 * e * e), 1, 1e-6,
                           "definition of the bulk modulus"));
  }
  return records;
}

Records wave_speed(const ValidationContext&) {
  const double K = 1e9, rho = 2200, q = 2 * std::numbers::pi / (120 * validation_h),
               amplitude = 1e-7 * validation_h;
  const int length = 250, side = 9;
  const ParticleSet set = cube_grid(length, side, side, validation_h);
  Rules rules;
  rules.stiffness = StiffnessMode::paper;
  rules.contact = ContactModel::none;
  Solver solver = make(set, {rho, K, 0, 0}, rules, 3);
  Points moved = set.positions;
  for (Eigen::Index i = 0; i < moved.rows(); ++i)
    moved(i, 0) += amplitude * std::cos(q * set.positions(i, 0));
  solver.set_positions(moved);
  solver.evaluate();
  const Eigen::Index middle = (side / 2 * side + side / 2) * length + 120;
  const double ratio =
      -solver.accelerations()(middle, 0) / (amplitude * std::cos(q * set.positions(middle, 0)));
  return {near_relative("long P wave [m/s]", std::sqrt(ratio) / q, std::sqrt(1.8 * 1.1208 * K / rho), 0.03,
                        "sqrt(1.8 K_eff/ρ) of the continuum, K_eff from the lattice sums")};
}

Points random_velocities(std::size_t count, double amount) {
  Points v(static_cast<Eigen::Index>(count), 3);
  for (Eigen::Index k = 0; k < v.size(); ++k)
    v.data()[k] = amount * normal_random(1, static_cast<std::uint64_t>(k));
  return v;
}

double exact_limit(const ParticleSet& set, const Solver& solver) {
  const Eigen::Index n = static_cast<Eigen::Index>(set.size());
  MatX stiffness = MatX::Zero(3 * n, 3 * n);
  const double mass = solver.masses()[0];
  for (int i = 0; i < n; ++i) {
    solver.for_each_bond(i, [&](int j, double length, double weight) {
      const Vec3 direction = (set.positions.row(j) - set.positions.row(i)).normalized();
      const Mat3 block = weight / length / mass * direction * direction.transpose();
      stiffness.block<3, 3>(3 * i, 3 * i) += block;
      stiffness.block<3, 3>(3 * i, 3 * j) -= block;
    });
  }
  return 2 /
         std::sqrt(
             Eigen::SelfAdjointEigenSolver<MatX>(stiffness, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff());
}

Records stability(const ValidationContext&) {
  const ParticleSet set = cube_grid(6, 5, 5, validation_h);
  Rules rules;
  rules.contact = ContactModel::none;
  const Material material{2200, 1e9, 0, 0};
  const double limit = exact_limit(set, make(set, material, rules, 3));
  double growth[2];
  for (const int k : {0, 1}) {
    Solver solver = make(set, material, rules, 3);
    solver.set_velocities(random_velocities(set.size(), 1e-4));
    const double before = solver.energies().total();
    bool finite = true;
    for (int s = 0; s < 2000 && finite; ++s) finite = solver.step((k == 0 ? 0.97 : 1.03) * limit);
    growth[k] = finite ? solver.energies().total() / before : 1e300;
  }
  const std::string source = "2/ω_max from the eigenvalues of the stiffness matrix";
  return {at_most("energy growth in 2000 steps of 0.97 × the limit", growth[0], 20, source),
          no_less_than("energy growth in 2000 steps of 1.03 × the limit", growth[1], 1e6, source)};
}

Records fracture_conservation(const ValidationContext&) {
  const ParticleSet set = cube_grid(16, 8, 4, validation_h);
  Solver solver = make(set, {2200, 1e9, 0, 2e-3}, Rules{}, 3);
  solver.set_velocities(random_velocities(set.size(), 6));
  const Vec3 p = solver.momentum(), l = solver.angular_momentum();
  const double start = solver.energies().total();
  const double scale = static_cast<double>(set.size()) * solver.masses()[0] * 10;
  const double step = 0.8 * solver.stable_step();  // the method's own
  double worst = 0;
  for (int s = 0; s < 400; ++s) {
    if (!solver.step(step)) break;
    worst = std::max(worst, std::abs(solver.energies().total() / start - 1));
  }
  return {
      no_less_than("broken bonds", static_cast<double>(solver.broken_bonds()), 2000,
                   "the test must break something"),
      at_most("momentum drift over Σm|v|", (solver.momentum() - p).norm() / scale, 1e-13, "conservation"),
      at_most("angular momentum drift over Σm|v|L",
              (solver.angular_momentum() - l).norm() / scale / (16 * validation_h), 1e-13, "conservation"),
      at_most("largest error of the energy balance at the default step", worst, 1e-2, "conservation")};
}

// Silling and Askari's pre-notched plate under traction: crack speed and symmetry.
struct Crack {
  double speed = 0;          // largest, of the farthest tip [m/s]
  double asymmetry = 0;      // share of broken bonds without a mirror image
  double branch_height = 0;  // distance between the outermost damaged particles past the middle, over λ
};

// Symmetry and height of what is broken, past the middle of the plate.
void measure_pattern(const ParticleSet& set, const std::vector<double>& damage, int columns, int rows,
                     double spacing, Crack& crack) {
  double low = 0, high = 0, odd = 0, all = 0;
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        const auto at = [&](int row) {
          return damage[static_cast<std::size_t>((z * rows + row) * columns + x)];
        };
        odd += std::abs(at(y) - at(rows - 1 - y));
        all += at(y);
        const Eigen::Index i = (z * rows + y) * columns + x;
        if (at(y) > 0.35 && set.positions(i, 0) > 0.005) {
          low = std::min(low, set.positions(i, 1));
          high = std::max(high, set.positions(i, 1));
        }
      }
    }
  }
  crack.asymmetry = odd / std::max(all, 1e-300);
  crack.branch_height = (high - low) / spacing;
}

Crack run_notched_plate(int columns) {
  const double length = 0.1, spacing = length / columns;
  const int rows = columns * 2 / 5;
  const double E = 72e9, rho = 2440, G = 3.8, traction = 2e6;
  const ParticleSet set =
      cube_grid(columns, rows, 3, spacing, Vec3(-0.05 + spacing / 2, -0.02 + spacing / 2, 0));
  const Material material{rho, E / 1.5, G, 0};
  Rules rules;
  rules.strength_spread = 0;
  Solver solver(set, std::span(&material, 1), rules, 3.0 * spacing, spacing);
  solver.remove_bonds([&](int i, int j) {
    const double yi = set.positions(i, 1), yj = set.positions(j, 1);
    if ((yi > 0) == (yj > 0)) return false;
    const double s = yi / (yi - yj);
    return set.positions(i, 0) + s * (set.positions(j, 0) - set.positions(i, 0)) < 0;
  });
  Points pull = Points::Zero(set.positions.rows(), 3);
  for (Eigen::Index i = 0; i < pull.rows(); ++i) {
    const double y = set.positions(i, 1);
    if (std::abs(y) > 0.02 - spacing) pull(i, 1) = std::copysign(traction / (rho * spacing), y);
  }
  solver.set_accelerations(pull);
  const double dt = 0.8 * solver.stable_step();
  Crack crack;
  std::vector<double> damage;
  double tip = 0, last_tip = 0, last_time = 0;
  for (int s = 1; s * dt < 45e-6 && tip < 0.045; ++s) {
    if (!solver.step(dt)) break;
    if (s % 40 != 0) continue;
    damage = solver.damage();
    for (Eigen::Index i = 0; i < pull.rows(); ++i) {
      if (damage[static_cast<std::size_t>(i)] > 0.35) tip = std::max(tip, set.positions(i, 0));
    }
    // Speed over at least four spacings, so that single bonds do not count.
    if (tip - last_tip > 4 * spacing) {
      if (last_tip > 0.004) crack.speed = std::max(crack.speed, (tip - last_tip) / (s * dt - last_time));
      last_tip = tip;
      last_time = s * dt;
    }
  }
  measure_pattern(set, solver.damage(), columns, rows, spacing, crack);
  return crack;
}

Records notched_plate(const ValidationContext&) {
  // Finer than λ = 0.5 mm the branching is resolved; at 0.7 mm rounding decides which side branches.
  const Crack crack = run_notched_plate(250);
  return {
      no_less_than("largest crack speed [m/s]", crack.speed, 300, "the crack must run"),
      at_most("largest crack speed [m/s]", crack.speed, 3159, "Rayleigh speed of the glass"),
      no_less_than("opening of the branches [spacings]", crack.branch_height, 8,
                   "branches under 2 MPa (Ha and Bobaru 2010)"),
      at_most("asymmetry of the damage without spread of strength", crack.asymmetry, 0.05, "symmetric load")};
}

// Kalthoff and Winkler 1987: a maraging steel plate with two notches is struck between them at its edge; cracks leave the
// notches at about 70° to the direction of impact. As the scene `kalthoff`, three particles thick. Bonds break at one strain
// (α of eq. 5 is 0), as in the published simulations of this plate; with α = 0.25 the cracks start later, run half as far in
// the same time and at 72° to 76°.
double kalthoff_angle(double spacing) {
  const int columns = static_cast<int>(std::lround(0.1 / spacing)), rows = 2 * columns, layers = 3;
  const ParticleSet set = cube_grid(columns, rows, layers, spacing, Vec3(spacing / 2, -0.1 + spacing / 2, 0));
  const Material steel{8000, 191e9 / 1.5, 42408, 0};
  Rules rules;
  rules.strength_spread = 0;
  rules.strengthening = 0;
  Solver solver(set, std::span(&steel, 1), rules, 3 * spacing, spacing);
  const double notch = 0.025, depth = 0.05, speed = 16;
  solver.remove_bonds([&](int i, int j) {
    for (const double y : {-notch, notch}) {
      const double a = set.positions(i, 1) - y, b = set.positions(j, 1) - y;
      if ((a > 0) == (b > 0)) continue;
      if (set.positions(i, 0) + a / (a - b) * (set.positions(j, 0) - set.positions(i, 0)) < depth)
        return true;
    }
    return false;
  });
  std::vector<std::uint8_t> struck(set.size(), 0);
  Points velocities = Points::Zero(set.positions.rows(), 3);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Vec3 x = set.positions.row(static_cast<Eigen::Index>(i));
    struck[i] = x.x() < spacing && std::abs(x.y()) < notch ? 1 : 0;  // along x
    if (struck[i]) velocities(static_cast<Eigen::Index>(i), 0) = speed;
  }
  solver.set_velocities(velocities);
  solver.set_held(struck);
  const double dt = 0.8 * solver.stable_step();
  for (int s = 0; s * dt < 70e-6; ++s) {
    if (!solver.step(dt)) return 0;
  }
  // Direction of the damaged particles seen from the notch tip.
  const std::vector<double> damage = solver.damage();
  Vec2 sum = Vec2::Zero();
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Eigen::Index row = static_cast<Eigen::Index>(i);
    const Vec2 away(set.positions(row, 0) - depth, std::abs(set.positions(row, 1)) - notch);
    if (damage[i] > 0.35 && away.norm() > 5e-3 && away.norm() < 0.06 && away.y() > 0)
      sum += away.normalized();
  }
  return std::atan2(sum.y(), sum.x()) * 180 / std::numbers::pi;
}

Records kalthoff(const ValidationContext&) {
  const double angle = kalthoff_angle(2e-3 / 3);
  const std::string source = "Kalthoff and Winkler 1987: about 70°";
  return {no_less_than("crack angle [°]", angle, 68, source), at_most("crack angle [°]", angle, 72, source)};
}

}  // namespace

std::vector<ValidationCase> validation_cases() {
  return {{"peridynamics", "lattice-sums", false, lattice_sums},
          {"peridynamics", "calibrated-energy", false, calibrated_energy},
          {"peridynamics", "wave-speed", false, wave_speed},
          {"peridynamics", "step-stability", false, stability},
          {"peridynamics", "fracture-conservation", false, fracture_conservation},
          {"peridynamics", "notched-plate", true, notched_plate},
          {"peridynamics", "kalthoff-winkler", true, kalthoff}};
}

}  // namespace exemplar::peridynamics
