#include "core/mesh/volume/cage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/volume/cells.h"

namespace exemplar {

namespace {

// Cells as bits of a 2 × 2 × 2 block around a grid vertex: 1 for x, 2 for y, 4 for z.
using Block = unsigned;

bool face_connected(Block block) {
  if (block == 0) return true;
  Block reached = block & (~block + 1);
  for (Block before = 0; before != reached;) {
    before = reached;
    for (int i = 0; i < 8; ++i) {
      if (!(reached >> i & 1)) continue;
      for (const int axis : {1, 2, 4}) reached |= block & (1u << (i ^ axis));
    }
  }
  return reached == block;
}

// Two cells across an edge of the block without the two between them.
bool has_crossed_edge(Block block) {
  for (int i = 0; i < 8; ++i) {
    for (const auto& [u, v] : {std::pair{1, 2}, std::pair{2, 4}, std::pair{4, 1}}) {
      const bool here = block >> i & 1;
      const bool across = block >> (i ^ u ^ v) & 1;
      const bool between = (block >> (i ^ u) & 1) || (block >> (i ^ v) & 1);
      if (here && across && !between) return true;
    }
  }
  return false;
}

bool manifold_block(Block block) {
  return face_connected(block) && face_connected(~block & 255u) && !has_crossed_edge(block);
}

// For each block the smallest superset around whose vertex the boundary is a manifold.
std::array<Block, 256> manifold_supersets() {
  std::array<Block, 256> table{};
  for (Block block = 0; block < 256; ++block) {
    Block best = 255;
    for (Block other = 0; other < 256; ++other) {
      if ((other & block) != block || !manifold_block(other)) continue;
      if (std::popcount(other) < std::popcount(best)) best = other;
    }
    table[block] = best;
  }
  return table;
}

// Adds cells until every grid vertex sees a manifold boundary. Cells are only added, so it ends; the ring of
// empty cells around the grid is never reached, as a block is only filled between cells that are kept.
int make_manifold(const CellGrid& grid, std::vector<char>& kept) {
  static const std::array<Block, 256> table = manifold_supersets();
  int added = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int z = 1; z < grid.size.z(); ++z) {
      for (int y = 1; y < grid.size.y(); ++y) {
        for (int x = 1; x < grid.size.x(); ++x) {
          const auto cell = [&](int i) {
            return grid.index(x - 1 + (i & 1), y - 1 + (i >> 1 & 1), z - 1 + (i >> 2));
          };
          Block block = 0;
          for (int i = 0; i < 8; ++i) block |= kept[cell(i)] ? 1u << i : 0u;
          const Block more = table[block] & ~block;
          if (more == 0) continue;
          changed = true;
          added += std::popcount(more);
          for (int i = 0; i < 8; ++i) {
            if (more >> i & 1) kept[cell(i)] = 1;
          }
        }
      }
    }
  }
  return added;
}

CellGrid grid_around(const TriMesh& surface, double cell, std::int64_t max_tets) {
  const Vec3 low = surface.vertices.colwise().minCoeff();
  const Vec3 high = surface.vertices.colwise().maxCoeff();
  // A tenth of a cell more keeps flat sides off the faces of the grid; then one empty ring.
  const Vec3 wanted = ((high - low) / cell).array().ceil() + 2.0;
  const double cells = (wanted.array() + 1).prod();
  const double limit = 50.0 * static_cast<double>(max_tets) / 5.0;
  if (!(cells < std::min(limit, 4e8))) {
    throw InputError(
        fmt::format("a cage with cells of {:.3g} m around a body of {:.3g} × {:.3g} × {:.3g} m would need a "
                    "grid of {:.2g} cells; ask for larger tets or cells",
                    cell, high.x() - low.x(), high.y() - low.y(), high.z() - low.z(), cells));
  }
  CellGrid grid;
  grid.size = (((high - low) / cell).array() + 0.1).ceil().cast<int>() + 2;
  grid.cell.setConstant(cell);
  grid.origin = 0.5 * (low + high) - 0.5 * cell * grid.size.cast<double>();
  return grid;
}

std::vector<char> touched_cells(const CellGrid& grid, const TriMesh& surface) {
  std::vector<char> touched(grid.count(), 0);
  const double cell = grid.cell.x();
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const Vec3 a = surface.vertices.row(surface.triangles(t, 0));
    const Vec3 b = surface.vertices.row(surface.triangles(t, 1));
    const Vec3 c = surface.vertices.row(surface.triangles(t, 2));
    const auto to_cell = [&](const Vec3& p) -> Eigen::Vector3i {
      return ((p - grid.origin) / cell).array().floor().cast<int>();
    };
    const Eigen::Vector3i first = to_cell(a.cwiseMin(b).cwiseMin(c));
    const Eigen::Vector3i last = to_cell(a.cwiseMax(b).cwiseMax(c));
    for (int z = first.z(); z <= last.z(); ++z) {
      for (int y = first.y(); y <= last.y(); ++y) {
        for (int x = first.x(); x <= last.x(); ++x) {
          char& mark = touched[grid.index(x, y, z)];
          mark = mark || triangle_touches_box(grid.centre({x, y, z}), 0.5 * grid.cell, a, b, c);
        }
      }
    }
  }
  return touched;
}

std::vector<char> kept_cells(const CellGrid& grid, const std::vector<char>& touched,
                             const SurfaceDistance& surface) {
  std::vector<char> kept = touched;
  parallel_for(
      kept.size(),
      [&](std::size_t c) {
        if (!kept[c]) kept[c] = surface.inside(grid.centre(grid.place(c)));
      },
      256);
  // The ring stays empty even where the winding number of an open surface leaks out.
  for (std::size_t c = 0; c < kept.size(); ++c) {
    const Eigen::Vector3i p = grid.place(c);
    if ((p.array() == 0).any() || (p.array() == grid.size.array() - 1).any()) kept[c] = 0;
  }
  return kept;
}

