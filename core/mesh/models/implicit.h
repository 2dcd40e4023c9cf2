// Well-shaped closed triangle meshes of implicit surfaces {x : f(x) = 0}, f < 0 inside. Marching tetrahedra
// gives a closed manifold; splits, collapses, flips and tangential moves (Botsch & Kobbelt 2004, "A remeshing
// approach to multiresolution modeling") then give it edges of the wanted length, each vertex being pulled
// back onto the surface by Newton steps along ∇f. All operations keep the surface manifold, so its topology
// is that of the sampling grid.
#pragma once

#include <functional>

#include "core/mesh/mesh.h"

namespace exemplar {

// Roughly a signed distance in metres: continuous, with a gradient that does not vanish near the surface.
using ImplicitField = std::function<double(const Vec3&)>;

struct ImplicitMeshing {
  Vec3 low = Vec3::Constant(-1);  // m, corner of a box that holds the surface with some room
  Vec3 high = Vec3::Constant(1);  // m, opposite corner
  double edge_length = 0.1;       // m, of edges where the surface is flat
  double smallest_edge = 0.03;    // m, of edges where it is most curved
  double cell = 0.05;             // m, of the sampling grid: below the thinnest part and the narrowest gap
  double turn_per_edge = 0.8;     // rad, by which the normal may turn along one edge before edges get shorter
};

// The level set of f on the grid; vertices near but not on the surface, slivers likely.
TriMesh marching_tetrahedra(const ImplicitField& f, const Vec3& low, const Vec3& high, double cell);

// Moves p to the surface by Newton steps along the gradient, at most `reach` in all; `normal` receives
// ∇f/|∇f|.
Vec3 project_to_surface(const ImplicitField& f, const Vec3& p, double reach, double delta, Vec3& normal);

TriMesh mesh_implicit(const ImplicitField& f, const ImplicitMeshing& options);

}  // namespace exemplar
