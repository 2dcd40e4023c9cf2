#include "meshless/peridynamics/elements/voronoi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <voro++/voro++.hh>

#include "core/base/parallel.h"

namespace exemplar::peridynamics {

namespace {

// voro++ takes for one what is closer than some 1e-11: cells of small bodies are cut enlarged. A power of two, so that
// nothing is rounded.
double enlargement(const Vec3& size) {
  constexpr double large_enough = 0.01;
  const double diagonal = size.norm();
  return diagonal > 0 && diagonal < large_enough ? std::ldexp(1.0, -std::ilogb(diagonal)) : 1;
}

Cell convert(voro::voronoicell_neighbor& source, const Points& points, int id, double scale) {
  std::vector<double> vertices;
  std::vector<int> faces, others;
  source.vertices(scale * points(id, 0), scale * points(id, 1), scale * points(id, 2), vertices);
  for (double& coordinate : vertices) coordinate /= scale;
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

// Which of the points of a cubic lattice lie at −x, +x, −y, +y, −z, +z of each; −1: none.
std::vector<std::array<int, 6>> lattice_neighbours(const Points& points, double spacing) {
  const Vec3 low = points.colwise().minCoeff(), size = points.colwise().maxCoeff().transpose() - low;
  const Eigen::Array3i count = (size.array() / spacing).round().cast<int>() + 1;
  const auto place = [&](Eigen::Index i) -> Eigen::Array3i {
    return ((points.row(i).transpose() - low).array() / spacing).round().cast<int>();
  };
  const std::array<Eigen::Index, 3> stride{1, count[0], static_cast<Eigen::Index>(count[0]) * count[1]};
  const auto index = [&](const Eigen::Array3i& at) {
    return static_cast<std::size_t>(at[0] + stride[1] * at[1] + stride[2] * at[2]);
  };
  std::vector<int> at(static_cast<std::size_t>(stride[2] * count[2]), -1);
  for (Eigen::Index i = 0; i < points.rows(); ++i) at[index(place(i))] = static_cast<int>(i);
  std::vector<std::array<int, 6>> neighbours(static_cast<std::size_t>(points.rows()));
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const Eigen::Array3i own = place(i);
    const auto here = static_cast<Eigen::Index>(index(own));
    for (int a = 0; a < 3; ++a) {
      auto& around = neighbours[static_cast<std::size_t>(i)];
      around[2 * a] = own[a] > 0 ? at[static_cast<std::size_t>(here - stride[a])] : -1;
      around[2 * a + 1] = own[a] + 1 < count[a] ? at[static_cast<std::size_t>(here + stride[a])] : -1;
    }
  }
  return neighbours;
}

// The cell of a point between six neighbours: a cube.
void make_cube(const Points& points, int id, const std::array<int, 6>& around, Cell& cell) {
  static constexpr int corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const Vec3 self = points.row(id);
  std::array<double, 6> planes;
  for (int k = 0; k < 6; ++k) planes[k] = 0.5 * (self[k / 2] + points(around[k], k / 2));
  cell.resize(6);
  for (int k = 0; k < 6; ++k) {
    const int a = k / 2, b = (a + 1) % 3, c = (a + 2) % 3;
    const double sign = k % 2 == 0 ? -1 : 1;
    CellFace& face = cell[static_cast<std::size_t>(k)];
    face.other = around[k];
    face.normal = sign * Vec3::Unit(a);
    face.offset = sign * planes[k];
    face.polygon.resize(4);
    for (int i = 0; i < 4; ++i) {
      Vec3& corner = face.polygon[static_cast<std::size_t>(sign < 0 ? 3 - i : i)];
      corner[a] = planes[k];
      corner[b] = planes[2 * b + corners[i][0]];
      corner[c] = planes[2 * c + corners[i][1]];
    }
  }
}

// Where voro++ keeps a point.
struct Stored {
  int id, block, place, i, j, k;
};

}  // namespace

VoronoiCells::VoronoiCells(const Points& points, const Vec3& low, const Vec3& high, double lattice)
    : m_points(points), m_cells(static_cast<std::size_t>(points.rows())) {
  if (lattice > 0) m_around = lattice_neighbours(points, lattice);
  const Vec3 size = high - low;
  const double per_block =
      std::cbrt(size.prod() / std::max<double>(1, static_cast<double>(points.rows()) / 6));
  const auto blocks = [&](int a) { return std::clamp(static_cast<int>(size[a] / per_block), 1, 512); };
  const double scale = enlargement(size);
  const Vec3 from = scale * low, to = scale * high;
  voro::container container(from[0], to[0], from[1], to[1], from[2], to[2], blocks(0), blocks(1), blocks(2),
                            false, false, false, 8);
  for (int i = 0; i < points.rows(); ++i)
    container.put(i, scale * points(i, 0), scale * points(i, 1), scale * points(i, 2));
  std::vector<Stored> wanted;
  voro::c_loop_all loop(container);
  if (loop.start()) {
    do {
      if (!is_cube(static_cast<std::size_t>(loop.pid())))
        wanted.push_back({loop.pid(), loop.ijk, loop.q, loop.i, loop.j, loop.k});
    } while (loop.inc());
  }
  // What the container itself computes with is for one thread.
  parallel_ranges(wanted.size(), 2048, [&](std::size_t begin, std::size_t end) {
    voro::voro_compute<voro::container> compute(container, container.nx, container.ny, container.nz);
    voro::voronoicell_neighbor cell;
    for (std::size_t w = begin; w < end; ++w) {
      const auto& [id, block, place, i, j, k] = wanted[w];
      if (compute.compute_cell(cell, block, place, i, j, k))
        m_cells[static_cast<std::size_t>(id)] = convert(cell, points, id, scale);
    }
  });
}

bool VoronoiCells::is_cube(std::size_t point) const {
  return !m_around.empty() &&
         std::find(m_around[point].begin(), m_around[point].end(), -1) == m_around[point].end();
}

const Cell& VoronoiCells::cell(int point, Cell& room) const {
  const auto i = static_cast<std::size_t>(point);
  if (!is_cube(i)) return m_cells[i];
  make_cube(m_points, point, m_around[i], room);
  return room;
}

}  // namespace exemplar::peridynamics
