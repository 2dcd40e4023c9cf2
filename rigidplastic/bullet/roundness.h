// Whether a triangle mesh stands for a ball or for a convex body of revolution: a polyhedron rolls from facet to facet and
// loses its speed, what it stands for rolls on. The vertices have to lie on the round surface to a tenth of what the
// facets lie below it, and facets may not be so coarse that somebody may have meant them. Lengths in metres, centre and
// axis through the origin, which is the centre of mass.
#pragma once

#include <optional>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::rigid {

// About an axis, at a height along it.
struct Circle {
  double height = 0, radius = 0;  // radius 0: a tip
};

struct Revolution {
  Vec3 axis = Vec3::UnitY();    // unit
  std::vector<Circle> circles;  // ascending by height; the body is their convex hull
};

// Radius of the ball that a closed, nearly convex surface stands for.
std::optional<double> ball_of(const TriMesh& mesh);
// Cylinders, cones, capsules, barrels, discs. Not balls.
std::optional<Revolution> revolution_of(const TriMesh& mesh);

}  // namespace exemplar::rigid
