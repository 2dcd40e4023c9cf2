// Voronoi cells of points in a box (voro++).
#pragma once

#include <array>
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

class VoronoiCells {
 public:
  // `lattice`: the points, which must stay, are of a cubic lattice of this spacing; 0: any points. Cells of a lattice between
  // six others are cubes and made when they are asked for: half a million of them would fill half a gigabyte.
  VoronoiCells(const Points& points, const Vec3& low, const Vec3& high, double lattice);

  int size() const { return static_cast<int>(m_cells.size()); }
  // The cell of a point, in `room` if it is made now.
  const Cell& cell(int point, Cell& room) const;

 private:
  bool is_cube(std::size_t point) const;

  const Points& m_points;
  std::vector<std::array<int, 6>> m_around;  // of a lattice: the points at −x, +x, −y, +y, −z, +z; −1: none
  std::vector<Cell> m_cells;                 // but for cubes
};

}  // namespace exemplar::peridynamics
