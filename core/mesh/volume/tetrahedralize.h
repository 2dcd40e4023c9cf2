// From a surface to a volume: TetGen for clean closed surfaces, an enclosing cage of cubes for everything
// else.
//
// TetGen (Si 2015) crashes or hangs on some inputs, so it runs in a child process with a time limit; what it
// returns is checked before it is used. The cage keeps the cells of a grid that the surface touches or that
// lie inside by the generalised winding number (Jacobson et al. 2013); its boundary is made manifold by
// adding cells. Either way the user's vertices are embedded in the tets. Lengths in metres, volumes in m³.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/mesh/embedding.h"
#include "core/mesh/mesh.h"

namespace exemplar {

enum class Splitting {
  automatic,  // split surface triangles when they are much larger than the asked tets
  keep,       // the surface's triangles are the boundary faces; the interior grows coarser
  split,      // boundary faces may be cut for better tets
};

struct VolumeOptions {
  double max_tet_volume = 0;  // 0: a 2000th of the volume
  double quality = 1.4;       // largest circumradius over shortest edge; TetGen only
  double min_dihedral = 12;   // degrees, what TetGen strives for
  Splitting splitting = Splitting::automatic;
  bool allow_cage = true;
  bool force_cage = false;
  double cage_cell = 0;  // edge of the cage's cells; 0: from max_tet_volume, else about 1500 cells
  int max_surface_triangles = 30000;  // finer surfaces get a cage, unless cages are not allowed
  double time_limit = 60;             // seconds for each attempt of TetGen
  std::int64_t max_tets = 4'000'000;  // more than this is refused before anything is allocated
};

// What keeps a surface from being filled, in terms of the repaired surface; for messages and for a .vtp.
struct SurfaceProblems {
  TriMesh surface;
  Edges boundary_edges;
  Edges non_manifold_edges;
  std::vector<int> non_manifold_vertices;
  std::vector<int> crossing_triangles;  // ascending
  std::size_t crossings = 0;            // pairs
  bool orientable = true;

  bool any() const;
  std::string describe() const;  // "12 border edges (the first at …), …"; empty when there is nothing
};
SurfaceProblems find_problems(TriMesh repaired, bool orientable);

struct Volume {
  TetMesh mesh;
  Embedding surface;  // of the user's vertices, in the user's order
  bool cage = false;
  bool time_limited =
      false;  // TetGen ran out of time: another machine, or this one at another time, may give another
  VecX fill;  // for every tet the part inside the surface, in (0, 1]; 1 without a cage. Scales density and
              // stiffness
  std::vector<std::string> notes;
  SurfaceProblems problems;
};

// Throws InputError when the surface has no triangles, when sizes are absurd, or when a cage is needed and
// not allowed.
Volume build_volume(const TriMesh& surface, const VolumeOptions& options = {});

// A box centred at the origin, cut into resolution.prod() cells and each into five tets (mirrored from cell
// to cell so that faces match; `mirrored`: the first cell has the diagonals of its neighbours) or six around
// one diagonal. Node (i, j, k) of n × m × … nodes has index i + n (j + m k).
enum class Split { five, six };
TetMesh box_tets(const Vec3& size, const Eigen::Vector3i& resolution, Split split = Split::five,
                 bool mirrored = false);

}  // namespace exemplar
