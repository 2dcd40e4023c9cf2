#include "meshless/peridynamics/elements/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/mesh/bvh.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "meshless/peridynamics/elements/cells.h"
#include "meshless/peridynamics/elements/seams.h"
#include "meshless/peridynamics/elements/voronoi.h"

namespace exemplar::peridynamics {

Polygon clip(const Polygon& polygon, const Vec3& normal, double offset) {
  Polygon result;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vec3& a = polygon[k];
    const Vec3& b = polygon[(k + 1) % polygon.size()];
    const double da = normal.dot(a) - offset;
    const double db = normal.dot(b) - offset;
    if (da <= 0) result.push_back(a);
    if ((da < 0 && db > 0) || (da > 0 && db < 0)) result.push_back(a + da / (da - db) * (b - a));
  }
  return result.size() < 3 ? Polygon{} : result;
}

Vec3 area_vector(std::span<const Vec3> polygon) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 1; k + 1 < polygon.size(); ++k) {
    sum += 0.5 * (polygon[k] - polygon[0]).cross(polygon[k + 1] - polygon[0]);
  }
  return sum;
}

Polygon Elements::polygon(const Face& face) const {
  Polygon out;
  for (int k = 0; k < face.count; ++k) out.push_back(corner(face, k));
  return out;
}

double spacing_for(ElementKind kind, double volume, int count) {
  const double side = std::cbrt(volume / std::max(count, 1));
  // Darts end at about 0.69/r³ points per volume (measured).
  return kind == ElementKind::voronoi ? 0.885 * side : side;
}

namespace {

// The boxes of a surface's triangles, to tell what lies clear of the surface.
class SurfaceBoxes {
 public:
  explicit SurfaceBoxes(const TriMesh& surface)
      : m_boxes(element_boxes(surface.vertices, surface.triangles)), m_tree(m_boxes) {}

  // Calls visit(box) for those that meet the given one.
  template <class Visit>
  void for_each(const Box& box, const Visit& visit) const {
    m_tree.for_overlaps(box, [&](int t) {
      if (m_boxes[static_cast<std::size_t>(t)].overlaps(box)) visit(m_boxes[static_cast<std::size_t>(t)]);
    });
  }
  bool meets(const Box& box) const {
    bool found = false;
    for_each(box, [&](const Box&) { found = true; });
    return found;
  }

 private:
  std::vector<Box> m_boxes;
  Bvh m_tree;
};

Box grown(Box box, double by) {
  box.min.array() -= by;
  box.max.array() += by;
  return box;
}

// Says of the points of one row of a grid, along x, which may have the surface between them and the one before.
void find_gaps(const Eigen::Ref<const Points>& row, double spacing, double margin,
               const SurfaceBoxes& surface, std::vector<std::uint8_t>& is_gap) {
  const auto last = static_cast<double>(row.rows() - 1);
  is_gap.assign(static_cast<std::size_t>(row.rows()), 0);
  Box line;
  line.extend(Vec3(row.row(0)));
  line.extend(Vec3(row.row(row.rows() - 1)));
  surface.for_each(grown(line, margin), [&](const Box& box) {
    const double from = std::floor((box.min[0] - margin - row(0, 0)) / spacing);
    const double to = std::ceil((box.max[0] + margin - row(0, 0)) / spacing) + 1;
    for (double i = std::max(from, 0.0); i <= std::min(to, last); ++i)
      is_gap[static_cast<std::size_t>(i)] = 1;
  });
}

}  // namespace

