#include "core/contact/contact.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/base/stopwatch.h"
#include "core/contact/contact_search.h"

namespace exemplar {

void ContactPotential::begin_step(const std::vector<ObstacleState>& states, const PointsRef& nodes) {
  m_points.set_start(states);
  m_start_nodes = nodes;
  m_friction.clear();
  m_stiffening.clear();
}

void ContactPotential::find_pairs(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1) {
  m_pairs.clear();
  if (m_points.obstacles().empty() && m_bodies.empty()) return;
  const Stopwatch stopwatch;
  const ContactPath path{q0, q1, m_points.place(x0, q0), m_points.place(x1, q1)};
  m_pairs = find_contact_pairs(m_points, path);
  if (!m_bodies.empty()) m_bodies.append_pairs(path, m_pairs);
  m_stiffening.apply(m_points, m_pairs);
  m_seconds += stopwatch.seconds();
}

std::vector<StepLimit> ContactPotential::limits(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                                const VecX& q1) const {
  if (m_pairs.empty()) return {};
  const Stopwatch stopwatch;
  std::vector<StepLimit> all =
      step_limits(m_points, m_pairs, {q0, q1, m_points.place(x0, q0), m_points.place(x1, q1)});
  m_seconds += stopwatch.seconds();
  return all;
}

double ContactPotential::max_step(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                  const VecX& q1) const {
  double smallest = 1;
  for (const StepLimit& limit : limits(x0, q0, x1, q1)) smallest = std::min(smallest, limit.alpha);
  return smallest;
}

std::vector<ContactStop> ContactPotential::stops(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                                 const VecX& q1) const {
  const std::vector<StepLimit> all = limits(x0, q0, x1, q1);
  std::vector<ContactStop> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].alpha < 1)
      out.push_back({all[i].alpha, {m_points.side_of(m_pairs[i], 0), m_points.side_of(m_pairs[i], 1)}});
  }
  return out;
}

double ContactPotential::overshoot(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                   const VecX& q1) const {
  const std::vector<StepLimit> all = limits(x0, q0, x1, q1);
  double largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // A body does not go around itself: its own elasticity is in the way.
    const std::array<int, 2> bodies = m_points.bodies_of(m_pairs[i]);
    if (bodies[0] >= 0 && bodies[0] == bodies[1]) continue;
    largest = std::max(largest, all[i].left / (0.5 * inner_radius(m_points, m_pairs[i])));
  }
  return largest;
}

void ContactPotential::stiffen(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1,
                               const VecX& node_masses, double dt) {
  m_stiffening.set(m_points, m_pairs, limits(x0, q0, x1, q1), m_points.placed(x0, q0), node_masses, dt);
}

double ContactPotential::value(const PointsRef& x, const VecX& q) const {
  if (m_pairs.empty()) return 0;
  const Stopwatch stopwatch;
  const ContactPoints::Placed at = m_points.placed(x, q);
  std::vector<double> values(m_pairs.size());
  parallel_for(m_pairs.size(), [&](std::size_t i) { values[i] = pair_value(m_points, m_pairs[i], at); });
  double sum = 0;
  for (const double v : values) sum += v;
  m_seconds += stopwatch.seconds();
  return sum;
}

double ContactPotential::added_by_stiffening(const PointsRef& x, const VecX& q) const {
  if (m_stiffening.empty()) return 0;
  const ContactPoints::Placed at = m_points.placed(x, q);
  double sum = 0;
  for (const ContactPair& pair : m_pairs) {
    if (pair.factor > 1) sum += (1 - 1 / pair.factor) * pair_value(m_points, pair, at);
  }
  return sum;
}

double ContactPotential::smallest_gap(const PointsRef& x, const VecX& q) const {
  double smallest = std::numeric_limits<double>::infinity();
  if (m_pairs.empty()) return smallest;
  const ContactPoints::Placed at = m_points.placed(x, q);
  for (const ContactPair& pair : m_pairs) smallest = std::min(smallest, m_points.gap(pair, at));
  return smallest;
}

ContactPotential::Closest ContactPotential::closest(const PointsRef& x, const VecX& q) const {
  const ContactPoints::Placed at = m_points.placed(x, q);
  Closest best;
  for (const ContactPair& pair : m_pairs) {
    const int first = m_points.side_of(pair, 0).obstacle, second = m_points.side_of(pair, 1).obstacle;
    const double g = m_points.gap(pair, at);
    if ((first >= 0) == (second >= 0) || g >= best.gap) continue;
    best.gap = g;
    best.obstacle = std::max(first, second);
    const Vec3 opening = m_points.opening(pair, at);
    best.away = first < 0 ? opening : Vec3(-opening);
  }
  return best;
}

std::vector<ContactLink> ContactPotential::links(const PointsRef& x, const VecX& q) const {
  const ContactPoints::Placed at = m_points.placed(x, q);
  std::vector<ContactLink> out;
  for (const ContactPair& pair : m_pairs) {
    if (m_points.gap(pair, at) >= pair.reach) continue;
    ContactLink& link = out.emplace_back();
    for (int side = 0; side < 2; ++side) {
      const ContactSide part = m_points.side_of(pair, side);
      link.nodes.insert(link.nodes.end(), part.nodes.begin(), part.nodes.end());
      if (part.obstacle >= 0) link.obstacles.push_back(part.obstacle);
    }
  }
  m_friction.append_links(out);
  return out;
}

std::vector<ContactBlock> ContactPotential::blocks(const PointsRef& x, const VecX& q,
                                                   Derivatives derivatives) const {
  if (m_pairs.empty()) return {};
  const Stopwatch stopwatch;
  const ContactPoints::Placed at = m_points.placed(x, q);
  std::vector<double> gaps(m_pairs.size());
  parallel_for(m_pairs.size(), [&](std::size_t i) { gaps[i] = m_points.gap(m_pairs[i], at); });
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < m_pairs.size(); ++i) {
    if (gaps[i] < m_pairs[i].reach) active.push_back(i);
  }
  std::vector<ContactBlock> out(active.size());
  parallel_for(
      active.size(),
      [&](std::size_t k) { out[k] = pair_block(m_points, m_pairs[active[k]], at.points, q, derivatives); },
      16);
  m_seconds += stopwatch.seconds();
  return out;
}

}  // namespace exemplar
