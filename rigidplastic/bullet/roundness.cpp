#include "rigidplastic/bullet/roundness.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/mesh/mass_properties.h"

namespace exemplar::rigid {

namespace {

constexpr double k_coarsest = 0.06;        // of the radius, that facets may lie below the round surface
constexpr double k_residual = 0.1;         // of that depth, which vertices may be off
constexpr double k_least_residual = 1e-4;  // of the radius
constexpr double k_same_height = 1e-4;     // of the radius or the height
constexpr double k_rim = 0.9;   // of the outermost radius at a height, from which vertices are on the rim
constexpr double k_tip = 1e-3;  // of the largest radius

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

// The circle that vertices of one height lie on. Those well within it are in the middle of a cap.
std::optional<Circle> circle_of(std::vector<Place> places, double largest) {
  double outermost = 0;
  for (const Place& place : places) outermost = std::max(outermost, place.radius);
  std::erase_if(places, [&](const Place& place) { return place.radius < k_rim * outermost; });
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
    const std::optional<Circle> circle = circle_of({begin, end}, largest);
    if (!circle) return std::nullopt;
    result.circles.push_back(*circle);
  }
  return result;
}

// Principal axes, and the normal of the largest flat face: a cylinder may have three equal moments of inertia.
std::vector<Vec3> likely_axes(const TriMesh& hull) {
  const MassProperties mass = solid_mass_properties(hull.vertices, hull.triangles, 1);
  const Mat3 principal = Eigen::SelfAdjointEigenSolver<Mat3>(mass.inertia).eigenvectors();
  std::vector<Vec3> axes{principal.col(0), principal.col(1), principal.col(2)};
  std::vector<std::pair<Vec3, double>> faces;  // normal, area
  for (Eigen::Index t = 0; t < hull.triangles.rows(); ++t) {
    const Vec3 a = hull.vertices.row(hull.triangles(t, 0)), b = hull.vertices.row(hull.triangles(t, 1)),
               c = hull.vertices.row(hull.triangles(t, 2));
    const Vec3 twice = (b - a).cross(c - a);
    if (twice.isZero(0)) continue;
    const auto same = std::find_if(faces.begin(), faces.end(), [&](const auto& face) {
      return face.first.dot(twice) > (1 - 1e-9) * twice.norm();
    });
    if (same == faces.end()) {
      faces.emplace_back(twice.normalized(), twice.norm());
    } else {
      same->second += twice.norm();
    }
  }
  const auto largest = std::max_element(faces.begin(), faces.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest != faces.end()) axes.push_back(largest->first);
  return axes;
}

}  // namespace

std::optional<double> ball_of(const TriMesh& hull) {
  const double radius = hull.vertices.rowwise().norm().mean();
  double nearest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < hull.triangles.rows(); ++t) {
    const Vec3 a = hull.vertices.row(hull.triangles(t, 0)), b = hull.vertices.row(hull.triangles(t, 1)),
               c = hull.vertices.row(hull.triangles(t, 2));
    const Vec3 twice = (b - a).cross(c - a);
    if (!twice.isZero(0)) nearest = std::min(nearest, std::abs(twice.normalized().dot(a)));
  }
  const double depth = radius - nearest;
  if (!(depth <= k_coarsest * radius)) return std::nullopt;
  const double residual = (hull.vertices.rowwise().norm().array() - radius).abs().maxCoeff();
  return residual <= tolerance(radius, depth) ? std::optional(radius) : std::nullopt;
}

std::optional<Revolution> revolution_of(const TriMesh& hull) {
  for (const Vec3& axis : likely_axes(hull)) {
    if (std::optional<Revolution> found = revolution_about(hull.vertices, axis)) return found;
  }
  return std::nullopt;
}

}  // namespace exemplar::rigid
