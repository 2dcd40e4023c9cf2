// How a body is divided into overlapping cells of particles: cubical cells over a surface (bugbear2009
// §3.1.2, "Pre-Calculation"), one cell per tetrahedron, or k-means regions; and coarser cells made of finer
// ones (§3.2). Cells hold the body together because neighbours share particles. Lengths in metres, masses in
// kilograms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/mesh/mesh.h"
#include "meshless/shape_matching/lattice_sums.h"

namespace exemplar::shape_matching {

// Cell c holds particles[start[c]] … particles[start[c + 1] − 1].
struct Cells {
  std::vector<int> start{0};
  std::vector<int> particles;
  int count() const { return static_cast<int>(start.size()) - 1; }
  std::span<const int> of(int cell) const {
    return std::span(particles).subspan(start[cell], start[cell + 1] - start[cell]);
  }
  void add(std::span<const int> members);
};

// Particles with their rest positions and masses, and the cells over them.
struct CellModel {
  Points rest_positions;
  VecX masses;
  Cells cells;
  LatticeRegions regions = {};  // of cubical cells: lets wide overlap be summed fast
  double square_radius = 0.0;   // s² that the stiffness is planned with; 0: the cells' mean [m²]
};

// Interleaves the bits of three numbers of up to 21 bits: places near each other get codes near each other.
std::uint64_t morton_code(const std::array<std::uint32_t, 3>& place);

// Which lattice a cubical model came from: needed to embed a surface and to sum over lattice regions.
struct Lattice {
  Vec3 origin = Vec3::Zero();
  Vec3 spacing = Vec3::Ones();
  std::array<int, 3> cells{};    // along x, y, z
  std::vector<int> particle_at;  // (cells+1)³ lattice points, x fastest; −1 where there is none
  std::vector<int> cell_at;      // cells³, x fastest; −1 where there is none
  std::vector<std::array<int, 3>> cell_places;  // of every cell
  int point_index(int i, int j, int k) const { return i + (cells[0] + 1) * (j + (cells[1] + 1) * k); }
  int cell_index(int i, int j, int k) const { return i + cells[0] * (j + cells[1] * k); }
};

struct CubicalModel {
  CellModel model;
  Lattice lattice;
};

struct CubicalOptions {
  double cell_size = 0.1;            // wanted edge length; the box is divided evenly
  std::array<int, 3> cell_counts{};  // instead of cell_size where they are not zero
  int overlap = 0;                   // layers of lattice points that a cell reaches beyond its own corners
  int subdivisions = 1;              // lattice intervals along one cell's edge (2: 3³ particles in a cell)
  int mass_samples = 4;              // per edge of a lattice cube, for how full it is
  double density = 1000.0;           // kg/m³
  std::int64_t max_lattice_points = 50'000'000;
};

using InsideTest = std::function<bool(const Vec3&)>;

// Cubical cells that the surface and its inside touch. Masses are those of the filled part: they add up to
// the density times the sampled volume, with its centre; every particle gets at least 2 % of a full share, so
// that none is massless.
CubicalModel make_cubical_cells(const TriMesh& surface, const InsideTest& inside,
                                const CubicalOptions& options);

// A full block of cells over [low, high], without a surface.
CubicalModel make_block(const Vec3& low, const Vec3& high, const std::array<int, 3>& cell_counts,
                        double density, int overlap = 0);

// One cell per tetrahedron, particles are the vertices, masses by lumping. `fill`: the filled part of each tet;
// empty: all of it. The square radius is the body's own (stiffness.h).
CellModel make_tet_cells(const TetMesh& mesh, double density, const VecX& fill = {});

// About `regions` regions of whole cells around k-means centres (Lloyd, started from farthest points): each holds
// the particles of the cells nearest to its centre, so that regions share particles with their neighbours as
// cells do, whatever the overlap. A cell also joins every region whose centre is at most (1 + overlap) times as
// far as the nearest one's. Departure: particles were grouped before, and regions that shared none of them fell
// apart at the default overlap.
Cells make_kmeans_regions(const Cells& cells, const Points& rest_positions, int regions, double overlap,
                          int rounds = 20);

// Cells of about twice the size: the union of the cells whose centres share a box of a grid twice as wide.
Cells coarsen(const Cells& cells, const Points& rest_positions);

// All particles in one cell.
Cells single_cell(int particles);

// Separating-axis test (Akenine-Möller 2001) of a triangle and an axis-aligned box; touching counts.
bool triangle_meets_box(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& centre, const Vec3& half);

}  // namespace exemplar::shape_matching
