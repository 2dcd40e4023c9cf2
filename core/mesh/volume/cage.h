// A coarse mesh of cubes around any surface, whatever its defects: see tetrahedralize.h.
#pragma once

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

struct Cage {
  TetMesh mesh;
  VecX fill;  // part of every tet inside the surface, at least `least_fill`
  double cell = 0;
  int added_cells = 0;  // to make the boundary manifold
};

// Thin sheets fill next to nothing of their cells, which would leave tets without mass and stiffness.
constexpr double least_fill = 0.05;

// Throws InputError when the grid would be absurdly large. `cell` 0: derived (see VolumeOptions).
Cage build_cage(const TriMesh& surface, double cell, bool exact_volume, std::int64_t max_tets);

// The cell size with which about `cells` cells are kept.
double cell_for_count(const TriMesh& surface, double cells);

// Whether the triangle and the axis-aligned box share a point.
bool triangle_touches_box(const Vec3& centre, const Vec3& half, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace exemplar
