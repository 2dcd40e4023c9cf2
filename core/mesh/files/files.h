// Meshes from and to files. The extension says the format and the content must agree with it:
//   surfaces: .obj .off .ply .stl .vtk .vtp .vtu .msh .mesh .node/.ele (the border, when there are only tets)
//   tets:     .vtk .vtu .msh .mesh .node/.ele
// Gmsh .msh in versions 2 and 4, ASCII and binary; PLY and STL ASCII and binary; MEDIT .mesh ASCII. Polygons
// are cut into triangles, elements of second order are read by their corners. Anything wrong throws
// InputError with the file and what is wrong: missing, empty, not what the extension says, not finite,
// indices out of range, no faces.
#pragma once

#include <string>

#include "core/mesh/mesh.h"
#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

TriMesh read_surface(const std::string& path);

// Tets with negative volume are turned round; `turned` (optional) says how many.
TetMesh read_tets(const std::string& path, int* turned = nullptr);

// Whether there are any; formats that may hold tets often hold a surface only.
bool has_tets(const std::string& path);

// .obj, .ply (binary, double precision) or .vtp; under a temporary name first, so that no half file stays.
void write_surface(const std::string& path, const TriMesh& mesh);
void write_tets(const std::string& path, const TetMesh& mesh);  // .vtu

// What is wrong with a surface as lines and triangles with an array `problem`: 1 border, 2 non-manifold, 3
// crossing. .vtp
void write_problems(const std::string& path, const SurfaceProblems& problems);

}  // namespace exemplar
