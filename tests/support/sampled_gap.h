// The smallest distance of a surface to an obstacle in some state, sampled finely over every triangle: knows
// nothing of the pairs that contact is made of.
#pragma once

#include <algorithm>
#include <limits>

#include "core/world/obstacle.h"

namespace exemplar::testing {

// `cells`: parts of each edge.
inline double sampled_gap(const Points& x, const Triangles& triangles, const ObstacleBody& obstacle,
                          const ObstacleState& state, int cells) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int i = 0; i <= cells; ++i) {
      for (int j = 0; i + j <= cells; ++j) {
        const Vec3 p = (i * x.row(triangles(t, 0)) + j * x.row(triangles(t, 1)) +
                        (cells - i - j) * x.row(triangles(t, 2)))
                           .transpose() /
                       cells;
        smallest = std::min(smallest, obstacle.distance(state, p).value);
      }
    }
  }
  return smallest;
}

}  // namespace exemplar::testing
