// A regular grid of depths over a plane, and the Z-buffer that fills it (patkar2014 §3.2).
//
// Plane coordinates x, y and depths in metres. Cell (i, j) has its centre at low + spacing · (i, j); the plane's
// origin is the centre of a cell, so that a dent's deepest point is met exactly. Between centres depths are
// interpolated bilinearly; outside the grid they are 0.
#pragma once

#include <limits>
#include <vector>

#include "core/base/state_member.h"
#include "core/math/types.h"

namespace exemplar::dent {

struct Rectangle {
  Vec2 low = Vec2::Constant(std::numeric_limits<double>::infinity());
  Vec2 high = Vec2::Constant(-std::numeric_limits<double>::infinity());

  bool empty() const { return !(low.x() <= high.x() && low.y() <= high.y()); }
  void extend(const Vec2& point) {
    low = low.cwiseMin(point);
    high = high.cwiseMax(point);
  }
  bool contains(const Vec2& p) const {
    return (low.array() <= p.array()).all() && (p.array() <= high.array()).all();
  }
  Rectangle intersection(const Rectangle& other) const {
    return {low.cwiseMax(other.low), high.cwiseMin(other.high)};
  }
  Rectangle padded(double margin) const {
    return {low - Vec2::Constant(margin), high + Vec2::Constant(margin)};
  }
};

struct DepthGrid {
  int columns = 0, rows = 0;
  Vec2 low = Vec2::Zero();  // centre of cell (0, 0)
  double spacing = 1;
  std::vector<double> depth;  // row after row

  // Covers `area` with cells of size `cell`, every depth being `value`.
  static DepthGrid over(const Rectangle& area, double cell, double value);

  double& at(int i, int j) {
    return depth[static_cast<std::size_t>(j) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(i)];
  }
  double at(int i, int j) const {
    return depth[static_cast<std::size_t>(j) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(i)];
  }
  Vec2 centre(int i, int j) const { return low + spacing * Vec2(i, j); }
  Rectangle area() const { return {low, centre(columns - 1, rows - 1)}; }
  double largest() const;
  double sample(double x, double y) const;

  static constexpr auto described() {
    return std::tuple(member("columns", &DepthGrid::columns), member("rows", &DepthGrid::rows),
                      member("low", &DepthGrid::low), member("spacing", &DepthGrid::spacing),
                      member("depth", &DepthGrid::depth));
  }
};

// Raises every cell to the largest third coordinate of the triangles above or below its centre, and the cell
// nearest to a vertex deeper than its neighbours to that vertex's (tips thinner than a cell leave a trace too).
// `points`: x, y, depth.
void rasterise(const Points& points, const Triangles& triangles, DepthGrid& grid);

// Where in the plane the part of the surface with third coordinate ≥ `level` lies.
Rectangle area_above(const Points& points, const Triangles& triangles, double level);

}  // namespace exemplar::dent
