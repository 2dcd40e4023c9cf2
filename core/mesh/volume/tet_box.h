// The box of benches and validation cases that fix the mesh exactly.
#pragma once

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

// `nodes`: grid nodes along x, y, z (at least two each); the box is centred at the origin.
inline TetMesh tet_box(const Vec3& size, const Eigen::Vector3i& nodes) {
  return box_tets(size, nodes - Eigen::Vector3i::Ones(), Split::five, true);
}

}  // namespace exemplar
