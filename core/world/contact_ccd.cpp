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

#include "core/math/parallel.h"
#include "core/world/contact_path.h"
#include "core/world/primitive_distance.h"

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

}  // namespace

double ContactPotential::max_step(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                  const VecX& q1) const {
  const Path path{q0, q1, place(x0, q0), place(x1, q1)};
  std::vector<double> limits(m_pairs.size());
  parallel_for(
      m_pairs.size(),
      [&](std::size_t i) {
        limits[i] = m_pairs[i].kind == ContactPairKind::point_shape ? shape_limit(m_pairs[i], path)
                                                                    : pair_limit(m_pairs[i], path);
      },
      32);
  double limit = 1;
  for (const double l : limits) limit = std::min(limit, l);
  return limit;
}

double ContactPotential::pair_limit(const ContactPair& pair, const Path& path) const {
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const int first_count = edges ? 2 : 1;
  double alpha = 0, kept = -1;
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
    for (int i = 0; i < first_count; ++i) {
      for (int j = first_count; j < 4; ++j) {
        const double slack = nearest.normal.dot(points[i] - points[j]) - kept;
        step =
            std::min(step, first_root(slack, nearest.normal.dot(rates[i] - rates[j]), bends[i] + bends[j]));
      }
    }
    if (alpha + step >= 1) return 1;
    alpha += step;
    // Close to the kept gap further steps bring nothing.
    if (nearest.value - kept <= 1e-3 * (kept - pair.radius) || step < 1e-12) return alpha;
  }
  return alpha;
}

double ContactPotential::shape_limit(const ContactPair& pair, const Path& path) const {
  const ShapeGeometry& geometry = (*m_obstacles)[pair.shape].shape();
  const int i = pair.points[0], owner = m_points[i].owner;
  const Vec3 turn = path.turn(pair.shape), displacement = path.displacement(pair.shape);
  double alpha = 0, kept = -1;
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
    const double step =
        first_root(d.value - kept, normal.dot(relative - omega.cross(z)), turn.isZero() ? bend : frame_bend);
    if (alpha + step >= 1) return 1;
    alpha += step;
    if (d.value - kept <= 1e-3 * (kept - pair.radius) || step < 1e-12) return alpha;
  }
  return alpha;
}

}  // namespace exemplar
