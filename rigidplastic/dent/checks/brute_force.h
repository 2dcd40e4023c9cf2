// The upper envelope of Gaussians straight from its definition, O(N²): the oracle of the linear one in tests, and
// what the paper's Table 1 sets it beside.
#pragma once

#include <algorithm>
#include <cmath>

#include "rigidplastic/dent/depth_grid.h"

namespace exemplar::dent {

// `every`: only each so-many-th row is evaluated, the others stay 0.
inline DepthGrid brute_force_envelope(const DepthGrid& grid, double width, int every = 1) {
  DepthGrid result = grid;
  result.depth.assign(grid.depth.size(), 0.0);
  const double c = 0.5 / (width * width);
  for (int j = 0; j < grid.rows; j += every) {
    for (int i = 0; i < grid.columns; ++i) {
      double highest = 0;
      for (int l = 0; l < grid.rows; ++l) {
        const double dy = (l - j) * grid.spacing;
        for (int k = 0; k < grid.columns; ++k) {
          const double dx = (k - i) * grid.spacing;
          highest = std::max(highest, grid.at(k, l) * std::exp(-c * (dx * dx + dy * dy)));
        }
      }
      result.at(i, j) = highest;
    }
  }
  return result;
}

}  // namespace exemplar::dent
