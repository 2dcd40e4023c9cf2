#include "meshless/peridynamics/bond_groups.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/base/index.h"
#include "core/base/parallel.h"

namespace exemplar::peridynamics {

namespace {

constexpr int no_neighbour = std::numeric_limits<int>::max();
constexpr int bits_of_kind = 16;

// The numbers of four kinds, 16 bits each; 0 is the padding's.
using FourKinds = std::uint64_t;
using FourNumbers = std::unordered_map<FourKinds, std::uint32_t>;

std::size_t kind_in(FourKinds kinds, int lane) {
  return kinds >> (bits_of_kind * lane) & 0xffff;
}

// Goes through the rows of a group's particles at once and calls visit(offset, kinds, alive lanes) for every entry, in
// ascending order of offsets.
template <class Visit>
void for_each_entry(const BondList& bonds, std::size_t group, const Visit& visit) {
  std::array<const int*, BondGroups::width> at{}, end{};
  for (std::size_t l = 0; l < BondGroups::width; ++l) {
    const std::size_t i = BondGroups::width * group + l;
    if (i >= bonds.particles()) continue;
    const int* const row = bonds.neighbour.data() + bonds.begin[i];
    end[l] = row + bonds.alive[i];
    at[l] = std::upper_bound(row, end[l], static_cast<int>(i));
  }
  const int self = static_cast<int>(BondGroups::width * group);
  const auto place = [&](std::size_t l) {
    return at[l] != end[l] ? *at[l] - self - static_cast<int>(l) : no_neighbour;
  };
  for (;;) {
    const int offset = std::min({place(0), place(1), place(2), place(3)});
    if (offset == no_neighbour) return;
    FourKinds kinds = 0;
    std::uint32_t alive = 0;
    for (std::size_t l = 0; l < BondGroups::width; ++l) {
      if (place(l) != offset) continue;
      kinds |= FourKinds{bonds.kind[to_size(at[l] - bonds.neighbour.data())]} << (bits_of_kind * l);
      alive |= 1u << l;
      ++at[l];
    }
    visit(offset, kinds, alive);
  }
}

BondGroups::Four four_of(const BondList& bonds, FourKinds kinds) {
  BondGroups::Four out{};
  for (int l = 0; l < BondGroups::width; ++l) {
    if (kind_in(kinds, l) == 0) continue;
    const BondKind& kind = bonds.kinds[kind_in(kinds, l)];
    out.inverse_square[l] = kind.inverse_square;
    out.pull[l] = kind.pull;
  }
  return out;
}

// An entry before its combination of kinds has a place in `fours`.
struct RawEntry {
  FourKinds kinds;
  std::int32_t offset;
  std::uint32_t alive;
  bool operator==(const RawEntry&) const = default;
};
using RawPattern = std::vector<RawEntry>;

struct HashPattern {
  std::size_t operator()(const RawPattern& pattern) const {
    std::uint64_t hash = pattern.size();
    for (const RawEntry& entry : pattern) {
      hash = (hash ^ entry.kinds) * 0x9e3779b97f4a7c15ULL;
      hash = (hash ^ (static_cast<std::uint64_t>(entry.offset) << 4 | entry.alive)) * 0xd1342543de82ef95ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// The patterns that there are and a number for each, in the order in which they were met.
class PatternTable {
 public:
  int number_of(RawPattern&& pattern) {
    const auto [at, is_new] = m_numbers.try_emplace(std::move(pattern), static_cast<int>(m_patterns.size()));
    if (is_new) m_patterns.push_back(&at->first);
    return at->second;
  }
  const std::vector<const RawPattern*>& patterns() const { return m_patterns; }

 private:
  std::unordered_map<RawPattern, int, HashPattern> m_numbers;
  std::vector<const RawPattern*> m_patterns;
};

constexpr std::size_t k_groups_block = 1024;

// The patterns of a block of groups; `number` gets that of each group in this table.
PatternTable patterns_of_block(const BondList& bonds, std::size_t first, std::size_t end,
                               std::vector<int>& number) {
  PatternTable table;
  RawPattern pattern, before;
  for (std::size_t g = first; g < end; ++g) {
    pattern.clear();
    for_each_entry(bonds, g, [&](int offset, FourKinds kinds, std::uint32_t alive) {
      pattern.push_back({kinds, offset, alive});
    });
    if (g > first && pattern == before) {
      number[g] = number[g - 1];
      continue;
    }
    before = pattern;
    number[g] = table.number_of(std::move(pattern));
    pattern = {};
  }
  return table;
}

// All patterns; `number` gets that of each group.
PatternTable survey(const BondList& bonds, std::vector<int>& number) {
  const std::size_t blocks = (number.size() + k_groups_block - 1) / k_groups_block;
  std::vector<PatternTable> of_block(blocks);
  const auto end_of = [&](std::size_t block) {
    return std::min(number.size(), (block + 1) * k_groups_block);
  };
  parallel_for(
      blocks,
      [&](std::size_t block) {
        of_block[block] = patterns_of_block(bonds, block * k_groups_block, end_of(block), number);
      },
      1);
  PatternTable all;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<int> global;
    for (const RawPattern* pattern : of_block[block].patterns())
      global.push_back(all.number_of(RawPattern(*pattern)));
    for (std::size_t g = block * k_groups_block; g < end_of(block); ++g)
      number[g] = global[to_size(number[g])];
    of_block[block] = {};
  }
  return all;
}

// The combinations of kinds that there are, in ascending order.
std::vector<FourKinds> combinations_of(const PatternTable& table) {
  std::vector<FourKinds> all;
  for (const RawPattern* pattern : table.patterns())
    for (const RawEntry& entry : *pattern) all.push_back(entry.kinds);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

void BondGroups::build(const BondList& bonds) {
  const std::size_t groups = (bonds.particles() + width - 1) / width;
  std::vector<int> number(groups);
  const PatternTable table = survey(bonds, number);
  FourNumbers four_numbers;
  fours.clear();
  for (const FourKinds kinds : combinations_of(table)) {
    four_numbers.emplace(kinds, static_cast<std::uint32_t>(fours.size() * sizeof(Four)));
    fours.push_back(four_of(bonds, kinds));
  }
  patterns.clear();
  std::vector<std::int64_t> start;
  for (const RawPattern* pattern : table.patterns()) {
    start.push_back(static_cast<std::int64_t>(patterns.size()));
    for (const RawEntry& entry : *pattern)
      patterns.push_back({entry.offset, four_numbers.find(entry.kinds)->second | entry.alive});
    std::sort(patterns.begin() + start.back(), patterns.end(), comes_before);
  }
  start.push_back(static_cast<std::int64_t>(patterns.size()));
  begin.resize(groups);
  count.resize(groups);
  own.assign(groups, {});
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t n = to_size(number[g]);
    begin[g] = start[n];
    count[g] = static_cast<int>(start[n + 1] - start[n]);
  }
  constexpr std::size_t least_chunk = 128;
  int longest = 0;
  for (const Entry& entry : patterns) longest = std::max(longest, entry.offset);
  chunk = std::max(least_chunk, to_size(longest) / width + 2);
}

double BondGroups::bonds_per_entry(const BondList& bonds) const {
  const auto used = std::accumulate(count.begin(), count.end(), std::int64_t{0});
  return used > 0 ? 0.5 * static_cast<double>(bonds.directed_bonds()) / static_cast<double>(used) : 0;
}

void BondGroups::remove(int i, int j) {
  const std::size_t group = to_size(i) / width;
  if (begin[group] != has_own) {
    const std::span<const Entry> shared = of(group);
    own[group].assign(shared.begin(), shared.end());
    begin[group] = has_own;
  }
  std::vector<Entry>& entries = own[group];
  const auto entry = std::lower_bound(entries.begin(), entries.end(), Entry{j - i, 0}, comes_before);
  assert(entry != entries.end() && entry->offset == j - i);
  entry->four_and_alive &= ~(1u << (i % width));
}

void BondGroups::close(std::size_t group) {
  if (begin[group] != has_own) return;
  std::erase_if(own[group], [](const Entry& entry) { return entry.alive() == 0; });
  count[group] = static_cast<int>(own[group].size());
}

std::size_t BondGroups::bytes() const {
  std::size_t own_entries = 0;
  for (const std::vector<Entry>& entries : own) own_entries += entries.capacity();
  return (patterns.size() + own_entries) * sizeof(Entry) + fours.size() * sizeof(Four) +
         begin.size() * (sizeof(std::int64_t) + sizeof(int) + sizeof(std::vector<Entry>));
}

}  // namespace exemplar::peridynamics
