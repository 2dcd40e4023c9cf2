#include "meshless/peridynamics/cuts.h"

#include <Eigen/LU>
#include <array>
#include <memory>
#include <set>

#include "core/mesh/distance.h"

namespace exemplar::peridynamics {

namespace {

// Whether no vertex is in front of a triangle; asked of small surfaces only (plates, blocks), false for all others.
bool is_small_and_convex(const TriMesh& surface) {
  const double pairs =
      static_cast<double>(surface.vertices.rows()) * static_cast<double>(surface.triangles.rows());
  if (pairs > 1e8) return false;
  const Vec3 size = surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff();
  std::set<std::array<double, 4>> seen;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const Vec3 a = surface.vertices.row(surface.triangles(t, 0)),
               b = surface.vertices.row(surface.triangles(t, 1)),
               c = surface.vertices.row(surface.triangles(t, 2));
    const Vec3 normal = (b - a).cross(c - a).normalized();
    // Most triangles of a fine plate share a plane.
    if (!seen.insert({normal[0], normal[1], normal[2], normal.dot(a)}).second) continue;
    if (((surface.vertices.rowwise() - a.transpose()) * normal).maxCoeff() > 1e-12 * size.norm())
      return false;
  }
  return true;
}

}  // namespace

BondCut crosses_surface(const TriMesh& surface, const Points& particles) {
  if (is_small_and_convex(surface)) return {};
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

NotchTest::NotchTest(const Notch& notch) : m_notch(notch) {
  const bool is_patch = notch.shape == Notch::Shape::parallelogram;
  m_normal = (is_patch ? notch.u.cross(notch.v) : notch.normal).normalized();
  Mat3 axes;
  axes << notch.u, notch.v, m_normal;
  if (is_patch) m_from_axes = axes.inverse();
}

bool NotchTest::operator()(const Vec3& a, const Vec3& b) const {
  const double da = m_normal.dot(a - m_notch.point), db = m_normal.dot(b - m_notch.point);
  // A particle on the plane belongs to its upper side.
  if ((da >= 0) == (db >= 0)) return false;
  if (m_notch.shape == Notch::Shape::plane) return true;
  const Vec3 at = a + da / (da - db) * (b - a) - m_notch.point;
  // What meets the very edge is cut, on whichever side rounding puts it, so that mirror images stay mirror images.
  constexpr double k_edge = 1e-9;
  if (m_notch.shape == Notch::Shape::disc) return at.norm() <= (1 + k_edge) * m_notch.radius;
  const Vec3 local = m_from_axes * at;
  return (local.head<2>().array() >= -k_edge).all() && (local.head<2>().array() <= 1 + k_edge).all();
}

}  // namespace exemplar::peridynamics
