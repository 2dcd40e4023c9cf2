#include "core/contact/step_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/contact/primitive_distance.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

constexpr double kept_share = 0.2;  // of the first gap, or of the reach where the gap is wider
constexpr int max_advances = 200;

// The smallest τ ≥ 0 with slack + rate τ − ½ bend τ² = 0 (slack ≥ 0, bend ≥ 0); infinity when there is none.
double first_root(double slack, double rate, double bend) {
  if (slack <= 0) return 0;
  if (bend <= 0) return rate >= 0 ? std::numeric_limits<double>::infinity() : -slack / rate;
  // ½ bend τ² − rate τ − slack = 0, positive root without cancellation.
  const double root = std::sqrt(rate * rate + 2 * bend * slack);
  return rate > 0 ? (rate + root) / bend : 2 * slack / (root - rate);
}

StepLimit pair_limit(const ContactPoints& all, const ContactPair& pair, const ContactPath& path) {
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const int first_count = edges ? 2 : 1;
  double alpha = 0, kept = -1, closing = 0;
  for (int advance = 0; advance < max_advances; ++advance) {
    std::array<Vec3, 4> points, rates;
    std::array<double, 4> bends;
    for (int k = 0; k < 4; ++k) {
      const int i = pair.points[k], owner = all[i].owner;
      if (owner < 0) {
        rates[k] = (path.end.row(i) - path.start.row(i)).transpose();
        points[k] = path.start.row(i).transpose() + alpha * rates[k];
        bends[k] = 0;
        continue;
      }
      const Vec3 turn = path.turn(owner);
      const VecX q = path.at(alpha);
      const ContactPoints::Pose p = all.pose(owner, q);
      const Vec3 arm = p.rotation * all[i].local;
      points[k] = p.position + arm;
      rates[k] = path.displacement(owner) + (left_jacobian(q.segment<3>(6 * owner + 3)) * turn).cross(arm);
      bends[k] = ContactPath::arc(turn, arm.norm());
    }
    const Nearest nearest = edges ? nearest_edges(points) : nearest_point_triangle(points);
    if (kept < 0) kept = pair.radius + kept_share * std::clamp(nearest.value - pair.radius, 0.0, pair.reach);
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

StepLimit shape_limit(const ContactPoints& all, const ContactPair& pair, const ContactPath& path) {
  const ShapeGeometry& geometry = all.obstacle(pair.shape).shape();
  const int i = pair.points[0], owner = all[i].owner;
  const Vec3 turn = path.turn(pair.shape), displacement = path.displacement(pair.shape);
  double alpha = 0, kept = -1, closing = 0;
  for (int advance = 0; advance < max_advances; ++advance) {
    const VecX q = path.at(alpha);
    const ContactPoints::Pose p = all.pose(pair.shape, q);
    Vec3 x, rate;
    double bend = 0;
    if (owner < 0) {
      rate = (path.end.row(i) - path.start.row(i)).transpose();
      x = path.start.row(i).transpose() + alpha * rate;
    } else {
      const ContactPoints::Pose own = all.pose(owner, q);
      const Vec3 arm = own.rotation * all[i].local;
      x = own.position + arm;
      rate = path.displacement(owner) +
             (left_jacobian(q.segment<3>(6 * owner + 3)) * path.turn(owner)).cross(arm);
      bend = ContactPath::arc(path.turn(owner), arm.norm());
    }
    const Vec3 z = x - p.position, relative = rate - displacement;
    const SignedDistance d = geometry.distance(p.rotation.transpose() * z);
    if (kept < 0) kept = pair.radius + kept_share * std::clamp(d.value - pair.radius, 0.0, pair.reach);
    const Vec3 normal = p.rotation * d.gradient;
    const Vec3 omega = left_jacobian(q.segment<3>(6 * pair.shape + 3)) * turn;
    // In the shape's frame y = Rᵀz: |y''| ≤ |z''| + 2|Δθ||z'| + 3/2|Δθ|²|z|, with z', z on the rest of the
    // path.
    const double speed = relative.norm() + bend, reach = z.norm() + speed;
    const double frame_bend = bend + 2 * turn.norm() * speed + ContactPath::arc(turn, reach);
    closing = -normal.dot(relative - omega.cross(z));
    const double step = first_root(d.value - kept, -closing, turn.isZero() ? bend : frame_bend);
    if (alpha + step >= 1) return {};
    alpha += step;
    if (d.value - kept <= 1e-3 * (kept - pair.radius) || step < 1e-12) break;
  }
  return {alpha, (1 - alpha) * std::max(closing, 0.0)};
}

}  // namespace

std::vector<StepLimit> step_limits(const ContactPoints& points, const std::vector<ContactPair>& pairs,
                                   const ContactPath& path) {
  std::vector<StepLimit> all(pairs.size());
  parallel_for(
      pairs.size(),
      [&](std::size_t i) {
        all[i] = pairs[i].kind == ContactPairKind::point_shape ? shape_limit(points, pairs[i], path)
                                                               : pair_limit(points, pairs[i], path);
      },
      32);
  return all;
}

double inner_radius(const ContactPoints& points, const ContactPair& pair) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const int o : points.obstacles_of(pair)) {
    if (o >= 0) smallest = std::min(smallest, points.obstacle(o).shape().inner_radius());
  }
  for (const int b : points.bodies_of(pair)) {
    if (b >= 0 && !points.surface().bodies.empty())
      smallest = std::min(smallest, points.surface().bodies[to_size(b)].inner_radius);
  }
  return smallest;
}

}  // namespace exemplar
