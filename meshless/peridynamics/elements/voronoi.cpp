#include "meshless/peridynamics/elements/voronoi.h"

#include <algorithm>
#include <cmath>
#include <voro++/voro++.hh>

namespace exemplar::peridynamics {

namespace {

Cell convert(voro::voronoicell_neighbor& source, const Points& points, int id) {
  std::vector<double> vertices;
  std::vector<int> faces, others;
  source.vertices(points(id, 0), points(id, 1), points(id, 2), vertices);
  source.face_vertices(faces);
  source.neighbors(others);
  Cell cell;
  std::size_t at = 0;
  for (const int other : others) {
    CellFace face;
    const int count = faces[at++];
    for (int k = 0; k < count; ++k) {
      const std::size_t v = 3 * static_cast<std::size_t>(faces[at++]);
      face.polygon.emplace_back(vertices[v], vertices[v + 1], vertices[v + 2]);
    }
    const Vec3 self = points.row(id);
    if (other >= 0) {
      // From the two points, so that both sides have the same plane to rounding.
      const Vec3 there = points.row(other);
      face.other = other;
      face.normal = (there - self).normalized();
      face.offset = 0.5 * face.normal.dot(self + there);
    } else {
      face.normal = area_vector(face.polygon).normalized();
      face.offset = face.normal.dot(face.polygon[0]);
    }
    if (area_vector(face.polygon).dot(face.normal) < 0)
      std::reverse(face.polygon.begin(), face.polygon.end());
    cell.push_back(std::move(face));
  }
  return cell;
}

}  // namespace

std::vector<Cell> voronoi_cells(const Points& points, const Vec3& low, const Vec3& high) {
  const Vec3 size = high - low;
  const double per_block =
      std::cbrt(size.prod() / std::max<double>(1, static_cast<double>(points.rows()) / 6));
  const auto blocks = [&](int a) { return std::clamp(static_cast<int>(size[a] / per_block), 1, 512); };
  voro::container container(low[0], high[0], low[1], high[1], low[2], high[2], blocks(0), blocks(1),
                            blocks(2), false, false, false, 8);
  for (int i = 0; i < points.rows(); ++i) container.put(i, points(i, 0), points(i, 1), points(i, 2));
  std::vector<Cell> cells(static_cast<std::size_t>(points.rows()));
  voro::c_loop_all loop(container);
  voro::voronoicell_neighbor cell;
  if (loop.start()) {
    do {
      if (container.compute_cell(cell, loop)) {
        cells[static_cast<std::size_t>(loop.pid())] = convert(cell, points, loop.pid());
      }
    } while (loop.inc());
  }
  return cells;
}

}  // namespace exemplar::peridynamics