// Which side of the surface a point is on is asked once where no triangle is near enough to part it from the next: of a plate of
// half a million points 7 µs each were 4.7 s.
Points grid_points(const TriMesh& surface, double spacing) {
  const Vec3 low = surface.vertices.colwise().minCoeff();
  const Vec3 size = Vec3(surface.vertices.colwise().maxCoeff().transpose()) - low;
  const Eigen::Array3i count = (size.array() / spacing).round().cast<int>().max(1);
  const Vec3 first = low + 0.5 * (size - spacing * (count.cast<double>() - 1).matrix());
  const SurfaceDistance distance(surface);
  const SurfaceBoxes boxes(surface);
  const double margin = 1e-6 * spacing + 1e-9 * size.norm();
  const auto rows = static_cast<std::size_t>(count[1]) * static_cast<std::size_t>(count[2]);
  Points all(static_cast<Eigen::Index>(rows) * count[0], 3);
  std::vector<std::uint8_t> is_inside(static_cast<std::size_t>(all.rows()), 0);
  parallel_ranges(rows, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint8_t> is_gap;
    for (std::size_t r = begin; r < end; ++r) {
      const auto y = static_cast<int>(r) % count[1], z = static_cast<int>(r) / count[1];
      const Eigen::Index start = static_cast<Eigen::Index>(r) * count[0];
      for (int x = 0; x < count[0]; ++x) all.row(start + x) = (first + spacing * Vec3(x, y, z)).transpose();
      find_gaps(all.middleRows(start, count[0]), spacing, margin, boxes, is_gap);
      for (Eigen::Index i = start; i < start + count[0]; ++i) {
        const bool is_same = i > start && !is_gap[static_cast<std::size_t>(i - start)];
        is_inside[static_cast<std::size_t>(i)] =
            is_same ? is_inside[static_cast<std::size_t>(i) - 1] : distance.winding_number(all.row(i)) > 0.5;
      }
    }
  });
  std::vector<Eigen::Index> inside;
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    if (is_inside[static_cast<std::size_t>(i)]) inside.push_back(i);
  }
  return all(inside, Eigen::all);
}

namespace {

Points rows_of(const std::vector<Vec3>& points) {
  Points rows(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t i = 0; i < points.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  return rows;
}

}  // namespace

Points blue_noise(const TriMesh& surface, double distance, std::uint64_t seed) {
  const Vec3 low = surface.vertices.colwise().minCoeff();
  const Vec3 size = Vec3(surface.vertices.colwise().maxCoeff().transpose()) - low;
  const SurfaceDistance inside(surface);
  // A grid with at most one point per cell; darts that fall near an accepted point are dropped at once, so
  // that the inside test is made for few.
  const double side = distance / std::sqrt(3.0);
  const Eigen::Array3i count = (size.array() / side).floor().cast<int>() + 1;
  std::vector<int> grid(static_cast<std::size_t>(count.cast<Eigen::Index>().prod()), -1);
  std::vector<Vec3> points;
  const auto cell_of = [&](const Vec3& p) -> Eigen::Array3i {
    return ((p - low).array() / side).cast<int>().min(count - 1);
  };
  const auto index = [&](int x, int y, int z) {
    return (static_cast<std::size_t>(z) * count[1] + y) * count[0] + x;
  };
  const auto is_free = [&](const Vec3& p) {
    const Eigen::Array3i c = cell_of(p);
    const Eigen::Array3i from = (c - 2).max(0), to = (c + 2).min(count - 1);
    for (int z = from[2]; z <= to[2]; ++z) {
      for (int y = from[1]; y <= to[1]; ++y) {
        for (int x = from[0]; x <= to[0]; ++x) {
          const int other = grid[index(x, y, z)];
          if (other >= 0 && (points[other] - p).squaredNorm() < distance * distance) return false;
        }
      }
    }
    return true;
  };
  // Most darts fall into cells that are wholly inside or wholly outside: one look per cell, in parallel.
  Points centres(static_cast<Eigen::Index>(grid.size()), 3);
  for (int z = 0; z < count[2]; ++z) {
    for (int y = 0; y < count[1]; ++y) {
      for (int x = 0; x < count[0]; ++x) {
        centres.row(static_cast<Eigen::Index>(index(x, y, z))) =
            (low + side * Vec3(x + 0.5, y + 0.5, z + 0.5)).transpose();
      }
    }
  }
  const VecX depth = inside.signed_distances(centres);
  const double margin = 0.1 * distance, half_diagonal = 0.5 * distance;
  const auto is_inside = [&](const Vec3& p, std::size_t cell) {
    const double d = depth[static_cast<Eigen::Index>(cell)];
    if (std::abs(d + margin) > half_diagonal) return d < -margin;
    return inside.signed_distance(p) < -margin;
  };
  const std::uint64_t darts = 24 * static_cast<std::uint64_t>(grid.size());
  for (std::uint64_t d = 0; d < darts; ++d) {
    const Vec3 p =
        low + Vec3(uniform_random(seed, 3 * d) * size[0], uniform_random(seed, 3 * d + 1) * size[1],
                   uniform_random(seed, 3 * d + 2) * size[2]);
    const Eigen::Array3i c = cell_of(p);
    const std::size_t cell = index(c[0], c[1], c[2]);
    if (grid[cell] >= 0 || depth[static_cast<Eigen::Index>(cell)] > half_diagonal) continue;
    if (!is_free(p) || !is_inside(p, cell)) continue;
    grid[cell] = static_cast<int>(points.size());
    points.push_back(p);
  }
  return rows_of(points);
}

namespace {

// The faces of all particles as they are cut out, each with corners of its own.
struct Pieces {
  std::vector<Face> faces;
  std::vector<Vec3> corners;

