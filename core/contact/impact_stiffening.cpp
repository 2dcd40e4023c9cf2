#include "core/contact/impact_stiffening.h"

#include <algorithm>

namespace exemplar {

namespace {

constexpr double shortest_stiffened = 20;  // of the reach

// The mass that moves where two sides meet: 1/m = 1/m₁ + 1/m₂, a side being the mean node of its surface
// points or an obstacle.
double stopped_mass(const ContactPoints& points, const ContactPair& pair, const VecX& node_masses) {
  const PointMap& map = points.surface().map;
  double surface = 0, inverse = 0;
  int count = 0;
  for (const int point : pair.points) {
    if (point < 0 || points[point].owner >= 0) continue;
    ++count;
    for (int k = map.begin(point); k < map.end(point); ++k)
      surface += map.weights[to_size(k)] * node_masses[map.nodes[to_size(k)]];
  }
  if (surface > 0) inverse += count / surface;
  for (const int o : points.obstacles_of(pair)) inverse += o < 0 ? 0 : points.obstacle(o).inverse_mass();
  return inverse > 0 ? 1 / inverse : 0;
}

}  // namespace

ImpactStiffening::Key ImpactStiffening::key_of(const ContactPair& pair) {
  return {static_cast<int>(pair.kind),
          pair.shape,
          pair.points[0],
          pair.points[1],
          pair.points[2],
          pair.points[3]};
}

void ImpactStiffening::clear() {
  m_factors.clear();
  m_impacts.clear();
}

void ImpactStiffening::set(const ContactPoints& points, const std::vector<ContactPair>& pairs,
                           const std::vector<StepLimit>& limits, const ContactPoints::Placed& start,
                           const VecX& node_masses, double dt) {
  std::vector<double> impacts(points.obstacles().size(), 1);
  bool any = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ContactPair& pair = pairs[i];
    double factor = 1;
    if (limits[i].left >= shortest_stiffened * pair.reach && pair.area > 0) {
      const double pressure =
          stopped_mass(points, pair, node_masses) * limits[i].left / (dt * dt * pair.area);
      factor = std::max(1.0, pressure / pair.stiffness);
    }
    if (factor > 1 || points.gap(pair, start) < pair.reach) m_factors[key_of(pair)] = factor;
    if (factor == 1) continue;
    any = true;
    for (const int o : points.obstacles_of(pair)) {
      if (o >= 0) impacts[to_size(o)] = std::max(impacts[to_size(o)], factor);
    }
  }
  if (any) {
    m_impacts = std::move(impacts);
  } else {
    m_factors.clear();
  }
}

void ImpactStiffening::apply(const ContactPoints& points, std::vector<ContactPair>& pairs) const {
  if (empty()) return;
  for (ContactPair& pair : pairs) {
    const auto found = m_factors.find(key_of(pair));
    if (found != m_factors.end()) {
      pair.factor = found->second;
    } else {
      for (const int o : points.obstacles_of(pair))
        pair.factor = o < 0 ? pair.factor : std::max(pair.factor, m_impacts[to_size(o)]);
    }
    pair.area *= pair.factor;
  }
}

}  // namespace exemplar
