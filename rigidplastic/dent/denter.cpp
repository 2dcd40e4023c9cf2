#include "rigidplastic/dent/denter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/mesh/models/primitives.h"
#include "rigidplastic/dent/given_maps.h"
#include "rigidplastic/dent/rim.h"

namespace exemplar::dent {

namespace {

constexpr double k_half_plane = 500;            // m, half side of the box that stands for a plane
constexpr double k_narrowest_broadening = 0.6;  // of the target's edges: narrower ones it could not show
constexpr double k_rim_width = 0.5;             // of the dent's radius

// a = h/cos θ for the depth h that the normal part of the energy makes.
double distance_of(const Strike& strike, const Target& target, const DentOptions& settings, double angle) {
  const double most = settings.max_distance * target.smallest_extent;
  if (settings.distance) return std::min(settings.factor * *settings.distance, most);
  const Projectile projectile{&strike.projectile, strike.triangles, strike.neighbours};
  const double depth = depth_from_energy(strike.energy, *target.body->material().yield_stress, most,
                                         projectile, *target.points, *target.triangles, strike.impact);
  return std::min(settings.factor * depth / std::cos(angle), most);
}

// Radius of the circle as large as the part of the map deeper than a tenth of its largest depth.
double radius_of(const DepthGrid& grid) {
  const double level = 0.1 * grid.largest();
  const auto deep = std::count_if(grid.depth.begin(), grid.depth.end(), [&](double d) { return d > level; });
  return grid.spacing * std::sqrt(static_cast<double>(deep) / std::numbers::pi);
}

DepthGrid profile_of(const Strike& strike, const Target& target, const DentMap& map,
                     const DentOptions& settings) {
  if (const auto& drawn = target.body->settings().dent_map)
    return drawn_map(drawn->values, drawn->columns, drawn->rows, map.distance, 0.5 * drawn->width);
  ProfileOptions options;
  options.width = std::max(settings.broadening * map.distance, k_narrowest_broadening * target.edge_length);
  options.spacing = 0.5 * std::min(target.edge_length, strike.projectile_edge);
  options.max_cells = settings.resolution;
  options.smoothing = {settings.heat_steps, settings.raise_steps};
  const Rectangle footprint = target_footprint(*target.points, map.frame, map.distance);
  const Projectile projectile{&strike.projectile, strike.triangles, strike.neighbours};
  DepthGrid grid = imprint(projectile, strike.impact, map.frame, map.distance, footprint, options);
  if (grid.depth.empty()) return grid;
  if (settings.map == MapKind::imprint) return finished_profile(std::move(grid), map.distance, options);
  const double radius = radius_of(grid) + options.width;
  return settings.map == MapKind::gaussian ? gaussian_map(map.distance, radius, options.spacing)
                                           : crater_map(map.distance, radius, options.spacing);
}

// The crossing of the line through `point` along `normal` with a surface that lies nearest to the point; the point
// itself when there is none within `reach`.
Vec3 nearest_crossing(const Vec3& point, const Vec3& normal, const Points& points, const Triangles& triangles,
                      double reach) {
  double nearest = reach, at = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 a = Vec3(points.row(triangles(t, 0))) - point, b = Vec3(points.row(triangles(t, 1))) - point,
               c = Vec3(points.row(triangles(t, 2))) - point;
    const double u = normal.dot(b.cross(c)), v = normal.dot(c.cross(a)), w = normal.dot(a.cross(b));
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) continue;
    if (u + v + w == 0) continue;
    const double distance = (u * a + v * b + w * c).dot(normal) / (u + v + w);
    if (std::abs(distance) < nearest) nearest = std::abs(distance), at = distance;
  }
  return point + at * normal;
}

