#include "meshless/peridynamics/checks/fragment_study.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "meshless/peridynamics/pieces/fragments.h"
#include "meshless/peridynamics/solver.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_side = 0.1, k_thickness = 0.006;  // m
constexpr double k_rate = 400;                       // 1/s, of both in-plane strains
constexpr double k_duration = 6e-5;                  // s
constexpr int k_seeds = 5;
const Material k_plate{2200, 32.81e9, 50, 0};

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

void report(const std::string& name, double spacing, double horizon, std::vector<BenchRecord>& records) {
  std::vector<Fragmentation> runs;
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed)
    runs.push_back(fragment_plate(spacing, horizon, seed));
  const std::string settings =
      fmt::format("δ = {:.3g} mm, λ = {:.3g} mm, {} seeds", 1e3 * horizon, 1e3 * spacing, k_seeds);
  const auto add = [&](const char* what, const char* unit, double Fragmentation::*value) {
    const Spread spread = spread_of(runs, value);
    records.push_back(
        reported(name + ": " + what, spread.mean, unit, fmt::format("± {:.2g}", spread.deviation), settings));
  };
  add("energy released", "J", &Fragmentation::energy);
  add("fragments over a thousandth", "", &Fragmentation::count);
  add("largest fragment", "share", &Fragmentation::largest);
  add("in smaller ones", "share", &Fragmentation::dust);
}

}  // namespace

Fragmentation fragment_plate(double spacing, double horizon, std::uint64_t seed) {
  const int n = static_cast<int>(std::lround(k_side / spacing)),
            layers = std::max(1, static_cast<int>(std::lround(k_thickness / spacing)));
  const ParticleSet set = cube_grid(n, n, layers, spacing);
  Rules rules;
  rules.seed = seed;
  Solver solver(set, std::span(&k_plate, 1), rules, horizon * (1 + 1e-9), spacing);
  Points velocities = Points::Zero(set.positions.rows(), 3);
  velocities.leftCols(2) =
      k_rate * (set.positions.leftCols(2).rowwise() - set.positions.leftCols(2).colwise().mean().eval());
  solver.set_velocities(velocities);
  const double bound = 0.8 * solver.stable_step();
  const int steps = static_cast<int>(std::ceil(k_duration / bound));
  for (int s = 0; s < steps; ++s)
    if (!solver.step(k_duration / steps)) break;
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
  for (const double spacing : {3e-3, 2e-3, 1.5e-3, 1e-3})
    report(fmt::format("δ-convergence, δ = 3λ = {:.3g} mm", 3e3 * spacing), spacing, 3 * spacing, records);
  for (const double m : {2.0, 3.0, 4.0, 6.0})
    report(fmt::format("m-convergence, δ = 6 mm, m = {}", m), 6e-3 / m, 6e-3, records);
  return records;
}

}  // namespace exemplar::peridynamics