  void add(Face face, std::span<const Vec3> polygon) {
    face.begin = static_cast<int>(corners.size());
    face.count = static_cast<int>(polygon.size());
    faces.push_back(face);
    corners.insert(corners.end(), polygon.begin(), polygon.end());
  }
  std::span<const Vec3> polygon(const Face& face) const {
    return std::span(corners).subspan(static_cast<std::size_t>(face.begin),
                                      static_cast<std::size_t>(face.count));
  }
};

// Lists of boxes per cell of a coarse grid, to find what may touch a box.
class BoxGrid {
 public:
  BoxGrid(const std::vector<std::pair<Vec3, Vec3>>& boxes, double side) : m_boxes(boxes), m_side(side) {
    m_low = Vec3::Constant(1e300);
    Vec3 high = Vec3::Constant(-1e300);
    for (const auto& [from, to] : boxes) {
      m_low = m_low.cwiseMin(from);
      high = high.cwiseMax(to);
    }
    while (((high - m_low).array() / m_side + 1).prod() > 4e6) m_side *= 1.3;
    m_count = ((high - m_low).array() / m_side).floor().cast<int>() + 1;
    m_lists.resize(static_cast<std::size_t>(m_count.prod()));
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      visit(boxes[i].first, boxes[i].second,
            [&](std::vector<int>& list) { list.push_back(static_cast<int>(i)); });
    }
  }
  // Indices of boxes that overlap the given one, ascending, each once.
  std::vector<int> overlapping(const Vec3& from, const Vec3& to) {
    std::vector<int> found;
    visit(from, to, [&](const std::vector<int>& list) {
      for (const int i : list) {
        const auto& [low, high] = m_boxes[i];
        if ((low.array() <= to.array()).all() && (high.array() >= from.array()).all()) found.push_back(i);
      }
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  template <class Visit>
  void visit(const Vec3& from, const Vec3& to, const Visit& each) {
    const auto cell = [&](const Vec3& p) -> Eigen::Array3i {
      return ((p - m_low).array() / m_side).floor().max(0).min(m_count.cast<double>() - 1).cast<int>();
    };
    const Eigen::Array3i a = cell(from), b = cell(to);
    for (int z = a[2]; z <= b[2]; ++z) {
      for (int y = a[1]; y <= b[1]; ++y) {
        for (int x = a[0]; x <= b[0]; ++x) {
          each(m_lists[(static_cast<std::size_t>(z) * m_count[1] + y) * m_count[0] + x]);
        }
      }
    }
  }
  const std::vector<std::pair<Vec3, Vec3>>& m_boxes;
  double m_side;
  Vec3 m_low;
  Eigen::Array3i m_count;
  std::vector<std::vector<int>> m_lists;
};

std::pair<Vec3, Vec3> box_of(const Polygon& polygon, double margin) {
  Vec3 low = polygon[0], high = polygon[0];
  for (const Vec3& p : polygon) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return {low - Vec3::Constant(margin), high + Vec3::Constant(margin)};
}

Box box_of(const Cell& cell) {
  Box box;
  for (const CellFace& face : cell)
    for (const Vec3& p : face.polygon) box.extend(p);
  return box;
}

// What is(c, cell) says of every cell.
template <class Is>
std::vector<std::uint8_t> flags_of(const VoronoiCells& cells, const Is& is) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(cells.size()), 0);
  parallel_ranges(flags.size(), 1024, [&](std::size_t begin, std::size_t end) {
    Cell room;
    for (std::size_t c = begin; c < end; ++c)
      flags[c] = is(static_cast<Eigen::Index>(c), cells.cell(static_cast<int>(c), room));
  });
  return flags;
}

// The triangles of the surface, each cut into the parts that belong to one cell.
void cut_surface(const TriMesh& surface, const SurfaceBoxes& near, const VoronoiCells& cells, double spacing,
                 Pieces& out) {
  const double margin = 1e-6 * spacing;
  const std::vector<std::uint8_t> is_near = flags_of(cells, [&](Eigen::Index, const Cell& cell) {
    return !cell.empty() && near.meets(grown(box_of(cell), margin));
  });
  std::vector<int> chosen;
  std::vector<Cell> chosen_cells;
  std::vector<std::pair<Vec3, Vec3>> boxes;
  Cell room;
  for (int c = 0; c < cells.size(); ++c) {
    if (!is_near[static_cast<std::size_t>(c)]) continue;
    chosen.push_back(c);
    chosen_cells.push_back(cells.cell(c, room));
    const Box box = grown(box_of(chosen_cells.back()), margin);
    boxes.emplace_back(box.min, box.max);
  }
  BoxGrid grid(boxes, 2 * spacing);
  for (int t = 0; t < surface.triangles.rows(); ++t) {
    Polygon triangle;
    for (int k = 0; k < 3; ++k) triangle.push_back(surface.vertices.row(surface.triangles(t, k)));
    const auto [low, high] = box_of(triangle, 0);
    for (const int c : grid.overlapping(low, high)) {
      Polygon part = triangle;
      for (const CellFace& face : chosen_cells[static_cast<std::size_t>(c)]) {
        if (face.other >= 0 && !part.empty()) part = clip(part, face.normal, face.offset);
      }
      if (part.empty() || area_vector(part).norm() < 1e-12 * spacing * spacing) continue;
      out.add(Face{chosen[static_cast<std::size_t>(c)], -1, t}, part);
    }
  }
}

// A face between two cells, and how far it reaches from its middle.
struct Wall {
  CellFace face;
  Vec3 middle = Vec3::Zero();
  double radius = 0;
};

Wall wall_of(const CellFace& face) {
  Wall wall{face};
  for (const Vec3& p : face.polygon) wall.middle += p / static_cast<double>(face.polygon.size());
  for (const Vec3& p : face.polygon) wall.radius = std::max(wall.radius, (p - wall.middle).norm());
  return wall;
}

// Walls are whole, or not in the body, where the surface is farther from their middle than this many radii.
constexpr double k_clear = 1.01;

// Cells around which there is so much room that all their walls are whole: nothing is to be measured there.
std::vector<std::uint8_t> clear_cells(const SurfaceBoxes& near, const VoronoiCells& cells,
                                      const Points& points, double spacing) {
  return flags_of(cells, [&](Eigen::Index c, const Cell& cell) {
    Box box = box_of(cell);
    box.extend(Vec3(points.row(c)));
    return !near.meets(grown(box, k_clear * 0.5 * (box.max - box.min).norm() + 1e-6 * spacing));
  });
}

// The walls of all other cells, and how deep in the body (< 0) their middles lie.
struct MeasuredWalls {
  std::vector<Wall> walls;
  VecX depth;
};

MeasuredWalls measure_walls(const TriMesh& surface, const VoronoiCells& cells,
                            const std::vector<std::uint8_t>& is_clear) {
  MeasuredWalls out;
  Cell room;
  for (int c = 0; c < cells.size(); ++c) {
    if (is_clear[static_cast<std::size_t>(c)]) continue;
    for (const CellFace& face : cells.cell(c, room))
      if (face.other >= c) out.walls.push_back(wall_of(face));
  }
  Points middles(static_cast<Eigen::Index>(out.walls.size()), 3);
  for (std::size_t w = 0; w < out.walls.size(); ++w)
    middles.row(static_cast<Eigen::Index>(w)) = out.walls[w].middle.transpose();
  out.depth = SurfaceDistance(surface).signed_distances(middles);
  return out;
}

// Cuts walls into parts inside one tet of the body each; one that lies in a face between two tets must count once: it is looked
// up a little off its plane.
class WallCutter {
 public:
  WallCutter(const TetMesh& volume, double spacing)
      : m_spacing(spacing),
        m_boxes(boxes_of(volume)),
        m_grid(m_boxes,
               std::max(std::cbrt(tet_volumes(volume.vertices, volume.tets).mean() * 6), 0.5 * spacing)) {}

