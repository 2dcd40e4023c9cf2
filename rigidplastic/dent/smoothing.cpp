#include "rigidplastic/dent/smoothing.h"

#include <algorithm>

namespace exemplar::dent {

namespace {

constexpr double k_conduction = 0.2;

// `out` becomes the state after one step; cells outside the grid are as deep as the border.
void heat_step_into(const DepthGrid& grid, std::vector<double>& out) {
  out.resize(grid.depth.size());
  for (int j = 0; j < grid.rows; ++j) {
    const double* row = &grid.depth[static_cast<std::size_t>(j) * static_cast<std::size_t>(grid.columns)];
    const double* up = j > 0 ? row - grid.columns : row;
    const double* down = j + 1 < grid.rows ? row + grid.columns : row;
    double* to = &out[static_cast<std::size_t>(j) * static_cast<std::size_t>(grid.columns)];
    for (int i = 0; i < grid.columns; ++i) {
      const double left = row[std::max(i - 1, 0)], right = row[std::min(i + 1, grid.columns - 1)];
      to[i] = row[i] + k_conduction * ((left + right) + (up[i] + down[i]) - 4 * row[i]);
    }
  }
}

}  // namespace

void heat_step(DepthGrid& grid) {
  std::vector<double> next;
  heat_step_into(grid, next);
  grid.depth.swap(next);
}

void smooth(DepthGrid& grid, const Smoothing& smoothing) {
  const double before = grid.largest();
  std::vector<double> next;
  for (int s = 0; s < smoothing.heat_steps; ++s) {
    heat_step_into(grid, next);
    grid.depth.swap(next);
  }
  const double after = grid.largest();
  if (after > 0) {
    for (double& z : grid.depth) z *= before / after;
  }
  for (int s = 0; s < smoothing.raise_steps; ++s) {
    heat_step_into(grid, next);
    for (std::size_t k = 0; k < next.size(); ++k) grid.depth[k] = std::max(grid.depth[k], next[k]);
  }
}

}  // namespace exemplar::dent
