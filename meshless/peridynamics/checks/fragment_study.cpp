#include "meshless/peridynamics/checks/fragment_study.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "meshless/peridynamics/cuts.h"
#include "meshless/peridynamics/pieces/fragments.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_side = 0.1, k_thickness = 0.006;  // m
constexpr double k_flaw = 0.012;                     // m, length of a cut
constexpr int k_seeds = 4;

// Particles that share a face, by their places in the grid.
std::vector<std::pair<int, int>> face_neighbours(int count_x, int count_y, int count_z) {
  std::vector<std::pair<int, int>> out;
  const auto at = [&](int x, int y, int z) { return (z * count_y + y) * count_x + x; };
  for (int z = 0; z < count_z; ++z)
    for (int y = 0; y < count_y; ++y)
      for (int x = 0; x < count_x; ++x) {
        if (x + 1 < count_x) out.emplace_back(at(x, y, z), at(x + 1, y, z));
        if (y + 1 < count_y) out.emplace_back(at(x, y, z), at(x, y + 1, z));
        if (z + 1 < count_z) out.emplace_back(at(x, y, z), at(x, y, z + 1));
      }
  return out;
}

// Cuts along lines in the plate's plane, spread over it like the seeds of a sunflower, no two in the same direction.
std::vector<Notch> flaws_of(int count, const Vec3& middle) {
  constexpr double golden_angle = 2.399963;
  std::vector<Notch> out;
  for (int k = 0; k < count; ++k) {
    const double turn = golden_angle * k, radius = 0.42 * k_side * std::sqrt((k + 0.5) / count);
    const Vec3 along(std::cos(1.7 * turn), std::sin(1.7 * turn), 0);
    const Vec3 centre = middle + radius * Vec3(std::cos(turn), std::sin(turn), 0);
    const Vec3 through(0, 0, 2 * k_thickness);
    Notch flaw;
    flaw.shape = Notch::Shape::parallelogram;
    flaw.point = centre - 0.5 * k_flaw * along - 0.5 * through;
    flaw.u = k_flaw * along;
    flaw.v = through;
    out.push_back(flaw);
  }
  return out;
}

struct Spread {
  double mean = 0, deviation = 0;
};

Spread spread_of(const std::vector<Fragmentation>& runs, double Fragmentation::*value) {
  Spread out;
  for (const Fragmentation& run : runs) out.mean += run.*value / static_cast<double>(runs.size());
  for (const Fragmentation& run : runs) out.deviation += std::pow(run.*value - out.mean, 2);
  out.deviation = std::sqrt(out.deviation / static_cast<double>(runs.size() - 1));
  return out;
}

// Adds the rows of one resolution; returns the means.
Fragmentation report(const FlyingPlate& plate, const std::string& name, double spacing, double horizon,
                     std::vector<BenchRecord>& records) {
  std::vector<Fragmentation> runs;
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed)
    runs.push_back(fragment_plate(plate, spacing, horizon, seed));
  const std::string settings =
      fmt::format("δ = {:.3g} mm, λ = {:.3g} mm, {} seeds", 1e3 * horizon, 1e3 * spacing, k_seeds);
  Fragmentation means;
  const auto add = [&](const char* what, const char* unit, double Fragmentation::*value) {
    const Spread spread = spread_of(runs, value);
    means.*value = spread.mean;
    records.push_back(
        reported(name + ": " + what, spread.mean, unit, fmt::format("± {:.2g}", spread.deviation), settings));
  };
  add("energy released", "J", &Fragmentation::energy);
  add("fragments over a thousandth", "", &Fragmentation::count);
  add("largest fragment", "share", &Fragmentation::largest);
  add("in smaller ones", "share", &Fragmentation::dust);
  return means;
}

// Finest over next finest of a row of resolutions that shrink by 2/3 and by 3/4.
void judge(const Fragmentation& coarse, const Fragmentation& fine, std::vector<BenchRecord>& records) {
  const std::string settings = "12 flaws, δ = 3λ, 4.5 mm → 3 mm";
  const auto change = [](double a, double b) { return std::abs(a / b - 1); };
  records.push_back(goal_at_most("flaws: change of the energy released", change(fine.energy, coarse.energy),
                                 "share", 0.05, "converges", settings));
  records.push_back(goal_at_most("flaws: change of the number of fragments", change(fine.count, coarse.count),
                                 "share", 0.15, "converges", settings));
  records.push_back(goal_at_most("flaws: dust at 3 mm over dust at 4.5 mm", fine.dust / coarse.dust, "ratio",
                                 0.75, "goes to 0 with δ: 2/3", settings));
}

}  // namespace

Fragmentation fragment_plate(const FlyingPlate& plate, double spacing, double horizon, std::uint64_t seed) {
  const int n = static_cast<int>(std::lround(k_side / spacing)),
            layers = std::max(1, static_cast<int>(std::lround(k_thickness / spacing)));
  const ParticleSet set = cube_grid(n, n, layers, spacing);
  Rules rules;
  rules.seed = seed;
  const Material glass{2200, 32.81e9, plate.fracture_energy, 0};
  Solver solver(set, std::span(&glass, 1), rules, horizon * (1 + 1e-9), spacing);
  for (const Notch& flaw : flaws_of(plate.flaws, set.positions.colwise().mean().transpose()))
    solver.remove_bonds([&, crosses = NotchTest(flaw)](int i, int j) {
      return crosses(set.positions.row(i), set.positions.row(j));
    });
  Points velocities = Points::Zero(set.positions.rows(), 3);
  velocities.leftCols(2) =
      plate.rate * (set.positions.leftCols(2).rowwise() - set.positions.leftCols(2).colwise().mean().eval());
  solver.set_velocities(velocities);
  const double bound = 0.8 * solver.stable_step();
  const int steps = static_cast<int>(std::ceil(plate.duration / bound));
  for (int s = 0; s < steps; ++s)
    if (!solver.step(plate.duration / steps)) break;
  const std::vector<std::pair<int, int>> neighbours = face_neighbours(n, n, layers);
  const Fragments fragments =
      find_fragments(neighbours, set.volumes, [&](int a, int b) { return solver.bonded(a, b); });
  double whole = 0;
  for (const double v : fragments.volumes) whole += v;
  Fragmentation out;
  out.largest = fragments.volumes[0] / whole;
  out.energy = solver.energies().released;
  for (const double v : fragments.volumes) {
    if (v >= 1e-3 * whole) ++out.count;
    if (v < 1e-3 * whole) out.dust += v / whole;
  }
  return out;
}

std::vector<BenchRecord> fragment_convergence(const ValidationContext&) {
  std::vector<BenchRecord> records;
  const FlyingPlate flawed, flawless{400, 50, 6e-5, 0};
  std::vector<Fragmentation> means;
  for (const double spacing : {3e-3, 2e-3, 1.5e-3, 1e-3})
    means.push_back(report(flawed, fmt::format("flaws, δ = 3λ = {:.3g} mm", 3e3 * spacing), spacing,
                           3 * spacing, records));
  for (const double m : {2.0, 3.0, 4.0})
    report(flawed, fmt::format("flaws, δ = 6 mm = {} λ", m), 6e-3 / m, 6e-3, records);
  for (const double spacing : {3e-3, 2e-3, 1.5e-3})
    report(flawless, fmt::format("no flaws, δ = 3λ = {:.3g} mm", 3e3 * spacing), spacing, 3 * spacing,
           records);
  judge(means[2], means[3], records);
  return records;
}

}  // namespace exemplar::peridynamics