  void cut(int cell, const CellFace& wall, Pieces& out) {
    const Vec3 nudge = 1e-10 * m_spacing * wall.normal;
    const auto [low, high] = box_of(wall.polygon, 1e-6 * m_spacing);
    for (const int e : m_grid.overlapping(low, high)) {
      Polygon part = wall.polygon;
      for (const auto& [normal, offset] : m_planes[e]) {
        if (!part.empty()) part = clip(part, normal, offset - normal.dot(nudge));
      }
      if (part.empty() || area_vector(part).norm() < 1e-12 * m_spacing * m_spacing) continue;
      out.add(Face{cell, wall.other, -1}, part);
    }
  }

 private:
  std::vector<std::pair<Vec3, Vec3>> boxes_of(const TetMesh& volume) {
    static constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    std::vector<std::pair<Vec3, Vec3>> boxes;
    for (int e = 0; e < volume.tets.rows(); ++e) {
      Polygon corners;
      for (int k = 0; k < 4; ++k) corners.push_back(volume.vertices.row(volume.tets(e, k)));
      boxes.push_back(box_of(corners, 1e-6 * m_spacing));
      m_planes.emplace_back();
      for (int k = 0; k < 4; ++k) {
        const auto& [a, b, c] = opposite[k];
        const Vec3 normal = (corners[b] - corners[a]).cross(corners[c] - corners[a]).normalized();
        m_planes.back()[k] = {normal, normal.dot(corners[a])};
      }
    }
    return boxes;
  }

