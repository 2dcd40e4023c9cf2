// Building blocks for shapes given by a function that is negative inside: approximate signed distances
// (metres) to rounded solids, and unions, cuts and intersections that round their seam over a width k
// (metres).
#pragma once

#include <algorithm>
#include <cmath>

#include "core/math/types.h"

namespace exemplar::shape {

// min(a, b) with the crease rounded where |a − b| < k (quadratic, once differentiable).
inline double join(double a, double b, double k) {
  const double h = std::max(k - std::abs(a - b), 0.0);
  return std::min(a, b) - h * h / (4 * k);
}
inline double intersect(double a, double b, double k) {
  return -join(-a, -b, k);
}
// a without b.
inline double cut(double a, double b, double k) {
  return intersect(a, -b, k);
}

// 0 below `from`, 1 above `to`, smooth between.
inline double ramp(double from, double to, double x) {
  const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}
inline double mix(double a, double b, double t) {
  return a + (b - a) * t;
}

// First-order distance; exact on the surface, good near it.
inline double ellipsoid(const Vec3& p, const Vec3& centre, const Vec3& radii) {
  const Vec3 q = (p - centre).cwiseQuotient(radii);
  const double k0 = q.norm();
  const double k1 = q.cwiseQuotient(radii).norm();
  return k1 < 1e-12 ? -radii.minCoeff() : k0 * (k0 - 1) / k1;
}

// A ball swept from a to b while its radius goes from ra to rb.
inline double limb(const Vec3& p, const Vec3& a, const Vec3& b, double ra, double rb) {
  const Vec3 ab = b - a;
  const double t = std::clamp((p - a).dot(ab) / ab.squaredNorm(), 0.0, 1.0);
  return (p - a - t * ab).norm() - mix(ra, rb, t);
}

// Box of half extents `half` whose edges are rounded with radius `round`.
inline double box(const Vec3& p, const Vec3& centre, const Vec3& half, double round) {
  const Vec3 q = (p - centre).cwiseAbs() - half + Vec3::Constant(round);
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0) - round;
}

// Cylinder along coordinate axis `axis` with rounded rims.
inline double disc(const Vec3& p, const Vec3& centre, int axis, double radius, double half, double round) {
  const Vec3 d = p - centre;
  const double along = std::abs(d[axis]) - half + round;
  const double across = std::hypot(d[(axis + 1) % 3], d[(axis + 2) % 3]) - radius + round;
  return std::hypot(std::max(along, 0.0), std::max(across, 0.0)) + std::min(std::max(along, across), 0.0) -
         round;
}

}  // namespace exemplar::shape