// Bullet's shapes have margins and hulls: its contact points lie a little off the surfaces, by half a percent of a
// body's size and more. Depths are measured from the surfaces themselves.
Strike on_surfaces(const Strike& strike, const Target& target) {
  Strike result = strike;
  const double reach = 0.2 * target.smallest_extent;
  const Vec3& normal = strike.impact.inward_normal;
  result.impact.point_on_target =
      nearest_crossing(strike.impact.point_on_target, normal, *target.points, *target.triangles, reach);
  result.impact.point_on_projectile = nearest_crossing(strike.impact.point_on_projectile, normal,
                                                       strike.projectile, *strike.triangles, reach);
  return result;
}

double diagonal(const Points& points) {
  return (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
}

// Both bodies matter only where the smaller one is: it lies within its own diagonal of the impact.
double reach_of(const Strike& strike, const Target& target, const DentOptions& settings) {
  return std::min(diagonal(strike.projectile), diagonal(*target.points)) +
         2 * settings.max_distance * target.smallest_extent;
}

// Triangles whose boxes come within `reach` of a point along every axis.
Triangles near(const Points& points, const Triangles& triangles, const Vec3& point, double reach) {
  Triangles result(triangles.rows(), 3);
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    bool inside = true;
    for (int k = 0; k < 3 && inside; ++k) {
      const double a = points(triangles(t, 0), k) - point[k], b = points(triangles(t, 1), k) - point[k],
                   c = points(triangles(t, 2), k) - point[k];
      inside = !(std::min({a, b, c}) > reach || std::max({a, b, c}) < -reach);
    }
    if (inside) result.row(count++) = triangles.row(t);
  }
  result.conservativeResize(count, 3);
  return result;
}

}  // namespace

DentMap dent_of(const Strike& whole_strike, const Target& whole_target, const DentOptions& settings) {
  Strike given = whole_strike;
  Target target = whole_target;
  const double reach = reach_of(given, target, settings);
  const Vec3& point = given.impact.point_on_target;
  const Triangles struck = near(*target.points, *target.triangles, point, reach),
                  striking = near(given.projectile, *given.triangles, point, reach);
  target.triangles = &struck;
  given.triangles = &striking;
  const Strike strike = on_surfaces(given, target);
  DentMap map;
  map.frame = dent_frame(strike.impact);
  map.distance = distance_of(strike, target, settings, map.frame.angle);
  map.widening = settings.widening;
  map.falloff = settings.falloff;
  if (map.distance <= settings.min_distance * target.smallest_extent) return map;
  map.grid = profile_of(strike, target, map, settings);
  if (settings.keep_volume && !map.grid.depth.empty() && !target.body->is_sheet())
    keep_volume(map, *target.points, *whole_target.triangles,
                std::max(k_rim_width * radius_of(map.grid), 2 * target.edge_length));
  return map;
}

double mean_edge_length(const Points& points, const Edges& edges) {
  double sum = 0;
  for (Eigen::Index e = 0; e < edges.rows(); ++e)
    sum += (points.row(edges(e, 0)) - points.row(edges(e, 1))).norm();
  return sum / static_cast<double>(std::max<Eigen::Index>(edges.rows(), 1));
}

ObstacleSurface::ObstacleSurface(const ObstacleBody& obstacle) {
  const ShapeDescription& shape = obstacle.shape().description();
  switch (shape.kind) {
    case ShapeKind::plane:
      m_mesh = make_box({Vec3(2 * k_half_plane, k_half_plane, 2 * k_half_plane), {1, 1, 1}});
      m_mesh.vertices.col(1).array() -= 0.5 * k_half_plane;
      break;
    case ShapeKind::sphere:
      m_mesh = make_sphere({shape.radius, 24});
      break;
    default:
      m_mesh = obstacle.shape().surface();
  }
  const Edges edges = unique_edges(m_mesh.triangles);
  m_neighbours = vertex_neighbours(edges, m_mesh.vertices.rows());
  m_edge_length = mean_edge_length(m_mesh.vertices, edges);
  m_smallest_extent =
      (m_mesh.vertices.colwise().maxCoeff() - m_mesh.vertices.colwise().minCoeff()).minCoeff();
}

}  // namespace exemplar::dent
