#include "rigidplastic/dent/given_maps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace exemplar::dent {

namespace {

template <class Profile>
DepthGrid radial_map(double reach, double spacing, const Profile& profile) {
  DepthGrid grid = DepthGrid::over({Vec2::Constant(-reach), Vec2::Constant(reach)}, spacing, 0);
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) grid.at(i, j) = profile(grid.centre(i, j).norm());
  }
  return grid;
}

}  // namespace

DepthGrid gaussian_map(double distance, double radius, double spacing) {
  return radial_map(2 * radius, spacing,
                    [&](double r) { return distance * std::exp(-2 * r * r / (radius * radius)); });
}

DepthGrid crater_map(double distance, double radius, double spacing) {
  return radial_map(3 * radius, spacing, [&](double r) {
    const double s = r / radius;
    const double bowl = s < 1 ? (1 - s * s) * (1 - s * s) : 0;
    const double fade = std::max(0.0, 1 - s / 3);
    const double ring = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * s);
    return distance * (bowl + (s < 1 ? 0 : 0.1 * fade * fade * ring));
  });
}

DepthGrid drawn_map(std::span<const double> values, int columns, int rows, double distance, double radius) {
  const double largest = *std::max_element(values.begin(), values.end());
  DepthGrid grid;
  grid.columns = columns;
  grid.rows = rows;
  grid.spacing = 2 * radius / (std::max(columns, rows) - 1);
  grid.low = -0.5 * grid.spacing * Vec2(columns - 1, rows - 1);
  for (const double value : values) grid.depth.push_back(std::max(0.0, value) * distance / largest);
  return grid;
}

}  // namespace exemplar::dent
