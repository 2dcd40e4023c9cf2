#include "meshless/peridynamics/bonds.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "meshless/peridynamics/elements/cells.h"

namespace exemplar::peridynamics {

std::int64_t BondList::directed_bonds() const {
  return std::accumulate(alive.begin(), alive.end(), std::int64_t{0});
}

std::size_t BondList::bytes() const {
  return neighbour.size() * sizeof(int) + (inverse_length.size() + weight.size()) * sizeof(double) +
         weak.size() + begin.size() * sizeof(std::int64_t) + (alive.size() + initial.size()) * sizeof(int);
}

std::int64_t BondList::find(int i, int j) const {
  const std::int64_t first = begin[i];
  for (std::int64_t b = first; b < first + alive[i]; ++b) {
    if (neighbour[b] == j) return b;
  }
  return -1;
}

void BondList::close_row(int i) {
  std::int64_t to = begin[i];
  const std::int64_t old_end = end(i);
  for (std::int64_t b = begin[i]; b < old_end; ++b) {
    if (neighbour[b] == i) continue;
    neighbour[to] = neighbour[b];
    inverse_length[to] = inverse_length[b];
    if (!weight.empty()) weight[to] = weight[b];
    if (!weak.empty()) weak[to] = weak[b];
    ++to;
  }
  alive[i] = static_cast<int>(to - begin[i]);
  for (; to < old_end; ++to) {
    neighbour[to] = i;
    inverse_length[to] = padding_inverse_length;
  }
}

void BondList::close_gaps() {
  std::int64_t used = 0;
  for (std::size_t i = 0; i < particles(); ++i) used += end(i) - begin[i];
  if (4 * used > 3 * begin.back()) return;
  std::int64_t to = 0;
  const auto move_row = [&](auto& list, std::int64_t from, std::int64_t length) {
    if (!list.empty()) std::copy_n(list.begin() + from, length, list.begin() + to);
  };
  for (std::size_t i = 0; i < particles(); ++i) {
    const std::int64_t from = begin[i], length = end(i) - from;
    move_row(neighbour, from, length);
    move_row(inverse_length, from, length);
    move_row(weight, from, length);
    move_row(weak, from, length);
    begin[i] = to;
    to += length;
  }
  begin.back() = to;
}

void BondList::remove(const std::function<bool(int, int)>& cut) {
  parallel_for(particles(), [&](std::size_t row) {
    const int i = static_cast<int>(row);
    for (std::int64_t b = begin[i]; b < begin[i] + alive[i]; ++b) {
      const int j = neighbour[b];
      if (cut(std::min(i, j), std::max(i, j))) mark_broken(i, b);
    }
    close_row(i);
    initial[i] = alive[i];
  });
}

void BondList::weaken(const std::function<bool(int, int)>& chosen) {
  weak.assign(neighbour.size(), 0);
  for (int i = 0; i < static_cast<int>(particles()); ++i) {
    for (std::int64_t b = begin[i]; b < begin[i] + alive[i]; ++b) {
      weak[b] = chosen(i, neighbour[b]) || chosen(neighbour[b], i);
    }
  }
}

double partial_volume(double rest_length, double horizon, double spacing) {
  if (std::abs(rest_length - horizon) > 0.5 * spacing) return 1;
  return (horizon + 0.5 * spacing - rest_length) / spacing;
}

std::int64_t estimate_directed_bonds(std::size_t particles, double mean_volume, double horizon) {
  const double ball = 4.0 / 3.0 * std::numbers::pi * horizon * horizon * horizon;
  const double per_particle = std::min(ball / mean_volume, static_cast<double>(particles));
  return static_cast<std::int64_t>(std::min(per_particle * static_cast<double>(particles), 9e18));
}

namespace {

// Rows of neighbours with r0 ≤ radius and of the same body, sorted by index.
void find_neighbours(const ParticleSet& particles, double radius, BondList& bonds) {
  const std::size_t count = particles.size();
  const Cells cells(particles.positions, radius);
  const double limit = radius * radius * (1 + 2e-9);
  const auto visit = [&](std::size_t i, const auto& found) {
    cells.for_each_near(particles.positions.row(static_cast<Eigen::Index>(i)), [&](int j) {
      if (j == static_cast<int>(i) || particles.body[j] != particles.body[i]) return;
      const double squared = (particles.positions.row(j) - particles.positions.row(i)).squaredNorm();
      if (squared <= limit) found(j, std::sqrt(squared));
    });
  };
  bonds.alive.assign(count, 0);
  parallel_for(count, [&](std::size_t i) { visit(i, [&](int, double) { ++bonds.alive[i]; }); });
  bonds.initial = bonds.alive;
  bonds.begin.assign(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) bonds.begin[i + 1] = bonds.end(i);
  bonds.neighbour.resize(static_cast<std::size_t>(bonds.begin[count]));
  bonds.inverse_length.resize(bonds.neighbour.size());
  parallel_for(count, [&](std::size_t i) {
    std::int64_t b = bonds.begin[i];
    visit(i, [&](int j, double) { bonds.neighbour[b++] = j; });
    std::sort(bonds.neighbour.begin() + bonds.begin[i], bonds.neighbour.begin() + b);
    for (; b < bonds.begin[i + 1]; ++b) bonds.neighbour[b] = static_cast<int>(i);
    for (b = bonds.begin[i]; b < bonds.begin[i + 1]; ++b) {
      const int j = bonds.neighbour[b];
      const double squared = (particles.positions.row(j) - particles.positions.row(i)).squaredNorm();
      bonds.inverse_length[b] = j == static_cast<int>(i) ? padding_inverse_length : 1 / std::sqrt(squared);
    }
  });
}

// Replaces equal weights by a single number: 8 bytes per bond less to read in every step.
void fold_uniform_weight(BondList& bonds) {
  if (bonds.directed_bonds() == 0) return;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (std::size_t i = 0; i < bonds.particles(); ++i) {
    for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
      low = std::min(low, bonds.weight[b]);
      high = std::max(high, bonds.weight[b]);
    }
  }
  if (high - low > 1e-14 * high) return;
  bonds.uniform_weight = 0.5 * (low + high);
  bonds.weight = {};
}

}  // namespace

