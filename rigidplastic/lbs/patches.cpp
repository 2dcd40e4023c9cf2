#include "rigidplastic/lbs/patches.h"

#include <numeric>

namespace exemplar::lbs {

namespace {

// Labels of the connected groups of a few points.
std::vector<int> groups_of(std::span<const rigid::Contact> contacts, double reach) {
  std::vector<int> group(contacts.size());
  std::iota(group.begin(), group.end(), 0);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if ((contacts[i].point_a - contacts[j].point_a).norm() > reach) continue;
      const int from = std::max(group[i], group[j]), to = std::min(group[i], group[j]);
      for (std::size_t k = 0; k <= i; ++k) {
        if (group[k] == from) group[k] = to;
      }
    }
  }
  return group;
}

Patch patch_of(std::span<const rigid::Contact> contacts, const std::vector<int>& group, int wanted) {
  Patch patch;
  double total = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (group[i] != wanted) continue;
    const rigid::Contact& c = contacts[i];
    const double size = c.impulse.norm();
    patch.a = c.a;
    patch.b = c.b;
    patch.impulse += c.impulse;
    patch.point_a += size * c.point_a;
    patch.point_b += size * c.point_b;
    total += size;
  }
  if (total > 0) {
    patch.point_a /= total;
    patch.point_b /= total;
  }
  return patch;
}

}  // namespace

std::vector<Patch> contact_patches(std::span<const rigid::Contact> contacts,
                                   const std::function<double(int a, int b)>& reach) {
  std::vector<Patch> patches;
  for (std::size_t begin = 0, end = 0; begin < contacts.size(); begin = end) {
    while (end < contacts.size() && contacts[end].a == contacts[begin].a &&
           contacts[end].b == contacts[begin].b) {
      ++end;
    }
    const auto pair = contacts.subspan(begin, end - begin);
    const std::vector<int> group = groups_of(pair, reach(pair[0].a, pair[0].b));
    for (std::size_t i = 0; i < pair.size(); ++i) {
      if (group[i] != static_cast<int>(i)) continue;  // a group is named after its first point
      Patch patch = patch_of(pair, group, group[i]);
      if (!patch.impulse.isZero(0)) patches.push_back(patch);
    }
  }
  return patches;
}

}  // namespace exemplar::lbs
