// Flat rectangles triangulated in five ways, for validation: shells must not depend on how the mesh lies.
#pragma once

#include <array>
#include <string>

#include "core/mesh/mesh.h"

namespace exemplar::shells {

enum class MeshKind { one_diagonal, alternating, crossed, equilateral, irregular };

inline constexpr std::array<MeshKind, 5> k_mesh_kinds{MeshKind::one_diagonal, MeshKind::alternating,
                                                      MeshKind::crossed, MeshKind::equilateral,
                                                      MeshKind::irregular};
std::string to_string(MeshKind kind);

// [0, length] × [0, width] in the xz plane, normals along +y, about `cells` edges along x and `rows` along z.
// Equilateral rows are shifted by half an edge (border rows have half triangles); irregular: inner vertices
// moved at random, then flipped to Delaunay.
TriMesh rectangle(MeshKind kind, double length, double width, int cells, int rows);

}  // namespace exemplar::shells
