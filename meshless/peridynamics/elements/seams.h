// Faces that were cut out one by one become one closed complex: corners at one place are one vertex, and where a
// vertex of one face lies within an edge of another (a face left whole beside one that was cut), the edge gets it
// too. After that every edge of a particle has two faces, so that a fragment is closed by its edges and not only
// in the sum of its area vectors. Lengths in metres.
#pragma once

#include "meshless/peridynamics/elements/elements.h"

namespace exemplar::peridynamics {

// Fills `vertices`, `corners` and `triangles` of the elements and the faces' places in them; `at` holds the
// corners of the faces, face.begin … face.begin + count − 1. Faces that vanish are left out.
void close_seams(std::span<const Vec3> at, Elements& elements);

// How many particles have an edge without two faces.
int open_particles(const Elements& elements);

// A convex polygon in triangles, indices into it; corners within a straight edge give no flat triangle.
std::vector<std::array<int, 3>> triangulate(const Polygon& polygon);

}  // namespace exemplar::peridynamics
