// The step limit: conservative advancement along separating planes.
//
// At α the nearest points of a pair give a unit normal n that separates the two primitives by d. For that
// fixed n every corner's place along n is a known function (linear for surface points, linear with bounded
// curvature for points of turning obstacles), so the pair keeps d_min at least until the first root of
//   n·(a_i − b_j) + τ n·(ȧ_i − ḃ_j) − τ²/2 (C_i + C_j) = d_min
// over all corners i, j. Advance there and repeat. Unlike bounds from speeds alone, sliding at any speed
// along a surface costs nothing. The same holds for a point and a convex shape, whose distance along a
// straight line is convex.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/contact/contact_path.h"
#include "core/contact/primitive_distance.h"

namespace exemplar {

namespace {

constexpr double kept_share = 0.2;  // of the first gap, or of the reach where the gap is wider
constexpr int max_advances = 200;
constexpr double shortest_stiffened = 20;  // of the reach: see stiffen()

// The smallest τ ≥ 0 with slack + rate τ − ½ bend τ² = 0 (slack ≥ 0, bend ≥ 0); infinity when there is none.
double first_root(double slack, double rate, double bend) {
  if (slack <= 0) return 0;
  if (bend <= 0) return rate >= 0 ? std::numeric_limits<double>::infinity() : -slack / rate;
  // ½ bend τ² − rate τ − slack = 0, positive root without cancellation.
  const double root = std::sqrt(rate * rate + 2 * bend * slack);
  return rate > 0 ? (rate + root) / bend : 2 * slack / (root - rate);
}

}  // namespace

std::vector<ContactPotential::Limit> ContactPotential::limits(const Path& path) const {
  std::vector<Limit> all(m_pairs.size());
  parallel_for(
      m_pairs.size(),
      [&](std::size_t i) {
        all[i] = m_pairs[i].kind == ContactPairKind::point_shape ? shape_limit(m_pairs[i], path)
                                                                 : pair_limit(m_pairs[i], path);
      },
      32);
  return all;
}

double ContactPotential::max_step(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                  const VecX& q1) const {
  double smallest = 1;
  for (const Limit& limit : limits({q0, q1, place(x0, q0), place(x1, q1)}))
    smallest = std::min(smallest, limit.alpha);
  return smallest;
}

std::vector<ContactStop> ContactPotential::stops(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                                 const VecX& q1) const {
  const std::vector<Limit> all = limits({q0, q1, place(x0, q0), place(x1, q1)});
  std::vector<ContactStop> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].alpha < 1) out.push_back({all[i].alpha, {side_of(m_pairs[i], 0), side_of(m_pairs[i], 1)}});
  }
  return out;
}

ContactSide ContactPotential::side_of(const ContactPair& pair, int side) const {
  ContactSide out;
  if (pair.kind == ContactPairKind::point_shape && side == 1) {
    out.obstacle = pair.shape;
    return out;
  }
  const int split = pair.kind == ContactPairKind::edge_edge ? 2 : 1;
  const int last = pair.kind == ContactPairKind::point_shape ? 1 : 4;
  const PointMap& map = m_surface.map;
  for (int k = side == 0 ? 0 : split; k < (side == 0 ? split : last); ++k) {
    const int point = pair.points[k];
    out.obstacle = m_points[point].owner;
    if (out.obstacle >= 0) return out;
    out.nodes.insert(out.nodes.end(), map.nodes.begin() + map.offsets[point],
                     map.nodes.begin() + map.offsets[point + 1]);
  }
  return out;
}

double ContactPotential::overshoot(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                   const VecX& q1) const {
  const std::vector<Limit> all = limits({q0, q1, place(x0, q0), place(x1, q1)});
  double largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    largest = std::max(largest, all[i].left / (0.5 * inner_radius(m_pairs[i])));
  return largest;
}

void ContactPotential::stiffen(const PointsRef& x0, const VecX& q0, const PointsRef& x1, const VecX& q1,
                               const VecX& node_masses, double dt) {
  const std::vector<Limit> all = limits({q0, q1, place(x0, q0), place(x1, q1)});
  const Points positions = place(x0, q0);
  const std::vector<Pose> at_start = poses(q0);
  std::vector<double> impacts(m_obstacles->size(), 1);
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ContactPair& pair = m_pairs[i];
    double factor = 1;
    if (all[i].left >= shortest_stiffened * m_options.reach && pair.area > 0) {
      const double pressure = stopped_mass(pair, node_masses) * all[i].left / (dt * dt * pair.area);
      factor = std::max(1.0, pressure / m_options.stiffness);
    }
    if (factor > 1 || gap(pair, positions, at_start) < m_options.reach) m_stiffened[key_of(pair)] = factor;
    if (factor == 1) continue;
    any = true;
    for (const int o : obstacles_of(pair)) {
      if (o >= 0) impacts[o] = std::max(impacts[o], factor);
    }
  }
  if (any) {
    m_impacts = std::move(impacts);
  } else {
    m_stiffened.clear();
  }
}

std::array<int, 2> ContactPotential::obstacles_of(const ContactPair& pair) const {
  std::array<int, 2> out{pair.shape, -1};
  for (const int point : pair.points) {
    const int owner = point < 0 ? -1 : m_points[point].owner;
    if (owner < 0 || owner == out[0] || owner == out[1]) continue;
    out[out[0] < 0 ? 0 : 1] = owner;
  }
  return out;
}

