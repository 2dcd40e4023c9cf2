#include "rigidplastic/bullet/roundness.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "core/mesh/mass_properties.h"

namespace exemplar::rigid {

namespace {

constexpr double k_coarsest = 0.06;        // of the radius, that facets may lie below the round surface
constexpr double k_residual = 0.1;         // of that depth, which vertices may be off
constexpr double k_least_residual = 1e-4;  // of the radius
constexpr double k_same_height = 1e-4;     // of the radius or the height
constexpr double k_tip = 1e-3;             // of the largest radius

double tolerance(double radius, double depth) {
  return std::max(k_residual * depth, k_least_residual * radius);
}

// A vertex seen along an axis.
struct Place {
  double height = 0, radius = 0, angle = 0;
};

std::vector<Place> places_about(const Points& vertices, const Vec3& axis) {
  const Vec3 u = axis.unitOrthogonal(), v = axis.cross(u);
  std::vector<Place> places;
  for (Eigen::Index i = 0; i < vertices.rows(); ++i) {
    const Vec3 x = vertices.row(i);
    places.push_back({x.dot(axis), std::hypot(x.dot(u), x.dot(v)), std::atan2(x.dot(v), x.dot(u))});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.height < b.height; });
  return places;
}

// The circle that vertices of one height lie on; `is_end`: at the lowest or the highest one, where those well within it belong
// to a cap.
std::optional<Circle> circle_of(std::vector<Place> places, double largest, bool is_end) {
  double outermost = 0;
  for (const Place& place : places) outermost = std::max(outermost, place.radius);
  const std::size_t all = places.size();
  std::erase_if(places, [&](const Place& place) {
    return place.radius < outermost - tolerance(outermost, k_coarsest * outermost);
  });
  if (!is_end && places.size() < all) return std::nullopt;
  Circle circle;
  for (const Place& place : places) {
    circle.height += place.height / static_cast<double>(places.size());
    circle.radius += place.radius / static_cast<double>(places.size());
  }
  if (circle.radius < k_tip * largest) return Circle{circle.height, 0};
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.angle < b.angle; });
  double gap = places.front().angle + 2 * std::numbers::pi - places.back().angle;
  for (std::size_t k = 1; k < places.size(); ++k) gap = std::max(gap, places[k].angle - places[k - 1].angle);
  const double depth = circle.radius * (1 - std::cos(std::min(0.5 * gap, std::numbers::pi)));
  if (depth > k_coarsest * circle.radius) return std::nullopt;
  const bool fits = std::all_of(places.begin(), places.end(), [&](const Place& place) {
    return std::abs(place.radius - circle.radius) <= tolerance(circle.radius, depth);
  });
  return fits ? std::optional(circle) : std::nullopt;
}

std::optional<Revolution> revolution_about(const Points& vertices, const Vec3& axis) {
  const std::vector<Place> places = places_about(vertices, axis);
  double largest = 0;
  for (const Place& place : places) largest = std::max(largest, place.radius);
  const double step = k_same_height * std::max(largest, places.back().height - places.front().height);
  Revolution result{axis, {}};
  for (auto begin = places.begin(), end = begin; begin != places.end(); begin = end) {
    while (end != places.end() && end->height - begin->height <= step) ++end;
    const bool is_end = begin == places.begin() || end == places.end();
    const std::optional<Circle> circle = circle_of({begin, end}, largest, is_end);
    if (!circle) return std::nullopt;
    result.circles.push_back(*circle);
  }
  return result;
}

Vec3 twice_area(const TriMesh& mesh, Eigen::Index t) {
  const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
             c = mesh.vertices.row(mesh.triangles(t, 2));
  return (b - a).cross(c - a);
}

// The normal of the largest flat face, of those that are equal to a millionth.
std::optional<Vec3> largest_face(const TriMesh& mesh) {
  std::map<std::array<long, 3>, Vec3> faces;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 twice = twice_area(mesh, t);
    if (twice.isZero(0)) continue;
    const Vec3 rounded = 1e6 * twice.normalized();
    const std::array<long, 3> key{std::lround(rounded.x()), std::lround(rounded.y()),
                                  std::lround(rounded.z())};
    faces.try_emplace(key, Vec3::Zero()).first->second += twice;
  }
  const auto largest = std::max_element(faces.begin(), faces.end(), [](const auto& a, const auto& b) {
    return a.second.squaredNorm() < b.second.squaredNorm();
  });
  return largest == faces.end() ? std::nullopt : std::optional<Vec3>(largest->second.normalized());
}

// Principal axes, and the normal of the largest flat face: a cylinder may have three equal moments of inertia.
std::vector<Vec3> likely_axes(const TriMesh& mesh) {
  const MassProperties mass = solid_mass_properties(mesh.vertices, mesh.triangles, 1);
  const Mat3 principal = Eigen::SelfAdjointEigenSolver<Mat3>(mass.inertia).eigenvectors();
  std::vector<Vec3> axes{principal.col(0), principal.col(1), principal.col(2)};
  if (const std::optional<Vec3> face = largest_face(mesh)) axes.push_back(*face);
  return axes;
}

}  // namespace

std::optional<double> ball_of(const TriMesh& mesh) {
  const VecX distances = mesh.vertices.rowwise().norm();
  const double radius = distances.mean();
  double nearest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 twice = twice_area(mesh, t), corner = mesh.vertices.row(mesh.triangles(t, 0));
    if (!twice.isZero(0)) nearest = std::min(nearest, std::abs(twice.normalized().dot(corner)));
  }
  const double depth = radius - nearest;
  if (!(depth <= k_coarsest * radius)) return std::nullopt;
  const double residual = (distances.array() - radius).abs().maxCoeff();
  return residual <= tolerance(radius, depth) ? std::optional(radius) : std::nullopt;
}

std::optional<Revolution> revolution_of(const TriMesh& mesh) {
  for (const Vec3& axis : likely_axes(mesh)) {
    if (std::optional<Revolution> found = revolution_about(mesh.vertices, axis)) return found;
  }
  return std::nullopt;
}

}  // namespace exemplar::rigid
