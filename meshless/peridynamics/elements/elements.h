// What each particle looks like at rest (levine2014 §4): convex pieces of the body's volume whose faces lie
// on the original surface or between two particles. Three ways to make particles:
//
//   cubes    a regular grid of points inside the surface; each owns the part of the body nearest to it, a
//   cube of side
//            λ inside and a cube cut by the surface at the boundary
//   tets     the tetrahedra of a mesh of the body; particles are their barycentres
//   voronoi  blue-noise points inside the surface; each owns its Voronoi cell (voro++), cut by the surface
//
// Cells are cut by the surface without polygon booleans: surface triangles are clipped by convex cells, and
// the faces between cells are clipped by the tets that fill the body. All pieces are convex polygons;
// together they close every particle and every set of particles, edge by edge (seams.h). Departure from the
// paper: tets conform to the surface and fill it, so that the unbroken surface is the input's and λ is less fragile; those
// between offset layers, which the paper has, are to choose (layers.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/mesh/mesh.h"
#include "meshless/peridynamics/particles.h"

namespace exemplar::peridynamics {

enum class ElementKind { cubes, tets, voronoi };

// A convex polygon; seen from `particle`, corners are counter-clockwise from outside.
struct Face {
  int particle = 0;
  int other = -1;     // −1: on the original surface
  int triangle = -1;  // of the original surface, if on it
  int begin = 0;      // corners: Elements::corners[begin … begin + count − 1]
  int count = 0;
  int first_triangle = 0;  // count − 2 of Elements::triangles
};

// A convex polygon as a list of places.
using Polygon = std::vector<Vec3>;

struct Elements {
  ParticleSet particles;
  double spacing = 0;                           // λ
  std::vector<Face> faces;                      // faces between two particles are listed once
  Points vertices;                              // at rest; one for all faces that meet there
  std::vector<int> corners;                     // vertices of the faces
  std::vector<std::array<int, 3>> triangles;    // vertices of the faces' triangles
  std::vector<std::pair<int, int>> neighbours;  // particles that share a face, a < b

  Vec3 corner(const Face& face, int k) const { return vertices.row(corners[face.begin + k]); }
  Polygon polygon(const Face& face) const;
};

// λ for about `count` particles in a volume.
double spacing_for(ElementKind kind, double volume, int count);

// `volume` fills `surface`. Throws InputError if fewer than two particles fit.
Elements make_elements(ElementKind kind, const TriMesh& surface, const TetMesh& volume, double spacing,
                       std::uint64_t seed);

// Points no closer than `distance` inside the surface: darts in an order that depends on the seed only.
Points blue_noise(const TriMesh& surface, double distance, std::uint64_t seed);
// Points of a grid of this spacing, centred in the bounding box, inside the surface.
Points grid_points(const TriMesh& surface, double spacing);

// The part of a convex polygon where normal · x ≤ offset.
Polygon clip(const Polygon& polygon, const Vec3& normal, double offset);
Vec3 area_vector(std::span<const Vec3> polygon);

}  // namespace exemplar::peridynamics
