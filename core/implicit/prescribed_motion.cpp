#include "core/implicit/prescribed_motion.h"

#include <algorithm>

namespace exemplar {

namespace {

constexpr int max_legs = 200;
constexpr double shortest_leg = 1.0 / 1024;
constexpr double join_window = 1.0 / 16;  // of a leg: stops that follow the first one so closely join with it

// Where the motion of an obstacle between two increments takes a point.
Vec3 carried(const ObstacleState& start, const Vec6& q0, const Vec6& q1, const Vec3& point) {
  return moved(start, q1).to_world(moved(start, q0).to_local(point));
}

}  // namespace

PrescribedMotion::PrescribedMotion(ContactPotential& contact, const std::vector<ObstacleBody>& obstacles,
                                   const std::vector<ObstacleState>& states,
                                   const std::vector<SupportedNode>& held, const VecX& q_end,
                                   const Points& end)
    : m_contact(contact),
      m_obstacles(obstacles),
      m_states(states),
      m_q_end(q_end),
      m_end(end),
      m_held(to_size(end.rows()), {false, false, false}) {
  for (const SupportedNode& node : held) {
    for (std::size_t c = 0; c < 3; ++c) m_held[to_size(node.node)][c] |= node.held[c];
  }
  release();
}

void PrescribedMotion::release() {
  m_leg = 1;
  m_node_carrier.assign(m_held.size(), -1);
  m_obstacle_carrier.assign(m_obstacles.size(), -1);
  for (std::size_t i = 0; i < m_obstacles.size(); ++i) {
    if (m_obstacles[i].kind() == ObstacleKind::keyframed) m_obstacle_carrier[i] = to_int(i);
  }
}

// Where everything is at `s`, seen from (x, q).
void PrescribedMotion::aim(double s, const Points& x, const VecX& q, Points& x1, VecX& q1) const {
  x1 = x;
  q1 = q;
  const auto increment = [](const VecX& all, int i) -> Vec6 { return all.segment<6>(6 * i); };
  for (int i = 0; i < to_int(m_obstacles.size()); ++i) {
    if (m_obstacle_carrier[i] == i) q1.segment<6>(6 * i) = s * increment(m_q_end, i);
  }
  for (int i = 0; i < to_int(m_obstacles.size()); ++i) {
    const int k = m_obstacle_carrier[i];
    if (k < 0 || k == i) continue;
    const ObstacleState here = moved(m_states[i], increment(q, i));
    const ObstacleState k0 = moved(m_states[k], increment(q, k)), k1 = moved(m_states[k], increment(q1, k));
    ObstacleState there = here;
    there.position = k1.to_world(k0.to_local(here.position));
    there.orientation = k1.orientation * k0.orientation.conjugate() * here.orientation;
    q1.segment<6>(6 * i) = increment_between(m_states[i], there);
  }
  // Held coordinates approach their targets at the same pace.
  const double share = m_progress < 1 ? (s - m_progress) / (1 - m_progress) : 1;
  for (std::size_t n = 0; n < m_held.size(); ++n) {
    const auto row = to_row(n);
    const int k = m_node_carrier[n];
    if (k >= 0)
      x1.row(row) =
          carried(m_states[k], increment(q, k), increment(q1, k), x.row(row).transpose()).transpose();
    for (int c = 0; c < 3; ++c) {
      if (m_held[n][to_size(c)])
        x1(row, c) = s >= 1 ? m_end(row, c) : x(row, c) + share * (m_end(row, c) - x(row, c));
    }
  }
}

bool PrescribedMotion::advance(Points& x, VecX& q) {
  Points x1;
  VecX q1;
  for (int leg = 0; leg < max_legs && m_progress < 1; ++leg) {
    const double s1 = std::min(1.0, m_progress + m_leg);
    aim(s1, x, q, x1, q1);
    m_contact.find_pairs(x, q, x1, q1);
    const std::vector<ContactStop> stops = m_contact.stops(x, q, x1, q1);
    if (stops.empty()) {
      x = x1;
      q = q1;
      m_progress = s1;
      m_leg = std::min(1.0, 2 * m_leg);
      continue;
    }
    double free = 1;
    for (const ContactStop& stop : stops) free = std::min(free, stop.alpha);
    x += free * (x1 - x);
    q += free * (q1 - q);
    m_progress += free * (s1 - m_progress);
    bool joined = false;
    for (const ContactStop& stop : stops) {
      if (stop.alpha <= free + join_window) joined = join(stop) || joined;
    }
    if (joined) continue;
    // What is carried on a chord while the obstacle turns on an arc closes in on it: shorter chords help.
    m_leg *= 0.5;
    if (m_leg < shortest_leg) return false;
  }
  return m_progress >= 1;
}

int PrescribedMotion::carrier_of(const ContactSide& side) const {
  if (side.obstacle >= 0) return m_obstacle_carrier[to_size(side.obstacle)];
  for (const int node : side.nodes) {
    if (m_node_carrier[to_size(node)] >= 0) return m_node_carrier[to_size(node)];
  }
  return -1;
}

bool PrescribedMotion::join(const ContactSide& side, int carrier) {
  if (carrier < 0) return false;
  bool joined = false;
  const auto take = [&](int& mine) {
    if (mine >= 0) return;
    mine = carrier;
    joined = true;
  };
  if (side.obstacle >= 0) {
    if (m_obstacles[to_size(side.obstacle)].dynamic()) take(m_obstacle_carrier[to_size(side.obstacle)]);
    return joined;
  }
  for (const int node : side.nodes) {
    const std::array<bool, 3>& held = m_held[to_size(node)];
    if (!(held[0] && held[1] && held[2])) take(m_node_carrier[to_size(node)]);
  }
  return joined;
}

// The whole pair moves together then; a side that is already carried keeps its carrier.
bool PrescribedMotion::join(const ContactStop& stop) {
  const int a = carrier_of(stop.sides[0]), b = carrier_of(stop.sides[1]);
  const bool first = join(stop.sides[0], a >= 0 ? a : b);
  return join(stop.sides[1], b >= 0 ? b : a) || first;
}

}  // namespace exemplar
