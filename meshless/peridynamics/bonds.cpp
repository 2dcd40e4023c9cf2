#include "meshless/peridynamics/bonds.h"

#include <algorithm>
#include <atomic>
#include <bit>
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
  return neighbour.size() * sizeof(int) + kind.size() * sizeof(std::uint16_t) +
         kinds.size() * sizeof(BondKind) + (inverse_square.size() + pull.size()) * sizeof(double) +
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
    if (!kind.empty()) kind[to] = kind[b];
    if (!pull.empty()) {
      inverse_square[to] = inverse_square[b];
      pull[to] = pull[b];
    }
    if (!weak.empty()) weak[to] = weak[b];
    ++to;
  }
  alive[i] = static_cast<int>(to - begin[i]);
  for (; to < old_end; ++to) {
    neighbour[to] = i;
    if (!kind.empty()) kind[to] = 0;
    if (!pull.empty()) inverse_square[to] = padding_inverse_square;
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
    move_row(kind, from, length);
    move_row(inverse_square, from, length);
    move_row(pull, from, length);
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

// Calls body(block, first particle, one after its last) on several threads.
template <class Body>
void for_each_block(std::size_t particles, std::size_t block_size, const Body& body) {
  parallel_for((particles + block_size - 1) / block_size,
               [&](std::size_t block) {
                 body(block, block * block_size, std::min(particles, (block + 1) * block_size));
               },
               1);
}

// Rows of neighbours with r0 ≤ radius and of the same body, sorted by index.
void find_neighbours(const ParticleSet& particles, double radius, BondList& bonds) {
  const std::size_t count = particles.size();
  const Cells cells(particles.positions, radius);
  const double limit = radius * radius * (1 + 2e-9);
  const auto visit = [&](std::size_t i, const auto& found) {
    cells.for_each_near(particles.positions.row(static_cast<Eigen::Index>(i)), [&](int j) {
      if (j == static_cast<int>(i) || particles.body[j] != particles.body[i]) return;
      const double squared = (particles.positions.row(j) - particles.positions.row(i)).squaredNorm();
      if (squared <= limit) found(j);
    });
  };
  constexpr std::size_t block_size = 1024;
  std::vector<std::vector<int>> found((count + block_size - 1) / block_size);
  bonds.alive.assign(count, 0);
  for_each_block(count, block_size, [&](std::size_t block, std::size_t first, std::size_t last) {
    std::vector<int>& rows = found[block];
    for (std::size_t i = first; i < last; ++i) {
      const auto start = static_cast<std::ptrdiff_t>(rows.size());
      visit(i, [&](int j) { rows.push_back(j); });
      std::sort(rows.begin() + start, rows.end());
      bonds.alive[i] = static_cast<int>(rows.size()) - static_cast<int>(start);
    }
  });
  bonds.initial = bonds.alive;
  bonds.begin.assign(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) bonds.begin[i + 1] = bonds.end(i);
  bonds.neighbour.resize(static_cast<std::size_t>(bonds.begin[count]));
  for_each_block(count, block_size, [&](std::size_t block, std::size_t first, std::size_t last) {
    auto from = found[block].begin();
    for (std::size_t i = first; i < last; ++i) {
      const auto end = std::copy_n(from, bonds.alive[i], bonds.neighbour.begin() + bonds.begin[i]);
      std::fill(end, bonds.neighbour.begin() + bonds.begin[i + 1], static_cast<int>(i));
      from += bonds.alive[i];
    }
    found[block] = {};
  });
}

template <class Visit>
void for_each_bond(const BondList& bonds, std::size_t i, const Visit& visit) {
  for (std::int64_t b = bonds.begin[i]; b < bonds.begin[i] + bonds.alive[i]; ++b)
    visit(b, bonds.neighbour[b]);
}

// Kinds of bonds with consecutive numbers: a hash table with open addressing, because every bond is looked up.
class KindTable {
 public:
  int number_of(const BondKind& kind) {
    if (2 * m_kinds.size() >= m_slots.size()) grow();
    int& slot = m_slots[place_of(kind)];
    if (slot < 0) {
      slot = static_cast<int>(m_kinds.size());
      m_kinds.push_back(kind);
    }
    return slot;
  }
  int find(const BondKind& kind) const { return m_slots[place_of(kind)]; }
  const std::vector<BondKind>& kinds() const { return m_kinds; }

 private:
  std::size_t place_of(const BondKind& kind) const {
    const std::size_t mask = m_slots.size() - 1;
    const auto mixed = std::bit_cast<std::uint64_t>(kind.inverse_square) * 0x9e3779b97f4a7c15ULL +
                       std::bit_cast<std::uint64_t>(kind.pull);
    std::size_t at = (mixed * 0xd1342543de82ef95ULL >> 40) & mask;
    while (m_slots[at] >= 0 && !is_same(m_kinds[static_cast<std::size_t>(m_slots[at])], kind))
      at = (at + 1) & mask;
    return at;
  }
  static bool is_same(const BondKind& a, const BondKind& b) {
    return a.inverse_square == b.inverse_square && a.pull == b.pull;
  }
  void grow() {
    m_slots.assign(2 * m_slots.size(), -1);
    for (std::size_t k = 0; k < m_kinds.size(); ++k) m_slots[place_of(m_kinds[k])] = static_cast<int>(k);
  }

  std::vector<int> m_slots = std::vector<int>(1024, -1);
  std::vector<BondKind> m_kinds;
};

// To 42 bits: what differs by the rounding of positions (some 1e-14) becomes the same, and nothing changes by more
// than 1.2e-13.
double rounded(double x) {
  constexpr std::uint64_t dropped = 10;
  const auto bits = std::bit_cast<std::uint64_t>(x) + (std::uint64_t{1} << (dropped - 1));
  return std::bit_cast<double>(bits >> dropped << dropped);
}

constexpr std::size_t k_kinds_block = 4096;  // particles

// The kinds of each block of particles in the order in which they are met; `kind` gets their numbers there. None if a block
// has more than `most`. kind_of(i, j) gives a bond's.
template <class KindOf>
std::vector<std::vector<BondKind>> number_by_block(BondList& bonds, std::size_t most, const KindOf& kind_of) {
  std::vector<std::vector<BondKind>> of_block((bonds.particles() + k_kinds_block - 1) / k_kinds_block);
  std::atomic<bool> too_many = false;
  for_each_block(
      bonds.particles(), k_kinds_block, [&](std::size_t block, std::size_t first, std::size_t last) {
        KindTable table;
        for (std::size_t i = first; i < last && !too_many; ++i) {
          for_each_bond(bonds, i, [&](std::int64_t b, int j) {
            bonds.kind[b] = static_cast<std::uint16_t>(table.number_of(kind_of(static_cast<int>(i), j)));
          });
          if (table.kinds().size() > most) too_many = true;
        }
        of_block[block] = table.kinds();
      });
  if (too_many) of_block.clear();
  return of_block;
}

// All kinds in ascending order, so that their numbers do not depend on threads; none if there are more than `most`.
std::vector<BondKind> sorted_kinds(const std::vector<std::vector<BondKind>>& of_block, std::size_t most) {
  KindTable all;
  for (const std::vector<BondKind>& block : of_block) {
    for (const BondKind& kind : block) all.number_of(kind);
    if (all.kinds().size() > most) return {};
  }
  std::vector<BondKind> kinds = all.kinds();
  std::sort(kinds.begin(), kinds.end(), [](const BondKind& a, const BondKind& b) {
    return std::pair(a.inverse_square, a.pull) < std::pair(b.inverse_square, b.pull);
  });
  return kinds;
}

// For each value the least of those from which it differs by no more than a chain of rounding: two sides of a limit of
// rounded(), where the same bond in two places of a lattice would have two kinds.
std::map<double, double> joined(std::vector<double> values) {
  constexpr double close = 1e-12;
  std::sort(values.begin(), values.end());
  std::map<double, double> least;
  double before = 0, chain = 0;
  for (const double value : values) {
    if (!(value - before <= close * std::abs(value))) chain = value;
    least.emplace(value, chain);
    before = value;
  }
  return least;
}

std::vector<BondKind> joined(const std::vector<BondKind>& kinds) {
  std::vector<double> inverse_squares, pulls;
  for (const BondKind& kind : kinds) {
    inverse_squares.push_back(kind.inverse_square);
    pulls.push_back(kind.pull);
  }
  const auto inverse_square = joined(std::move(inverse_squares)), pull = joined(std::move(pulls));
  std::vector<BondKind> out;
  for (const BondKind& kind : kinds)
    out.push_back({inverse_square.find(kind.inverse_square)->second, pull.find(kind.pull)->second});
  return out;
}

// Fills `kind` and `kinds`; false if there are more than 16-bit numbers, or so many that a table would not save anything.
template <class KindOf>
bool set_kinds(BondList& bonds, const KindOf& exact_kind_of) {
  constexpr std::size_t bonds_per_kind = 16;
  const std::size_t most =
      std::min<std::size_t>(65535, static_cast<std::size_t>(bonds.directed_bonds()) / bonds_per_kind);
  bonds.kind.assign(bonds.neighbour.size(), 0);
  const auto of_block = number_by_block(bonds, most, [&](int i, int j) {
    const BondKind exact = exact_kind_of(i, j);
    return BondKind{rounded(exact.inverse_square), rounded(exact.pull)};
  });
  const std::vector<BondKind> kinds = sorted_kinds(of_block, most);
  if (kinds.empty()) {
    bonds.kind = {};
    return false;
  }
  const std::vector<BondKind> known = joined(kinds);
  KindTable table, all;
  all.number_of({padding_inverse_square, 0});
  for (const BondKind& kind : kinds) table.number_of(kind);
  for (const BondKind& kind : known) all.number_of(kind);
  bonds.kinds.assign(all.kinds().begin(), all.kinds().end());
  for_each_block(
      bonds.particles(), k_kinds_block, [&](std::size_t block, std::size_t first, std::size_t last) {
        std::vector<std::uint16_t> numbers;
        for (const BondKind& kind : of_block[block]) {
          const auto n = static_cast<std::size_t>(table.find(kind));
          numbers.push_back(static_cast<std::uint16_t>(all.find(known[n])));
        }
        for (std::size_t i = first; i < last; ++i)
          for_each_bond(bonds, i, [&](std::int64_t b, int) { bonds.kind[b] = numbers[bonds.kind[b]]; });
      });
  return true;
}

template <class KindOf>
void set_each(BondList& bonds, const KindOf& kind_of) {
  bonds.inverse_square.assign(bonds.neighbour.size(), padding_inverse_square);
  bonds.pull.assign(bonds.neighbour.size(), 0);
  parallel_for(bonds.particles(), [&](std::size_t i) {
    for_each_bond(bonds, i, [&](std::int64_t b, int j) {
      const BondKind kind = kind_of(static_cast<int>(i), j);
      bonds.inverse_square[b] = kind.inverse_square;
      bonds.pull[b] = kind.pull;
    });
  });
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
  const auto squared_length = [&](int i, int j) {
    return (particles.positions.row(j) - particles.positions.row(i)).squaredNorm();
  };
  const auto beta = [&](double length) {
    return mode == StiffnessMode::paper ? 1.0 : partial_volume(length, horizon, spacing);
  };
  model.stiffness.resize(count);
  model.critical_strain.resize(count);
  parallel_for(count, [&](std::size_t i) {
    const Material& material = materials[particles.body[i]];
    double first = 0;   // Σ V_j β r0
    double second = 0;  // Σ V_j β r0²
    for_each_bond(bonds, i, [&](std::int64_t, int j) {
      const double length = std::sqrt(squared_length(static_cast<int>(i), j));
      const double volume = particles.volumes[j] * beta(length);
      first += volume * length;
      second += volume * length * length;
    });
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
  const auto kind_of = [&](int i, int j) {
    const double squared = squared_length(i, j), length = std::sqrt(squared);
    const double k = 0.5 * (model.stiffness[i] + model.stiffness[j]);
    return BondKind{1 / squared, k * beta(length) * (particles.volumes[i] * particles.volumes[j]) / length};
  };
  if (!set_kinds(bonds, kind_of)) set_each(bonds, kind_of);
  return model;
}

}  // namespace exemplar::peridynamics
