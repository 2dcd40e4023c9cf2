#include "meshless/peridynamics/elements/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
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

Vec3 area_vector(const Polygon& polygon) {
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

Points grid_points(const TriMesh& surface, double spacing) {
  const Vec3 low = surface.vertices.colwise().minCoeff();
  const Vec3 size = Vec3(surface.vertices.colwise().maxCoeff().transpose()) - low;
  Eigen::Array3i count = (size.array() / spacing).round().cast<int>().max(1);
  const Vec3 first = low + 0.5 * (size - spacing * (count.cast<double>() - 1).matrix());
  Points all(count.cast<Eigen::Index>().prod(), 3);
  Eigen::Index next = 0;
  for (int z = 0; z < count[2]; ++z) {
    for (int y = 0; y < count[1]; ++y) {
      for (int x = 0; x < count[0]; ++x) all.row(next++) = (first + spacing * Vec3(x, y, z)).transpose();
    }
  }
  const VecX winding = SurfaceDistance(surface).winding_numbers(all);
  std::vector<Eigen::Index> inside;
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    if (winding[i] > 0.5) inside.push_back(i);
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

struct Piece {
  Face face;
  Polygon polygon;
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

// The triangles of the surface, each cut into the parts that belong to one cell.
void cut_surface(const TriMesh& surface, const std::vector<Cell>& cells, double spacing,
                 std::vector<Piece>& out) {
  std::vector<std::pair<Vec3, Vec3>> boxes;
  for (const Cell& cell : cells) {
    Polygon all;
    for (const CellFace& face : cell) all.insert(all.end(), face.polygon.begin(), face.polygon.end());
    boxes.push_back(all.empty() ? std::pair(Vec3::Constant(1e30).eval(), Vec3::Constant(1e30).eval())
                                : box_of(all, 1e-6 * spacing));
  }
  BoxGrid grid(boxes, 2 * spacing);
  for (int t = 0; t < surface.triangles.rows(); ++t) {
    Polygon triangle;
    for (int k = 0; k < 3; ++k) triangle.push_back(surface.vertices.row(surface.triangles(t, k)));
    const auto [low, high] = box_of(triangle, 0);
    for (const int c : grid.overlapping(low, high)) {
      Polygon part = triangle;
      for (const CellFace& face : cells[c]) {
        if (face.other >= 0 && !part.empty()) part = clip(part, face.normal, face.offset);
      }
      if (part.empty() || area_vector(part).norm() < 1e-12 * spacing * spacing) continue;
      out.push_back({Face{c, -1, t, 0, 0}, std::move(part)});
    }
  }
}

// A face between two cells, and how far it reaches from its middle.
struct Wall {
  int cell;
  const CellFace* face;
  Vec3 middle;
  double radius;
};

std::vector<Wall> walls_of(const std::vector<Cell>& cells) {
  std::vector<Wall> walls;
  for (int c = 0; c < static_cast<int>(cells.size()); ++c) {
    for (const CellFace& face : cells[c]) {
      if (face.other < c) continue;
      Wall wall{c, &face, Vec3::Zero(), 0};
      for (const Vec3& p : face.polygon) wall.middle += p / static_cast<double>(face.polygon.size());
      for (const Vec3& p : face.polygon) wall.radius = std::max(wall.radius, (p - wall.middle).norm());
      walls.push_back(wall);
    }
  }
  return walls;
}

// The faces between cells. Those that reach the surface are cut into parts inside one tet each; one that lies in
// a face between two tets must count once: it is looked up a little off its plane.
void cut_walls(const TriMesh& surface, const TetMesh& volume, const std::vector<Cell>& cells, double spacing,
               std::vector<Piece>& out) {
  static constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::vector<std::pair<Vec3, Vec3>> boxes;
  std::vector<std::array<std::pair<Vec3, double>, 4>> planes;
  for (int e = 0; e < volume.tets.rows(); ++e) {
    Polygon corners;
    for (int k = 0; k < 4; ++k) corners.push_back(volume.vertices.row(volume.tets(e, k)));
    boxes.push_back(box_of(corners, 1e-6 * spacing));
    for (int k = 0; k < 4; ++k) {
      const auto& [a, b, c] = opposite[k];
      const Vec3 normal = (corners[b] - corners[a]).cross(corners[c] - corners[a]).normalized();
      if (k == 0) planes.emplace_back();
      planes.back()[k] = {normal, normal.dot(corners[a])};
    }
  }
  const double mean_side = std::cbrt(tet_volumes(volume.vertices, volume.tets).mean() * 6);
  BoxGrid grid(boxes, std::max(mean_side, 0.5 * spacing));
  const std::vector<Wall> walls = walls_of(cells);
  Points middles(static_cast<Eigen::Index>(walls.size()), 3);
  for (std::size_t w = 0; w < walls.size(); ++w)
    middles.row(static_cast<Eigen::Index>(w)) = walls[w].middle.transpose();
  const VecX depth = SurfaceDistance(surface).signed_distances(middles);
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const auto& [c, face, middle, radius] = walls[w];
    const double d = depth[static_cast<Eigen::Index>(w)];
    if (d > 1.01 * radius) continue;
    if (d < -1.01 * radius) {
      out.push_back({Face{c, face->other, -1, 0, 0}, face->polygon});
      continue;
    }
    const Vec3 nudge = 1e-10 * spacing * face->normal;
    const auto [low, high] = box_of(face->polygon, 1e-6 * spacing);
    for (const int e : grid.overlapping(low, high)) {
      Polygon part = face->polygon;
      for (const auto& [normal, offset] : planes[e]) {
        if (!part.empty()) part = clip(part, normal, offset - normal.dot(nudge));
      }
      if (part.empty() || area_vector(part).norm() < 1e-12 * spacing * spacing) continue;
      out.push_back({Face{c, face->other, -1, 0, 0}, std::move(part)});
    }
  }
}

// Volumes by the divergence theorem, particles that own something renumbered, faces stored.
Elements assemble(const Points& points, const std::vector<Piece>& pieces, double spacing) {
  const std::size_t count = static_cast<std::size_t>(points.rows());
  std::vector<double> volumes(count, 0);
  std::vector<std::uint8_t> on_surface(count, 0);
  std::vector<double> radii(count, 0);  // how far the original surface stands out from the particle
  for (const Piece& piece : pieces) {
    const Vec3 area = area_vector(piece.polygon);
    const auto add = [&](int particle, double sign) {
      volumes[particle] += sign * area.dot(piece.polygon[0] - Vec3(points.row(particle))) / 3;
    };
    add(piece.face.particle, 1);
    if (piece.face.other >= 0) add(piece.face.other, -1);
    if (piece.face.other >= 0) continue;
    const int i = piece.face.particle;
    on_surface[i] = 1;
    radii[i] = std::max(radii[i], area.normalized().dot(piece.polygon[0] - Vec3(points.row(i))));
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
  std::size_t corners = 0;
  for (const Piece& piece : pieces) corners += piece.polygon.size();
  Points at(static_cast<Eigen::Index>(corners), 3);
  int next = 0;
  for (const Piece& piece : pieces) {
    Face face = piece.face;
    face.particle = renamed[face.particle];
    if (face.other >= 0) face.other = renamed[face.other];
    if (face.particle < 0 || (piece.face.other >= 0 && face.other < 0)) continue;
    face.begin = next;
    face.count = static_cast<int>(piece.polygon.size());
    for (const Vec3& p : piece.polygon) at.row(next++) = p.transpose();
    if (face.other >= 0) {
      result.neighbours.emplace_back(std::min(face.particle, face.other),
                                     std::max(face.particle, face.other));
    }
    result.faces.push_back(face);
  }
  std::sort(result.neighbours.begin(), result.neighbours.end());
  result.neighbours.erase(std::unique(result.neighbours.begin(), result.neighbours.end()),
                          result.neighbours.end());
  close_seams(at, result);
  return result;
}

// Each tet a particle: its faces are shared with another tet or lie on the surface.
std::vector<Piece> tet_faces(const TriMesh& surface, const TetMesh& volume) {
  static constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::map<std::array<int, 3>, Piece> open;
  std::vector<Piece> pieces;
  for (int e = 0; e < volume.tets.rows(); ++e) {
    for (const auto& [a, b, c] : faces) {
      std::array<int, 3> key = {volume.tets(e, a), volume.tets(e, b), volume.tets(e, c)};
      Piece piece{Face{e, -1, -1, 0, 0}, {}};
      for (const int v : key) piece.polygon.push_back(volume.vertices.row(v));
      std::sort(key.begin(), key.end());
      const auto found = open.find(key);
      if (found == open.end()) {
        open.emplace(key, std::move(piece));
      } else {
        found->second.face.other = e;
        pieces.push_back(std::move(found->second));
        open.erase(found);
      }
    }
  }
  const SurfaceDistance distance(surface);
  for (auto& [key, piece] : open) {
    const Vec3 middle = (piece.polygon[0] + piece.polygon[1] + piece.polygon[2]) / 3;
    piece.face.triangle = distance.nearest(middle).triangle;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

Elements make_elements(ElementKind kind, const TriMesh& surface, const TetMesh& volume, double spacing,
                       std::uint64_t seed) {
  Points points;
  std::vector<Piece> pieces;
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
    const std::vector<Cell> cells =
        voronoi_cells(points, low - margin, high + margin, kind == ElementKind::cubes ? spacing : 0.0);
    cut_surface(surface, cells, spacing, pieces);
    cut_walls(surface, volume, cells, spacing, pieces);
  }
  Elements elements = assemble(points, pieces, spacing);
  if (elements.particles.size() < 2)
    throw InputError("fewer than two particles fit into the surface: use more");
  return elements;
}

}  // namespace exemplar::peridynamics
