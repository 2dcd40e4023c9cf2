#include "rigidplastic/lbs/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/math/rigid_fit.h"

namespace exemplar::lbs {

namespace {

constexpr std::size_t k_most_copies = 32;  // every pair is compared in every frame

double shape_distance(const Points& a, const Points& b) {
  const Points difference = transform(fit_rigid(a, b), a) - b;
  return std::sqrt(difference.squaredNorm() / static_cast<double>(a.rows()));
}

using Group = std::vector<const LbsBody*>;

// Bodies that deform, by the place in the scene that they are copies of.
std::map<std::string, Group> groups_of(const std::vector<LbsBody>& bodies) {
  std::map<std::string, Group> groups;
  for (const LbsBody& body : bodies) {
    if (body.deformable) groups[body.body->path()].push_back(&body);
  }
  return groups;
}

// "barrel" of copies called barrel-1, barrel-2, …
std::string name_of(const Group& alike) {
  const std::string& first = alike.front()->body->name();
  return alike.size() == 1 ? first : first.substr(0, first.rfind('-'));
}

}  // namespace

double struck_depth(const std::vector<LbsBody>& bodies) {
  double depth = 0, total = 0;
  for (const LbsBody& body : bodies) {
    if (!body.deformable) continue;
    depth += body.blows.struck.cwiseProduct(body.points() - body.deformable->skin().rest()).sum();
    total += body.blows.struck.rowwise().norm().sum();
  }
  return total > 0 ? depth / total : 0;
}

double shape_variety(const std::vector<LbsBody>& bodies) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& [path, alike] : groups_of(bodies)) {
    if (alike.size() > k_most_copies) continue;
    for (std::size_t i = 0; i < alike.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        smallest = std::min(smallest, shape_distance(alike[i]->points(), alike[j]->points()));
    }
  }
  return std::isfinite(smallest) ? smallest : k_unknown;
}

std::vector<Metric> mean_weights(const std::vector<LbsBody>& bodies) {
  std::vector<Metric> metrics;
  for (const auto& [path, alike] : groups_of(bodies)) {
    const std::vector<std::string>& examples = alike.front()->examples;
    for (std::size_t e = 0; e < examples.size(); ++e) {
      double sum = 0;
      for (const LbsBody* body : alike) sum += body->deformable->mean_weight(static_cast<int>(e) + 1);
      metrics.push_back(
          {"weight_" + name_of(alike) + "_" + examples[e], "", sum / static_cast<double>(alike.size())});
    }
  }
  return metrics;
}

}  // namespace exemplar::lbs
