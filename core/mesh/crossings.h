// Triangles of one surface that go through each other, by exact predicates (Shewchuk 1997, as built into TetGen).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

// Pairs of triangles of which an edge of one goes from one side of the other to its other side and meets it there.
// Touching does not count: not the two sides of a crack that coincide, and not a doubled vertex of a seam. With `group`, a
// number per triangle, only pairs of different groups.
std::vector<std::pair<int, int>> crossing_pairs(const TriMesh& mesh, std::span<const int> group = {});

}  // namespace exemplar
