// What a mesh is like: counts, defects, measures and element quality, for `exemplar mesh`, warnings and
// tests. Angles in degrees, lengths in metres.
#pragma once

#include <cstddef>

#include "core/mesh/bvh.h"
#include "core/mesh/mesh.h"

namespace exemplar {

struct SurfaceReport {
  int vertices = 0;
  int triangles = 0;
  int parts = 0;
  int boundary_edges = 0;
  int non_manifold_edges = 0;
  int non_manifold_vertices = 0;
  int inconsistent_edges = 0;
  int degenerate_triangles = 0;
  int duplicate_triangles = 0;
  int duplicate_vertices = 0;
  std::size_t self_intersections = 0;  // pairs of triangles
  double min_angle = 0;                // over non-degenerate triangles
  double shortest_edge = 0;
  double longest_edge = 0;
  double mean_edge = 0;
  bool closed = false;    // no border and no triangle missing its neighbour
  bool manifold = false;  // at edges and vertices
  int genus = 0;          // total over all parts; only for closed manifold surfaces
  double area = 0;
  double volume = 0;  // signed; meaningful when closed
  Box bounds;
};
SurfaceReport inspect(const TriMesh& mesh);

// Throws InputError where a surface is no sheet: edges of three triangles, neighbours that disagree about the
// orientation, a vertex where two fans meet, triangles without area. Neither a shell nor a solid extruded from it
// would mean anything.
void check_sheet(const TriMesh& mesh);

struct TetReport {
  int vertices = 0;
  int tets = 0;
  int parts = 0;
  double min_dihedral = 0;
  double max_dihedral = 0;
  double min_volume = 0;
  double max_volume = 0;
  double volume = 0;
  double min_radius_ratio = 0;  // 3·inradius / circumradius: 1 for the regular tet, 0 for flat ones
  double mean_radius_ratio = 0;
  int inverted = 0;    // volume ≤ 0
  int worst_tet = -1;  // the one with the smallest radius ratio
  Box bounds;
};
TetReport inspect(const TetMesh& mesh);

// The six dihedral angles in degrees, smallest and largest.
struct DihedralRange {
  double min;
  double max;
};
DihedralRange dihedral_range(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
double radius_ratio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

}  // namespace exemplar
