// TetGen in a process of its own: it can neither crash, hang nor exhaust the memory of the program.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

struct TetgenRun {
  TetMesh mesh;          // positively oriented
  std::string failure;   // empty when there is a mesh
  bool is_late = false;  // it failed because its time was over
};

struct TetgenSwitches {
  double quality = 1.4;       // 0: only the Delaunay tetrahedra
  double min_dihedral = 0;    // degrees
  double max_tet_volume = 0;  // 0: no limit
  bool keep_surface = true;   // no new points on the surface
};

// `holes`: a point within each cavity. The surface must be closed, manifold and without crossings.
TetgenRun run_tetgen(const TriMesh& surface, const std::vector<Vec3>& holes, const TetgenSwitches& switches,
                     double time_limit);

// The Delaunay triangulation of points alone; it fills their convex hull.
TetgenRun run_delaunay(const Points& points, double time_limit);

}  // namespace exemplar