// The mass that moves where two sides meet: 1/m = 1/m₁ + 1/m₂, a side being the mean node of its surface
// points or an obstacle.
double ContactPotential::stopped_mass(const ContactPair& pair, const VecX& node_masses) const {
  const PointMap& map = m_surface.map;
  double surface = 0, inverse = 0;
  int points = 0;
  for (const int point : pair.points) {
    if (point < 0 || m_points[point].owner >= 0) continue;
    ++points;
    for (int k = map.offsets[point]; k < map.offsets[point + 1]; ++k)
      surface += map.weights[k] * node_masses[map.nodes[k]];
  }
  if (surface > 0) inverse += points / surface;
  for (const int o : obstacles_of(pair)) inverse += o < 0 ? 0 : (*m_obstacles)[o].inverse_mass();
  return inverse > 0 ? 1 / inverse : 0;
}

double ContactPotential::inner_radius(const ContactPair& pair) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const int o : obstacles_of(pair)) {
    if (o >= 0) smallest = std::min(smallest, (*m_obstacles)[o].shape().inner_radius());
  }
  return smallest;
}

ContactPotential::Limit ContactPotential::pair_limit(const ContactPair& pair, const Path& path) const {
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const int first_count = edges ? 2 : 1;
  double alpha = 0, kept = -1, closing = 0;
  for (int advance = 0; advance < max_advances; ++advance) {
    std::array<Vec3, 4> points, rates;
    std::array<double, 4> bends;
    for (int k = 0; k < 4; ++k) {
      const int i = pair.points[k], owner = m_points[i].owner;
      if (owner < 0) {
        rates[k] = (path.end.row(i) - path.start.row(i)).transpose();
        points[k] = path.start.row(i).transpose() + alpha * rates[k];
        bends[k] = 0;
        continue;
      }
      const Vec3 turn = path.turn(owner);
      const VecX q = path.at(alpha);
      const Pose p = pose(owner, q);
      const Vec3 arm = p.rotation * m_points[i].local;
      points[k] = p.position + arm;
      rates[k] = path.displacement(owner) + (left_jacobian(q.segment<3>(6 * owner + 3)) * turn).cross(arm);
      bends[k] = Path::arc(turn, arm.norm());
    }
    const Nearest nearest = edges ? nearest_edges(points) : nearest_point_triangle(points);
    if (kept < 0)
      kept = pair.radius + kept_share * std::clamp(nearest.value - pair.radius, 0.0, m_options.reach);
    double step = std::numeric_limits<double>::infinity();
    closing = 0;
    for (int i = 0; i < first_count; ++i) {
      for (int j = first_count; j < 4; ++j) {
        const double slack = nearest.normal.dot(points[i] - points[j]) - kept;
        const double rate = nearest.normal.dot(rates[i] - rates[j]);
        step = std::min(step, first_root(slack, rate, bends[i] + bends[j]));
        closing = std::max(closing, -rate);
      }
    }
    if (alpha + step >= 1) return {};
    alpha += step;
    // Close to the kept gap further steps bring nothing.
    if (nearest.value - kept <= 1e-3 * (kept - pair.radius) || step < 1e-12) break;
  }
  return {alpha, (1 - alpha) * closing};
}

ContactPotential::Limit ContactPotential::shape_limit(const ContactPair& pair, const Path& path) const {
  const ShapeGeometry& geometry = (*m_obstacles)[pair.shape].shape();
  const int i = pair.points[0], owner = m_points[i].owner;
  const Vec3 turn = path.turn(pair.shape), displacement = path.displacement(pair.shape);
  double alpha = 0, kept = -1, closing = 0;
  for (int advance = 0; advance < max_advances; ++advance) {
    const VecX q = path.at(alpha);
    const Pose p = pose(pair.shape, q);
    Vec3 x, rate;
    double bend = 0;
    if (owner < 0) {
      rate = (path.end.row(i) - path.start.row(i)).transpose();
      x = path.start.row(i).transpose() + alpha * rate;
    } else {
      const Pose own = pose(owner, q);
      const Vec3 arm = own.rotation * m_points[i].local;
      x = own.position + arm;
      rate = path.displacement(owner) +
             (left_jacobian(q.segment<3>(6 * owner + 3)) * path.turn(owner)).cross(arm);
      bend = Path::arc(path.turn(owner), arm.norm());
    }
    const Vec3 z = x - p.position, relative = rate - displacement;
    const SignedDistance d = geometry.distance(p.rotation.transpose() * z);
    if (kept < 0) kept = pair.radius + kept_share * std::clamp(d.value - pair.radius, 0.0, m_options.reach);
    const Vec3 normal = p.rotation * d.gradient;
    const Vec3 omega = left_jacobian(q.segment<3>(6 * pair.shape + 3)) * turn;
    // In the shape's frame y = Rᵀz: |y''| ≤ |z''| + 2|Δθ||z'| + 3/2|Δθ|²|z|, with z', z on the rest of the
    // path.
    const double speed = relative.norm() + bend, reach = z.norm() + speed;
    const double frame_bend = bend + 2 * turn.norm() * speed + Path::arc(turn, reach);
    closing = -normal.dot(relative - omega.cross(z));
    const double step = first_root(d.value - kept, -closing, turn.isZero() ? bend : frame_bend);
    if (alpha + step >= 1) return {};
    alpha += step;
    if (d.value - kept <= 1e-3 * (kept - pair.radius) || step < 1e-12) break;
  }
  return {alpha, (1 - alpha) * std::max(closing, 0.0)};
}

}  // namespace exemplar