  double m_spacing;
  std::vector<std::array<std::pair<Vec3, double>, 4>> m_planes;  // of every tet
  std::vector<std::pair<Vec3, Vec3>> m_boxes;
  BoxGrid m_grid;
};

// The faces between cells; those that reach the surface are cut.
void cut_walls(const TriMesh& surface, const SurfaceBoxes& near, const TetMesh& volume,
               const VoronoiCells& cells, const Points& points, double spacing, Pieces& out) {
  WallCutter cutter(volume, spacing);
  const std::vector<std::uint8_t> is_clear = clear_cells(near, cells, points, spacing);
  const MeasuredWalls measured = measure_walls(surface, cells, is_clear);
  std::size_t next = 0;
  Cell room;
  for (int c = 0; c < cells.size(); ++c) {
    for (const CellFace& face : cells.cell(c, room)) {
      if (face.other < c) continue;
      if (is_clear[static_cast<std::size_t>(c)]) {
        out.add(Face{c, face.other, -1}, face.polygon);
        continue;
      }
      const double d = measured.depth[static_cast<Eigen::Index>(next)];
      const double reach = k_clear * measured.walls[next++].radius;
      if (d > reach) continue;
      if (d < -reach) {
        out.add(Face{c, face.other, -1}, face.polygon);
      } else {
        cutter.cut(c, face, out);
      }
    }
  }
}

// Volumes by the divergence theorem, particles that own something renumbered, faces stored.
Elements assemble(const Points& points, const Pieces& pieces, double spacing) {
  const std::size_t count = static_cast<std::size_t>(points.rows());
  std::vector<double> volumes(count, 0);
  std::vector<std::uint8_t> on_surface(count, 0);
  std::vector<double> radii(count, 0);  // how far the original surface stands out from the particle
  for (const Face& face : pieces.faces) {
    const std::span<const Vec3> polygon = pieces.polygon(face);
    const Vec3 area = area_vector(polygon);
    const auto add = [&](int particle, double sign) {
      volumes[particle] += sign * area.dot(polygon[0] - Vec3(points.row(particle))) / 3;
    };
    add(face.particle, 1);
    if (face.other >= 0) add(face.other, -1);
    if (face.other >= 0) continue;
    const int i = face.particle;
    on_surface[i] = 1;
    radii[i] = std::max(radii[i], area.normalized().dot(polygon[0] - Vec3(points.row(i))));
  }
  std::vector<int> renamed(count, -1);
  Elements result;
  result.spacing = spacing;
  std::vector<Eigen::Index> kept;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(volumes[i] > 1e-9 * spacing * spacing * spacing)) continue;
    renamed[i] = static_cast<int>(kept.size());
    kept.push_back(static_cast<Eigen::Index>(i));
    result.particles.volumes.push_back(volumes[i]);
    result.particles.on_surface.push_back(on_surface[i]);
    result.particles.radii.push_back(on_surface[i] ? std::min(radii[i], spacing) : 0.5 * spacing);
  }
  result.particles.positions = points(kept, Eigen::all);
  result.particles.body.assign(kept.size(), 0);
  for (Face face : pieces.faces) {
    const bool is_between = face.other >= 0;
    face.particle = renamed[face.particle];
    if (is_between) face.other = renamed[face.other];
    if (face.particle < 0 || (is_between && face.other < 0)) continue;
    if (is_between)
      result.neighbours.emplace_back(std::min(face.particle, face.other),
                                     std::max(face.particle, face.other));
    result.faces.push_back(face);
  }
  std::sort(result.neighbours.begin(), result.neighbours.end());
  result.neighbours.erase(std::unique(result.neighbours.begin(), result.neighbours.end()),
                          result.neighbours.end());
  close_seams(pieces.corners, result);
  return result;
}

