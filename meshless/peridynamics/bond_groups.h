// The bonds of a lattice by fours: the neighbours that four particles in a row have in one direction are, but for the ends
// of the rows, four particles in a row as well. They are loaded with one instruction a coordinate instead of one by one,
// and their rest lengths and weights are one of few combinations, so that a group of four costs less than half of what four
// entries of a BondList do (measured with `exemplar bench peridynamics/cost-per-bond`).
//
// A group is the particles 4 g … 4 g + 3. An entry of it holds their bonds to the particles that come `offset` places later,
// the four bonds' kinds (bonds.h) and which of them there are: at the ends of rows some
// have none. Particles that are not in rows have nothing but entries of one bond, and `bonds_per_entry` says so.
//
// Every bond is here once, at the particle that comes first: the kernel adds its force there and takes it away at the other
// one, for half the work of a list that has it twice. So that threads do not write to the same particle, the groups are gone
// through in chunks that are as long as the longest offset: first all even ones, which write to themselves and to the next
// one, then all odd ones. Sums are in the same order for any number of threads.
//
// Seen from themselves most groups of a lattice have the same neighbours: such groups share one pattern of entries, so that
// a step reads few of them instead of a list that no cache holds. A group that has lost a bond has entries of its own.
//
// The BondList stays the book of what is alive; the groups are made from it and follow when bonds break.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
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
        offset;  // > 0; lane l's neighbour is 4 g + l + offset, which may be no particle if it has none
    std::uint32_t four_and_alive;  // byte of its kinds in `fours` | bit l: lane l has this bond
    std::size_t four() const { return (four_and_alive & ~lanes) / sizeof(Four); }
    std::uint32_t alive() const { return four_and_alive & lanes; }
  };
  static constexpr std::int64_t has_own = -1;

  std::vector<std::int64_t> begin;      // first entry of each group's pattern, or has_own
  std::vector<int> count;               // entries of each group
  AlignedVector<Entry> patterns;        // one after the other, each in the order of comes_before()
  std::vector<std::vector<Entry>> own;  // of the groups that have their own
  AlignedVector<Four> fours;            // in the order of their kinds' numbers
  std::size_t chunk = 0;                // groups; an entry of one chunk leads into it or into the next one

  // Entries whose offsets differ by less than four write to the same places; one right after the other would have to wait.
  static bool comes_before(const Entry& a, const Entry& b) {
    return std::pair(a.offset % width, a.offset) < std::pair(b.offset % width, b.offset);
  }
  std::size_t size() const { return begin.size(); }
  std::size_t chunks() const { return (size() + chunk - 1) / chunk; }

  // Groups of what is alive in the list, which has kinds.
  void build(const BondList& bonds);
  bool empty() const { return begin.empty(); }
  double bonds_per_entry(const BondList& bonds) const;
  std::span<const Entry> of(std::size_t group) const {
    const Entry* first = begin[group] == has_own ? own[group].data() : patterns.data() + begin[group];
    return {first, static_cast<std::size_t>(count[group])};
  }
  // Takes the bond of i to a later j out of i's group, which is to be closed. Writes to this group only.
  void remove(int i, int j);
  void close(std::size_t group);
  std::size_t bytes() const;
};

}  // namespace exemplar::peridynamics
