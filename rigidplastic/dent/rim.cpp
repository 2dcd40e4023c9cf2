#include "rigidplastic/dent/rim.h"

#include <algorithm>
#include <cmath>

#include "core/mesh/mass_properties.h"
#include "rigidplastic/dent/envelope.h"

namespace exemplar::dent {

namespace {

constexpr double k_reach = 3.7;  // widths

// The dent's grid with room around it.
DepthGrid widened(const DepthGrid& grid, double margin) {
  DepthGrid result = DepthGrid::over(grid.area().padded(margin), grid.spacing, 0);
  const Vec2 shift = ((grid.low - result.low) / grid.spacing).array().round();
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) {
      result.at(i + static_cast<int>(shift.x()), j + static_cast<int>(shift.y())) = grid.at(i, j);
    }
  }
  return result;
}

DepthGrid rim_profile(const DepthGrid& dent, double width) {
  const DepthGrid base = widened(dent, k_reach * width);
  DepthGrid rim = base;
  broaden(rim, width);
  for (std::size_t k = 0; k < rim.depth.size(); ++k)
    rim.depth[k] = std::max(0.0, rim.depth[k] - base.depth[k]);
  smooth(rim, {4, 0});
  const double largest = rim.largest();
  for (double& d : rim.depth) d /= std::max(largest, 1e-300);
  return rim;
}

void scale(DepthGrid& grid, double factor) {
  for (double& d : grid.depth) d *= factor;
}

}  // namespace

double keep_volume(DentMap& map, const Points& points, const Triangles& triangles, double width) {
  const DepthGrid profile = rim_profile(map.grid, width);
  const double before = signed_volume(points, triangles);
  const auto volume_with = [&](double height) {
    map.rim = profile;
    scale(map.rim, height);
    Points moved = points;
    map.apply(moved);
    return signed_volume(moved, triangles);
  };
  const double lost = before - volume_with(0);
  if (lost <= 0) return map.rim = {}, 0;
  double low = 0, high = map.distance, gap_low = lost, gap_high = before - volume_with(high);
  if (gap_high > 0) return gap_high / lost;
  double height = high;
  // Nearly linear in the height: false position with the Illinois rule is there in a few evaluations.
  for (int pass = 0; pass < 40; ++pass) {
    height = (low * gap_high - high * gap_low) / (gap_high - gap_low);
    const double gap = before - volume_with(height);
    if (std::abs(gap) <= 1e-9 * lost) break;
    if (gap > 0) {
      low = height, gap_low = gap, gap_high *= 0.5;
    } else {
      high = height, gap_high = gap, gap_low *= 0.5;
    }
  }
  return 0;
}

}  // namespace exemplar::dent