// Each tet a particle: its faces are shared with another tet or lie on the surface.
Pieces tet_faces(const TriMesh& surface, const TetMesh& volume) {
  static constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  using Open = std::pair<int, std::array<Vec3, 3>>;  // tet, corners
  std::map<std::array<int, 3>, Open> open;
  Pieces pieces;
  for (int e = 0; e < volume.tets.rows(); ++e) {
    for (const auto& [a, b, c] : faces) {
      std::array<int, 3> key = {volume.tets(e, a), volume.tets(e, b), volume.tets(e, c)};
      Open own{e, {}};
      for (std::size_t k = 0; k < 3; ++k) own.second[k] = volume.vertices.row(key[k]);
      std::sort(key.begin(), key.end());
      const auto [found, is_new] = open.emplace(key, own);
      if (is_new) continue;
      pieces.add(Face{found->second.first, e, -1}, found->second.second);
      open.erase(found);
    }
  }
  const SurfaceDistance distance(surface);
  for (const auto& [key, side] : open) {
    const auto& [tet, corners] = side;
    const Vec3 middle = (corners[0] + corners[1] + corners[2]) / 3;
    pieces.add(Face{tet, -1, distance.nearest(middle).triangle}, corners);
  }
  return pieces;
}

}  // namespace

Elements make_elements(ElementKind kind, const TriMesh& surface, const TetMesh& volume, double spacing,
                       std::uint64_t seed) {
  Points points;
  Pieces pieces;
  if (kind == ElementKind::tets) {
    points.resize(volume.tets.rows(), 3);
    for (Eigen::Index e = 0; e < points.rows(); ++e) {
      points.row(e).setZero();
      for (int k = 0; k < 4; ++k) points.row(e) += 0.25 * volume.vertices.row(volume.tets(e, k));
    }
    pieces = tet_faces(surface, volume);
  } else {
    points = kind == ElementKind::cubes ? grid_points(surface, spacing) : blue_noise(surface, spacing, seed);
    if (points.rows() < 2)
      throw InputError("fewer than two particles fit into the surface: use more particles");
    const Vec3 low = surface.vertices.colwise().minCoeff(), high = surface.vertices.colwise().maxCoeff();
    const Vec3 margin = Vec3::Constant(0.5 * spacing);
    const VoronoiCells cells(points, low - margin, high + margin, kind == ElementKind::cubes ? spacing : 0.0);
    const SurfaceBoxes near(surface);
    cut_surface(surface, near, cells, spacing, pieces);
    cut_walls(surface, near, volume, cells, points, spacing, pieces);
  }
  Elements elements = assemble(points, pieces, spacing);
  if (elements.particles.size() < 2)
    throw InputError("fewer than two particles fit into the surface: use more");
  return elements;
}

}  // namespace exemplar::peridynamics
