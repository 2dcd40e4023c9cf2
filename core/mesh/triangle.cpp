#include "core/mesh/triangle.h"

#include <cmath>

namespace exemplar {

namespace {

double nearest_parameter(const Vec3& point, const Vec3& a, const Vec3& b) {
  const Vec3 edge = b - a;
  const double length2 = edge.squaredNorm();
  if (length2 == 0) return 0;
  return std::clamp((point - a).dot(edge) / length2, 0.0, 1.0);
}

Vec3 nearest_on_edges(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 corners[3] = {a, b, c};
  Vec3 best = Vec3::UnitX();
  double best_distance = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const double s = nearest_parameter(point, corners[k], corners[next]);
    const double distance = (corners[k] + s * (corners[next] - corners[k]) - point).squaredNorm();
    if (distance < best_distance) {
      best_distance = distance;
      best.setZero();
      best[k] = 1 - s;
      best[next] = s;
    }
  }
  return best;
}

}  // namespace

// Voronoi regions of the corners, then edges, then the face (Ericson, Real-Time Collision Detection,
// 2005, 5.1.5).
Vec3 nearest_on_triangle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const double d1 = ab.dot(point - a);
  const double d2 = ac.dot(point - a);
  if (d1 <= 0 && d2 <= 0) return Vec3(1, 0, 0);
  const double d3 = ab.dot(point - b);
  const double d4 = ac.dot(point - b);
  if (d3 >= 0 && d4 <= d3) return Vec3(0, 1, 0);
  const double d5 = ab.dot(point - c);
  const double d6 = ac.dot(point - c);
  if (d6 >= 0 && d5 <= d6) return Vec3(0, 0, 1);

  const double wc = d1 * d4 - d3 * d2;
  const double wb = d5 * d2 - d1 * d6;
  const double wa = d3 * d6 - d5 * d4;
  const double sum = wa + wb + wc;
  // `sum` is the squared doubled area; slivers lose all digits in the products above.
  if (!(sum > 1e-14 * ab.squaredNorm() * ac.squaredNorm())) return nearest_on_edges(point, a, b, c);
  if (wa <= 0 || wb <= 0 || wc <= 0) return nearest_on_edges(point, a, b, c);
  return Vec3(wa, wb, wc) / sum;
}

// Möller and Trumbore 1997.
std::optional<TriangleHit> ray_triangle(const Vec3& origin, const Vec3& direction, const Vec3& a,
                                        const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const Vec3 p = direction.cross(ac);
  const double determinant = ab.dot(p);
  if (determinant == 0) return std::nullopt;
  const Vec3 offset = origin - a;
  const double v = offset.dot(p) / determinant;
  const Vec3 q = offset.cross(ab);
  const double w = direction.dot(q) / determinant;
  const double t = ac.dot(q) / determinant;
  // A little slack closes the gap that rounding would leave between neighbours.
  constexpr double slack = 1e-12;
  if (!(v >= -slack && w >= -slack && v + w <= 1 + slack && t >= 0) || !std::isfinite(t)) return std::nullopt;
  return TriangleHit{t, Vec3(1 - v - w, v, w)};
}

double solid_angle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 x = a - point;
  const Vec3 y = b - point;
  const Vec3 z = c - point;
  const double lx = x.norm();
  const double ly = y.norm();
  const double lz = z.norm();
  const double denominator = lx * ly * lz + x.dot(y) * lz + y.dot(z) * lx + z.dot(x) * ly;
  return 2 * std::atan2(x.dot(y.cross(z)), denominator);
}

}  // namespace exemplar
