// Voronoi cells of points in a box (voro++).
#pragma once

#include <vector>

#include "meshless/peridynamics/elements/elements.h"

namespace exemplar::peridynamics {

struct CellFace {
  int other = -1;  // the point on the other side; −1: the box
  Vec3 normal = Vec3::Zero();
  double offset = 0;  // the cell is where normal · x ≤ offset
  Polygon polygon;
};
using Cell = std::vector<CellFace>;

// `lattice`: the points are of a cubic lattice of this spacing, and cells between six others need no search; 0: any points.
std::vector<Cell> voronoi_cells(const Points& points, const Vec3& low, const Vec3& high, double lattice);

}  // namespace exemplar::peridynamics
