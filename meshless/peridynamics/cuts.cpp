#include "meshless/peridynamics/cuts.h"

#include <Eigen/LU>
#include <memory>

#include "core/mesh/distance.h"

namespace exemplar::peridynamics {

BondCut crosses_surface(const TriMesh& surface, const Points& particles) {
  const auto distance = std::make_shared<SurfaceDistance>(surface);
  std::vector<double> depth;
  for (const SurfacePoint& nearest : distance->nearest_all(particles)) depth.push_back(nearest.distance);
  return [distance, depth = std::move(depth), particles](int i, int j) {
    // From the same end whichever way it is asked, so that both copies of a bond get the same answer.
    const Vec3 from = particles.row(std::min(i, j)), to = particles.row(std::max(i, j));
    const double length = (to - from).norm();
    if (depth[static_cast<std::size_t>(i)] + depth[static_cast<std::size_t>(j)] >= length) return false;
    return distance->ray_cast(from, (to - from) / length, length).has_value();
  };
}

bool crosses(const Notch& notch, const Vec3& a, const Vec3& b) {
  const bool is_patch = notch.shape == Notch::Shape::parallelogram;
  const Vec3 normal = (is_patch ? notch.u.cross(notch.v) : notch.normal).normalized();
  const double da = normal.dot(a - notch.point), db = normal.dot(b - notch.point);
  // A particle on the plane belongs to its upper side.
  if ((da >= 0) == (db >= 0)) return false;
  if (notch.shape == Notch::Shape::plane) return true;
  const Vec3 at = a + da / (da - db) * (b - a) - notch.point;
  // What meets the very edge is cut, on whichever side rounding puts it, so that mirror images stay mirror images.
  constexpr double k_edge = 1e-9;
  if (notch.shape == Notch::Shape::disc) return at.norm() <= (1 + k_edge) * notch.radius;
  Mat3 axes;
  axes << notch.u, notch.v, normal;
  const Vec3 local = axes.inverse() * at;
  return (local.head<2>().array() >= -k_edge).all() && (local.head<2>().array() <= 1 + k_edge).all();
}

}  // namespace exemplar::peridynamics
