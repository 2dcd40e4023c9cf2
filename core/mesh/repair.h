// Makes a triangle surface from a file fit for use without changing its shape: merges duplicate vertices,
// drops degenerate and duplicate triangles, orients what is left consistently and outwards. The user's
// vertices stay reachable through a map, since output keeps them and their order.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

struct RepairOptions {
  double merge_distance = 1e-10;  // vertices nearer than this times the bounding diagonal are one
  bool orient = true;
};

struct Repair {
  TriMesh mesh;
  Eigen::VectorXi vertex_map;    // user vertex → vertex of `mesh`, −1 when no kept triangle uses it
  Eigen::VectorXi triangle_map;  // triangle of `mesh` → user triangle
  int merged_vertices = 0;
  int unused_vertices = 0;
  int degenerate_triangles = 0;
  int duplicate_triangles = 0;
  int flipped_triangles = 0;
  bool orientable = true;
  std::vector<std::string> notes;  // one sentence for everything that was changed
};

// May return a mesh without triangles. A closed part oriented inwards inside another one is a cavity and
// stays.
Repair repair_surface(const TriMesh& mesh, const RepairOptions& options = {});

// Swaps corners of tets with negative volume; returns how many.
int orient_tets(TetMesh& mesh);

}  // namespace exemplar
