#include "rigidplastic/dent/depth_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace exemplar::dent {

DepthGrid DepthGrid::over(const Rectangle& area, double cell, double value) {
  const Vec2 first = (area.low / cell).array().floor(), last = (area.high / cell).array().ceil();
  DepthGrid grid;
  grid.columns = static_cast<int>(last.x() - first.x()) + 1;
  grid.rows = static_cast<int>(last.y() - first.y()) + 1;
  grid.low = first * cell;
  grid.spacing = cell;
  grid.depth.assign(static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows), value);
  return grid;
}

double DepthGrid::largest() const {
  return depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
}

double DepthGrid::sample(double x, double y) const {
  const double u = (x - low.x()) / spacing, v = (y - low.y()) / spacing;
  if (!(u > -1 && v > -1 && u < columns && v < rows)) return 0;
  const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
  const double s = u - i, t = v - j;
  const auto cell = [&](int a, int b) {
    return a >= 0 && b >= 0 && a < columns && b < rows ? at(a, b) : 0.0;
  };
  return (1 - t) * ((1 - s) * cell(i, j) + s * cell(i + 1, j)) +
         t * ((1 - s) * cell(i, j + 1) + s * cell(i + 1, j + 1));
}

namespace {

using Corners = std::array<Vec3, 3>;

// Cells by which a triangle is widened: centres on an edge that two triangles share belong to both, not to none.
constexpr double k_edge = 1e-9;

Corners corners_of(const Points& points, const Triangles& triangles, Eigen::Index t) {
  return {Vec3(points.row(triangles(t, 0))), Vec3(points.row(triangles(t, 1))),
          Vec3(points.row(triangles(t, 2)))};
}

// The span of x that a triangle covers on the line through y.
std::pair<double, double> span_at(const Corners& p, double y) {
  double from = std::numeric_limits<double>::infinity(), to = -from;
  for (int k = 0; k < 3; ++k) {
    const Vec3 &a = p[static_cast<std::size_t>(k)], &b = p[static_cast<std::size_t>((k + 1) % 3)];
    if ((a.y() < y && b.y() < y) || (a.y() > y && b.y() > y)) continue;
    const double rise = b.y() - a.y();
    const double x = rise == 0 ? a.x() : a.x() + (y - a.y()) / rise * (b.x() - a.x());
    from = std::min({from, x, rise == 0 ? b.x() : x});
    to = std::max({to, x, rise == 0 ? b.x() : x});
  }
  return {from, to};
}

void rasterise_triangle(const Corners& p, DepthGrid& grid) {
  const Vec3 normal = (p[1] - p[0]).cross(p[2] - p[0]);
  if (std::abs(normal.z()) <= 1e-12 * normal.norm()) return;  // seen edge on: its neighbours cover it
  const Vec2 slope = -normal.head<2>() / normal.z();
  const double h = grid.spacing;
  const auto [low, high] = std::minmax({p[0].y(), p[1].y(), p[2].y()});
  const int first =
      std::max(0, static_cast<int>(std::ceil(std::max(-1.0, (low - grid.low.y()) / h - k_edge))));
  const int last =
      static_cast<int>(std::floor(std::min<double>(grid.rows - 1, (high - grid.low.y()) / h + k_edge)));
  for (int j = first; j <= last; ++j) {
    const double y = grid.low.y() + j * h;
    const auto [from, to] = span_at(p, y);
    if (!(from <= to)) continue;  // y missed the triangle by rounding
    const int begin = static_cast<int>(std::ceil(std::max(0.0, (from - grid.low.x()) / h - k_edge)));
    const int end =
        static_cast<int>(std::floor(std::min<double>(grid.columns - 1, (to - grid.low.x()) / h + k_edge)));
    double depth = p[0].z() + slope.x() * (grid.low.x() + begin * h - p[0].x()) + slope.y() * (y - p[0].y());
    for (int i = begin; i <= end; ++i, depth += slope.x() * h) grid.at(i, j) = std::max(grid.at(i, j), depth);
  }
}

void splat(const Vec3& point, DepthGrid& grid) {
  const Vec2 cell = ((point.head<2>() - grid.low) / grid.spacing).array().round();
  if (!(cell.x() >= 0 && cell.y() >= 0 && cell.x() < grid.columns && cell.y() < grid.rows)) return;
  double& depth = grid.at(static_cast<int>(cell.x()), static_cast<int>(cell.y()));
  depth = std::max(depth, point.z());
}

// Vertices that no neighbour is deeper than: only they can lie deeper than every centre around them.
std::vector<char> peaks_of(const Points& points, const Triangles& triangles) {
  std::vector<char> peak(static_cast<std::size_t>(points.rows()), 0);
  for (const int v : std::span(triangles.data(), static_cast<std::size_t>(triangles.size())))
    peak[static_cast<std::size_t>(v)] = 1;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int a = triangles(t, k), b = triangles(t, (k + 1) % 3);
      if (points(a, 2) < points(b, 2)) peak[static_cast<std::size_t>(a)] = 0;
      if (points(b, 2) < points(a, 2)) peak[static_cast<std::size_t>(b)] = 0;
    }
  }
  return peak;
}

}  // namespace

void rasterise(const Points& points, const Triangles& triangles, DepthGrid& grid) {
  const Rectangle area = grid.area();
  const double background = *std::min_element(grid.depth.begin(), grid.depth.end());
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Corners p = corners_of(points, triangles, t);
    if (std::max({p[0].z(), p[1].z(), p[2].z()}) <= background) continue;
    const Vec3 low = p[0].cwiseMin(p[1]).cwiseMin(p[2]), high = p[0].cwiseMax(p[1]).cwiseMax(p[2]);
    if (area.intersection({low.head<2>(), high.head<2>()}).empty()) continue;
    rasterise_triangle(p, grid);
  }
  const std::vector<char> peak = peaks_of(points, triangles);
  for (Eigen::Index v = 0; v < points.rows(); ++v) {
    if (peak[static_cast<std::size_t>(v)]) splat(points.row(v), grid);
  }
}

Rectangle area_above(const Points& points, const Triangles& triangles, double level) {
  Rectangle area;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Corners p = corners_of(points, triangles, t);
    if (std::max({p[0].z(), p[1].z(), p[2].z()}) < level) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 &a = p[k], &b = p[(k + 1) % 3];
      if (a.z() >= level) area.extend(a.head<2>());
      if ((a.z() < level) != (b.z() < level))
        area.extend((a + (level - a.z()) / (b.z() - a.z()) * (b - a)).head<2>());
    }
  }
  return area;
}

}  // namespace exemplar::dent