BondModel build_bonds(const ParticleSet& particles, std::span<const Material> materials, double horizon,
                      double spacing, StiffnessMode mode, const BondCut& is_cut) {
  if (!(horizon > 0) || !(spacing > 0)) throw InputError("horizon and particle spacing must be positive");
  const std::size_t count = particles.size();
  BondModel model;
  BondList& bonds = model.bonds;
  find_neighbours(particles, horizon, bonds);
  if (is_cut) bonds.remove(is_cut);
  const auto beta = [&](std::int64_t b) {
    return mode == StiffnessMode::paper ? 1.0 : partial_volume(1 / bonds.inverse_length[b], horizon, spacing);
  };
  model.stiffness.resize(count);
  model.critical_strain.resize(count);
  parallel_for(count, [&](std::size_t i) {
    const Material& material = materials[particles.body[i]];
    double first = 0;   // Σ V_j β r0
    double second = 0;  // Σ V_j β r0²
    for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
      const double length = 1 / bonds.inverse_length[b];
      const double volume = particles.volumes[bonds.neighbour[b]] * beta(b);
      first += volume * length;
      second += volume * length * length;
    }
    const double K = material.bulk_modulus;
    const double G = material.fracture_energy;
    const bool discrete = mode == StiffnessMode::calibrated && first > 0;
    const double k = discrete ? 18 * K / first : 18 * K / (std::numbers::pi * std::pow(horizon, 4));
    model.stiffness[i] = k;
    // A cut takes the bonds that cross it: per area ½ k τ² Σ V_j β r0 (ξ·n)⁺, and the mean of (ξ·n)⁺ over
    // directions is r0/4. In the continuum G = π k τ² δ⁵/10, which is eq. 4.
    const double cut = discrete ? k * second / 8 : k * std::numbers::pi * std::pow(horizon, 5) / 10;
    model.critical_strain[i] = material.critical_strain > 0 ? material.critical_strain
                               : G > 0                      ? std::sqrt(G / cut)
                                                            : std::numeric_limits<double>::infinity();
  });
  bonds.weight.assign(bonds.neighbour.size(), 0);
  parallel_for(count, [&](std::size_t i) {
    for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b) {
      const int j = bonds.neighbour[b];
      const double k = 0.5 * (model.stiffness[i] + model.stiffness[j]);
      bonds.weight[b] = k * beta(b) * (particles.volumes[i] * particles.volumes[j]);
    }
  });
  fold_uniform_weight(bonds);
  return model;
}

}  // namespace exemplar::peridynamics
