// The bonds of all particles as one compressed list: every bond is stored at both of its particles, so that
// each particle sums its own forces and nothing is shared between threads.
//
// Rows are padded to a multiple of four bonds (one AVX2 register of doubles). A padding entry names the row's
// own particle, so that its force is exactly zero without a mask. When bonds break, the row is closed up in
// its order and gets shorter: the layout depends only on which bonds are alive, and damaged bodies run
// faster.
//
// A step reads every bond once and computes little with it. In a lattice few pairs of rest length and weight are
// different: an entry is then the neighbour and the 16-bit number of its kind in a table (6 bytes). Where there are
// more than 65 535 kinds (Voronoi cells, tetrahedra, cells cut by a round surface) it holds the numbers themselves
// (20 bytes).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/base/aligned_vector.h"
#include "meshless/peridynamics/cuts.h"
#include "meshless/peridynamics/model.h"
#include "meshless/peridynamics/particles.h"

namespace exemplar::peridynamics {

// What the force of a bond is computed from: its rest length r0 and weight w = k β V_i V_j [N], as the kernel wants
// them.
struct alignas(16) BondKind {
  double inverse_square;  // 1/r0² [1/m²]
  double pull;            // w/r0 [N/m]
};

struct BondList {
  static constexpr int width = 4;

  std::vector<std::int64_t> begin;  // first entry of each row; one more than particles
  std::vector<int> alive;           // unbroken bonds of each row
  std::vector<int> initial;         // bonds of each row at rest
  AlignedVector<int> neighbour;
  AlignedVector<std::uint16_t> kind;     // of each bond, an index into `kinds`; empty if there are too many
  AlignedVector<BondKind> kinds;         // the first is the padding's
  AlignedVector<double> inverse_square;  // of each bond; empty if there are kinds
  AlignedVector<double> pull;            // of each bond; empty if there are kinds
  std::vector<std::uint8_t> weak;        // empty if no bond is weakened

  std::size_t particles() const { return alive.size(); }
  std::int64_t end(std::size_t i) const { return begin[i] + (alive[i] + width - 1) / width * width; }
  BondKind kind_of(std::int64_t b) const {
    const auto bond = static_cast<std::size_t>(b);
    return kind.empty() ? BondKind{inverse_square[bond], pull[bond]} : kinds[kind[bond]];
  }
  std::int64_t directed_bonds() const;
  std::size_t bytes() const;

  // The row entry of i's bond to j, or −1 if it is broken or never was.
  std::int64_t find(int i, int j) const;

  // Marks an entry of row i as broken; close_row then removes all marked ones.
  void mark_broken(int i, std::int64_t bond) { neighbour[static_cast<std::size_t>(bond)] = i; }
  void close_row(int i);

  // Moves the rows together when more than a quarter of the entries have gone, so that short rows share cache
  // lines; the entries and their order stay the same.
  void close_gaps();

  // Takes every bond for which the function says true out of both rows, as if it had never been there. It is
  // asked on several threads, for both copies in the same order of the two particles.
  void remove(const std::function<bool(int, int)>& cut);
  // Weakens bonds instead: they break at Rules::weak_factor of the threshold.
  void weaken(const std::function<bool(int, int)>& chosen);
};

// 1/r0² of a padding entry: with the kernel's smallest distance of 1e-15 m the strain is 1e-12, which neither
// breaks nor counts as compression.
inline constexpr double smallest_distance_squared = 1e-30;
inline constexpr double padding_inverse_square = 1e30 * (1 + 2e-12);
inline constexpr double padding_limit = 1e28;

// Partial volume at the horizon's edge: (δ + λ/2 − r0)/λ for |r0 − δ| ≤ λ/2, else 1.
double partial_volume(double rest_length, double horizon, double spacing);

struct BondModel {
  BondList bonds;
  std::vector<double> stiffness;  // k_i per particle
  std::vector<double>
      critical_strain;  // mean τ per particle, before the random spread; infinite if unbreakable
};

// Bonds between all pairs of one body with r0 ≤ δ (inclusive, with a rounding margin of 1e-9), each row in
// the order of particle indices. Materials are indexed by body. Bonds that `is_cut` are left out before stiffness
// and strength are calibrated: they are beyond a free surface.
BondModel build_bonds(const ParticleSet& particles, std::span<const Material> materials, double horizon,
                      double spacing, StiffnessMode mode, const BondCut& is_cut = {});

// What build_bonds will allocate for the same input, so that absurd sizes can be refused before.
std::int64_t estimate_directed_bonds(std::size_t particles, double mean_volume, double horizon);

}  // namespace exemplar::peridynamics
