#include "meshless/peridynamics/bond_groups.h"

#include <algorithm>
#include <array>
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

// Goes through the rows of a group's particles at once and calls visit(first, kinds, alive lanes) for every entry.
template <class Visit>
void for_each_entry(const BondList& bonds, std::size_t group, const Visit& visit) {
  std::array<std::int64_t, BondGroups::width> at{}, end{};
  for (std::size_t l = 0; l < BondGroups::width; ++l) {
    const std::size_t i = BondGroups::width * group + l;
    if (i >= bonds.particles()) continue;
    at[l] = bonds.begin[i];
    end[l] = bonds.begin[i] + bonds.alive[i];
  }
  const auto place = [&](std::size_t l) {
    return at[l] < end[l] ? bonds.neighbour[to_size(at[l])] - static_cast<int>(l) : no_neighbour;
  };
  for (;;) {
    const int first = std::min({place(0), place(1), place(2), place(3)});
    if (first == no_neighbour) return;
    FourKinds kinds = 0;
    std::uint32_t alive = 0;
    for (std::size_t l = 0; l < BondGroups::width; ++l) {
      if (place(l) != first) continue;
      kinds |= FourKinds{bonds.kind[to_size(at[l])]} << (bits_of_kind * l);
      alive |= 1u << l;
      ++at[l];
    }
    visit(first, kinds, alive);
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

// Counts every group's entries and finds the combinations of kinds that there are, in ascending order.
std::vector<FourKinds> survey(const BondList& bonds, std::vector<int>& count) {
  constexpr std::size_t block_size = 1024;  // groups
  const std::size_t blocks = (count.size() + block_size - 1) / block_size;
  std::vector<std::vector<FourKinds>> of_block(blocks);
  parallel_for(
      blocks,
      [&](std::size_t block) {
        FourNumbers seen;
        const std::size_t end = std::min(count.size(), (block + 1) * block_size);
        for (std::size_t g = block * block_size; g < end; ++g) {
          for_each_entry(bonds, g, [&](int, FourKinds kinds, std::uint32_t) {
            ++count[g];
            seen.try_emplace(kinds, 0);
          });
        }
        for (const auto& [kinds, number] : seen) of_block[block].push_back(kinds);
      },
      1);
  std::vector<FourKinds> all;
  for (const std::vector<FourKinds>& some : of_block) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

void BondGroups::build(const BondList& bonds) {
  const std::size_t groups = (bonds.particles() + width - 1) / width;
  count.assign(groups, 0);
  const std::vector<FourKinds> combinations = survey(bonds, count);
  FourNumbers numbers;
  fours.clear();
  for (const FourKinds kinds : combinations) {
    numbers.emplace(kinds, static_cast<std::uint32_t>(fours.size() * sizeof(Four)));
    fours.push_back(four_of(bonds, kinds));
  }
  begin.assign(groups + 1, 0);
  for (std::size_t g = 0; g < groups; ++g) begin[g + 1] = begin[g] + count[g];
  entries.resize(to_size(begin[groups]));
  parallel_for(groups, [&](std::size_t g) {
    Entry* to = entries.data() + begin[g];
    for_each_entry(bonds, g, [&](int first, FourKinds kinds, std::uint32_t alive) {
      *to++ = {first, numbers.find(kinds)->second | alive};
    });
  });
}

double BondGroups::bonds_per_entry(const BondList& bonds) const {
  const auto used = std::accumulate(count.begin(), count.end(), std::int64_t{0});
  return used > 0 ? static_cast<double>(bonds.directed_bonds()) / static_cast<double>(used) : 0;
}

void BondGroups::close(std::size_t group) {
  const std::span<Entry> own = of(group);
  const auto end =
      std::remove_if(own.begin(), own.end(), [](const Entry& entry) { return entry.alive() == 0; });
  count[group] = static_cast<int>(end - own.begin());
}

void BondGroups::follow(const BondList& bonds, std::size_t group) {
  for (Entry& entry : of(group)) {
    for (int l = 0; l < width; ++l) {
      const bool is_gone = bonds.find(static_cast<int>(width * group) + l, entry.first + l) < 0;
      if ((entry.alive() >> l & 1) && is_gone) entry.four_and_alive &= ~(1u << l);
    }
  }
  close(group);
}

std::size_t BondGroups::bytes() const {
  return entries.size() * sizeof(Entry) + fours.size() * sizeof(Four) + begin.size() * sizeof(std::int64_t) +
         count.size() * sizeof(int);
}

}  // namespace exemplar::peridynamics