// Evenly spread points of the tet with corners 0, e1, e2, e3: the additive recurrence of Roberts (2018),
// folded.
Points tet_sample_points(int count) {
  Points samples(count, 3);
  const double g = 1.22074408460575947536;
  for (int i = 0; i < count; ++i) {
    Vec3 s;
    for (int k = 0; k < 3; ++k) {
      const double v = 0.5 + (i + 1) / std::pow(g, k + 1);
      s[k] = v - std::floor(v);
    }
    std::sort(s.data(), s.data() + 3);
    samples.row(i) << s[0], s[1] - s[0], s[2] - s[1];
  }
  return samples;
}

VecX fill_fractions(const TetMesh& mesh, const std::vector<std::size_t>& cell_of_tet,
                    const std::vector<char>& touched, const SurfaceDistance& surface) {
  const Points samples = tet_sample_points(32);
  VecX fill = VecX::Ones(mesh.tets.rows());
  parallel_for(
      static_cast<std::size_t>(mesh.tets.rows()),
      [&](std::size_t i) {
        const auto t = static_cast<Eigen::Index>(i);
        const Vec3 a = mesh.vertices.row(mesh.tets(t, 0));
        Mat3 edges;
        for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices.row(mesh.tets(t, k + 1)).transpose() - a;
        if (!touched[cell_of_tet[i]]) {
          fill[t] = surface.inside(a + edges * Vec3::Constant(0.25)) ? 1.0 : least_fill;
          return;
        }
        int inside = 0;
        for (Eigen::Index s = 0; s < samples.rows(); ++s) {
          inside += surface.inside(a + edges * samples.row(s).transpose());
        }
        fill[t] = std::max(least_fill, static_cast<double>(inside) / static_cast<double>(samples.rows()));
      },
      16);
  return fill;
}

// Scales the partly filled tets so that all of them together hold exactly the surface's volume.
void match_volume(const TetMesh& mesh, double volume, VecX& fill) {
  const VecX volumes = tet_volumes(mesh.vertices, mesh.tets);
  double full = 0;
  double partial = 0;
  for (Eigen::Index t = 0; t < fill.size(); ++t) (fill[t] >= 1 ? full : partial) += fill[t] * volumes[t];
  const double factor = (volume - full) / partial;
  if (!(factor > 0.25 && factor < 4)) return;
  for (double& f : fill) {
    if (f < 1) f = std::min(1.0, f * factor);
  }
}

}  // namespace

// Separating axes: the box's, the triangle's normal, and the nine products of edges (Akenine-Möller 2001).
bool triangle_touches_box(const Vec3& centre, const Vec3& half, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 x[3] = {a - centre, b - centre, c - centre};
  const auto separated = [&](const Vec3& axis) {
    const double reach = half.dot(axis.cwiseAbs());
    const double pa = axis.dot(x[0]);
    const double pb = axis.dot(x[1]);
    const double pc = axis.dot(x[2]);
    return std::min({pa, pb, pc}) > reach || std::max({pa, pb, pc}) < -reach;
  };
  for (int axis = 0; axis < 3; ++axis) {
    if (separated(Vec3::Unit(axis))) return false;
  }
  if (separated((x[1] - x[0]).cross(x[2] - x[0]))) return false;
  for (int k = 0; k < 3; ++k) {
    const Vec3 edge = x[(k + 1) % 3] - x[k];
    for (int axis = 0; axis < 3; ++axis) {
      if (separated(Vec3::Unit(axis).cross(edge))) return false;
    }
  }
  return true;
}

double cell_for_count(const TriMesh& surface, double cells) {
  const double area = surface_area(surface.vertices, surface.triangles);
  const double volume = std::max(0.0, signed_volume(surface.vertices, surface.triangles));
  const double diagonal =
      (surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff()).norm();
  // Cells inside, and half a layer more where a closed surface passes; both sides of a sheet.
  const auto expected = [&](double cell) { return volume / std::pow(cell, 3) + area / (cell * cell); };
  double low = 1e-6 * diagonal;
  double high = diagonal;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (expected(middle) > cells ? low : high) = middle;
  }
  return high;
}

Cage build_cage(const TriMesh& surface, double cell, bool exact_volume, std::int64_t max_tets) {
  Cage cage;
  cage.cell = cell;
  const CellGrid grid = grid_around(surface, cell, max_tets);
  const SurfaceDistance distance(surface);
  const std::vector<char> touched = touched_cells(grid, surface);
  std::vector<char> kept = kept_cells(grid, touched, distance);
  cage.added_cells = make_manifold(grid, kept);
  const auto count = static_cast<std::int64_t>(std::count(kept.begin(), kept.end(), char{1}));
  if (5 * count > max_tets) {
    throw InputError(
        fmt::format("the cage would have {} tets, more than the {} allowed; ask for larger tets or cells",
                    5 * count, max_tets));
  }
  std::vector<std::size_t> cell_of_tet;
  cage.mesh = cell_tets(grid, kept, Split::five, &cell_of_tet);
  cage.fill = fill_fractions(cage.mesh, cell_of_tet, touched, distance);
  if (exact_volume) match_volume(cage.mesh, signed_volume(surface.vertices, surface.triangles), cage.fill);
  return cage;
}

}  // namespace exemplar
