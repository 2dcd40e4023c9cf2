// The bonds of a lattice by fours: the neighbours that four particles in a row have in one direction are, but for the ends
// of the rows, four particles in a row as well. They are loaded with one instruction a coordinate instead of one by one,
// and their rest lengths and weights are one of few combinations, so that a group of four costs less than half of what four
// entries of a BondList do (measured with `exemplar bench peridynamics/cost-per-bond`).
//
// A group is the particles 4 g … 4 g + 3. An entry of it names where its first neighbour is or would be, the four bonds'
// kinds (bonds.h) and which of them there are: at the ends of rows a direction takes two entries. Particles that are not in
// rows have nothing but entries of one bond, and `bonds_per_entry` says so.
//
// The BondList stays the book of what is alive; the groups are made from it and follow when bonds break.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned_vector.h"
#include "meshless/peridynamics/bonds.h"

namespace exemplar::peridynamics {

struct BondGroups {
  static constexpr int width = 4;
  static constexpr std::uint32_t lanes = 0xf;
  // The kinds of four bonds, as the kernel wants them; 0 where there is no bond.
  struct alignas(64) Four {
    double inverse_square[width];
    double pull[width];
  };
  struct Entry {
    std::int32_t
        first;  // lane l's neighbour is first + l; may be outside the particles where lane l has none
    std::uint32_t four_and_alive;  // byte of its kinds in `fours` | bit l: lane l has this bond
    std::size_t four() const { return (four_and_alive & ~lanes) / sizeof(Four); }
    std::uint32_t alive() const { return four_and_alive & lanes; }
  };

  std::vector<std::int64_t> begin;  // first entry of each group; one more than groups
  std::vector<int> count;           // its entries; those before begin of the next one are not in use any more
  AlignedVector<Entry> entries;     // of a group in ascending order of `first`
  AlignedVector<Four> fours;        // in the order of their kinds' numbers

  // Groups of what is alive in the list, which has kinds.
  void build(const BondList& bonds);
  bool empty() const { return begin.empty(); }
  double bonds_per_entry(const BondList& bonds) const;
  std::span<Entry> of(std::size_t group) {
    return {entries.data() + begin[group], static_cast<std::size_t>(count[group])};
  }
  // Takes out the entries that have no bond any more.
  void close(std::size_t group);
  // After bonds of the group's rows broke in the list.
  void follow(const BondList& bonds, std::size_t group);
  std::size_t bytes() const;
};

}  // namespace exemplar::peridynamics
