#include "core/world/pull.h"

#include <cmath>

#include "core/mesh/distance.h"

namespace exemplar {

Vec3 PulledPoint::of(const Points& surface) const {
  Vec3 sum = Vec3::Zero();
  for (int k = 0; k < 3; ++k)
    sum += weights[k] * surface.row(vertices[static_cast<std::size_t>(k)]).transpose();
  return sum;
}

double PullSpring::energy(const Vec3& x) const {
  const double d = (x - target).norm();
  if (stiffness * d <= max_force) return 0.5 * stiffness * d * d;
  return max_force * (d - 0.5 * max_force / stiffness);
}

Vec3 PullSpring::gradient(const Vec3& x) const {
  const Vec3 away = x - target;
  const double force = stiffness * away.norm();
  return force <= max_force ? Vec3(stiffness * away) : Vec3(max_force * away.normalized());
}

Mat3 PullSpring::hessian(const Vec3& x) const {
  const Vec3 away = x - target;
  const double d = away.norm();
  if (stiffness * d <= max_force) return stiffness * Mat3::Identity();
  const Vec3 n = away / d;
  return max_force / d * (Mat3::Identity() - n * n.transpose());
}

Vec3 PullSpring::impulse(const Vec3& x, const Vec3& v, const Mat3& inverse_mass, double h) const {
  const Mat3 system = Mat3::Identity() + h * h * stiffness * inverse_mass;
  const Vec3 free = -h * stiffness * (x + h * v - target);
  const Vec3 unlimited = system.partialPivLu().solve(free);
  const double size = unlimited.norm();
  return size <= h * max_force ? unlimited : Vec3(h * max_force / size * unlimited);
}

PullSet::PullSet(const std::vector<Pull>& pulls, const std::string& body) {
  for (const Pull& pull : pulls) {
    if (pull.body == body) m_pulls.push_back(pull);
  }
}

std::vector<ActivePull> PullSet::active(double from, double to) const {
  std::vector<ActivePull> active;
  for (const Pull& pull : m_pulls) {
    const double part = pull.window.mean(from, to);
    if (part <= 0) continue;
    const Vec3 target = evaluate(pull.target, pull.interpolation, to).position;
    active.push_back({pull.point, {target, part * pull.stiffness, part * pull.max_force}});
  }
  return active;
}

PulledPoint nearest_surface_point(const Points& vertices, const Triangles& triangles, const Vec3& place) {
  const SurfacePoint nearest = SurfaceDistance({vertices, triangles}).nearest(place);
  PulledPoint point{{0, 0, 0}, nearest.barycentric};
  for (int k = 0; k < 3; ++k) point.vertices[static_cast<std::size_t>(k)] = triangles(nearest.triangle, k);
  return point;
}

}  // namespace exemplar
