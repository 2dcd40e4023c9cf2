// The two meshes of the core: plain connectivity with rest positions. Built once, then borrowed by const&;
// methods own the positions that move. Triangles are counter-clockwise seen from outside; tets have positive
// volume: det[x1−x0, x2−x0, x3−x0] > 0. Lengths in metres.
#pragma once

#include "core/math/types.h"

namespace exemplar {

struct TriMesh {
  Points vertices;
  Triangles triangles;
};

struct TetMesh {
  Points vertices;
  Tets tets;
};

}  // namespace exemplar
