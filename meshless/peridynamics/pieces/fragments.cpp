#include "meshless/peridynamics/pieces/fragments.h"

#include <algorithm>
#include <numeric>

namespace exemplar::peridynamics {

namespace {

int root_of(std::vector<int>& parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

Fragments find_fragments(std::span<const std::pair<int, int>> neighbours, std::span<const double> volumes,
                         const std::function<bool(int, int)>& joined) {
  const std::size_t count = volumes.size();
  std::vector<int> parent(count);
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& [a, b] : neighbours) {
    const int ra = root_of(parent, a), rb = root_of(parent, b);
    if (ra != rb && joined(a, b)) parent[std::max(ra, rb)] = std::min(ra, rb);
  }
  std::vector<double> total(count, 0);
  std::vector<int> roots;
  for (std::size_t i = 0; i < count; ++i) {
    const int root = root_of(parent, static_cast<int>(i));
    if (root == static_cast<int>(i)) roots.push_back(root);
    total[root] += volumes[i];
  }
  std::sort(roots.begin(), roots.end(),
            [&](int a, int b) { return total[a] != total[b] ? total[a] > total[b] : a < b; });
  Fragments fragments;
  std::vector<int> rank(count, 0);
  for (std::size_t r = 0; r < roots.size(); ++r) {
    rank[roots[r]] = static_cast<int>(r);
    fragments.volumes.push_back(total[roots[r]]);
  }
  fragments.of.resize(count);
  for (std::size_t i = 0; i < count; ++i) fragments.of[i] = rank[root_of(parent, static_cast<int>(i))];
  return fragments;
}

std::vector<int> size_histogram(const Fragments& fragments) {
  const double whole = std::accumulate(fragments.volumes.begin(), fragments.volumes.end(), 0.0);
  std::vector<int> bins(5, 0);
  for (const double volume : fragments.volumes) {
    const double share = volume / whole;
    ++bins[share < 1e-4 ? 0 : share < 1e-3 ? 1 : share < 1e-2 ? 2 : share < 1e-1 ? 3 : 4];
  }
  return bins;
}

std::vector<RigidTransform> fit_fragments(const Fragments& fragments, const Points& rest,
                                          const Points& current, std::span<const double> masses,
                                          std::vector<Quat>& rotations) {
  std::vector<std::vector<int>> members(fragments.count());
  for (std::size_t i = 0; i < fragments.of.size(); ++i)
    members[fragments.of[i]].push_back(static_cast<int>(i));
  std::vector<RigidTransform> motions(fragments.count());
  for (std::size_t f = 0; f < members.size(); ++f) {
    const std::vector<int>& group = members[f];
    VecX weights(static_cast<Eigen::Index>(group.size()));
    for (std::size_t k = 0; k < group.size(); ++k) weights[static_cast<Eigen::Index>(k)] = masses[group[k]];
    const Points from = rest(group, Eigen::all), to = current(group, Eigen::all);
    if (group.size() >= 4) {
      motions[f] = fit_rigid(from, to, weights);
    } else {
      motions[f].rotation = rotations[group[0]].toRotationMatrix();
      const Vec3 a = (weights.transpose() * from).transpose() / weights.sum();
      const Vec3 b = (weights.transpose() * to).transpose() / weights.sum();
      motions[f].translation = b - motions[f].rotation * a;
    }
    // Kept rotations are copied, not converted back: doing this twice at one moment must change nothing.
    const Quat kept = group.size() >= 4 ? Quat(motions[f].rotation) : Quat(rotations[group[0]]);
    for (const int i : group) rotations[i] = kept;
  }
  return motions;
}

}  // namespace exemplar::peridynamics
