// The solid between a mid-surface's two offsets: every triangle becomes two layers of prisms, cut into three
// tets each so that neighbours match. The mid-surface's vertices are nodes of the mesh.
#pragma once

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

// `thickness` in metres, along vertex normals. Volume::surface embeds the mid-surface's vertices exactly.
// Throws InputError when the offset surfaces fold (thickness larger than the surface's curvature allows).
Volume extrude_sheet(const TriMesh& sheet, double thickness);

// The closed boundary of that solid: both offset surfaces and the walls along open borders.
TriMesh extruded_surface(const TriMesh& sheet, double thickness);

}  // namespace exemplar
