#include "core/contact/impact_stiffening.h"

#include <algorithm>

namespace exemplar {

namespace {

constexpr double shortest_stiffened = 20;  // of the reach

// The mass that moves where two sides meet: 1/m = 1/m₁ + 1/m₂, a side being the mean node of its surface
// points or an obstacle.
double stopped_mass(const ContactPoints& points, const ContactPair& pair, const VecX& node_masses) {
  const PointMap& map = points.surface().map;
  const std::size_t split = pair.kind == ContactPairKind::edge_edge ? 2 : 1;
  std::array<double, 2> surface{}, count{};
  for (std::size_t i = 0; i < 4; ++i) {
    const int point = pair.points[i];
    if (point < 0 || points[point].owner >= 0) continue;
    const std::size_t side = i < split ? 0 : 1;
    ++count[side];
    for (int k = map.begin(point); k < map.end(point); ++k)
      surface[side] += map.weights[to_size(k)] * node_masses[map.nodes[to_size(k)]];
  }
  double inverse = 0;
  for (const std::size_t side : {0, 1}) {
    if (surface[side] > 0) inverse += count[side] / surface[side];
  }
  for (const int o : points.obstacles_of(pair)) inverse += o < 0 ? 0 : points.obstacle(o).inverse_mass();
  return inverse > 0 ? 1 / inverse : 0;
}

std::array<int, 2> sorted_bodies(const ContactPoints& points, const ContactPair& pair) {
  std::array<int, 2> bodies = points.bodies_of(pair);
  if (bodies[0] > bodies[1]) std::swap(bodies[0], bodies[1]);
  return bodies;
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
  m_body_impacts.clear();
  m_any = false;
}

void ImpactStiffening::set(const ContactPoints& points, const std::vector<ContactPair>& pairs,
                           const std::vector<StepLimit>& limits, const ContactPoints::Placed& start,
                           const VecX& node_masses, double dt) {
  clear();
  m_impacts.assign(points.obstacles().size(), 1);
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
    m_any = true;
    for (const int o : points.obstacles_of(pair)) {
      if (o >= 0) m_impacts[to_size(o)] = std::max(m_impacts[to_size(o)], factor);
    }
    const std::array<int, 2> bodies = sorted_bodies(points, pair);
    if (bodies[0] >= 0) {
      double& largest = m_body_impacts.try_emplace(bodies, 1.0).first->second;
      largest = std::max(largest, factor);
    }
  }
  if (!m_any) clear();
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
      const auto bodies = m_body_impacts.find(sorted_bodies(points, pair));
      if (bodies != m_body_impacts.end()) pair.factor = std::max(pair.factor, bodies->second);
    }
    pair.area *= pair.factor;
  }
}

}  // namespace exemplar
