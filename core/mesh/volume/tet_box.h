// A box of tetrahedra on a regular grid: every cell is split into five, mirrored from cell to cell so that
// the diagonals of shared faces agree. For benches and validation cases that fix the mesh exactly.
#pragma once

#include "core/mesh/mesh.h"

namespace exemplar {

// `nodes`: grid nodes along x, y, z (at least two each); the box is centred at the origin. Node (i, j, k) has
// index i + nodes.x·(j + nodes.y·k).
TetMesh tet_box(const Vec3& size, const Eigen::Vector3i& nodes);

}  // namespace exemplar
