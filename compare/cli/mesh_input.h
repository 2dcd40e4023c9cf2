// A mesh as the commands take it: a surface or tet mesh file, or the name of a primitive with its parameters.
#pragma once

#include "compare/cli/commands.h"
#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

bool is_tet_file(const std::string& path);
TriMesh load_surface(const MeshInput& input);
Volume make_volume(const TriMesh& surface, const MeshInput& input);

// Surface and volume of either kind of file.
struct LoadedMesh {
  TriMesh surface;
  Volume volume;
};
LoadedMesh load_mesh(const MeshInput& input);

}  // namespace exemplar
