// Tets between layers of points (levine2014 §4, "Mesh-Based Geometry"): the first layer is the surface, each further
// one lies a fixed distance deeper, and all their points together get a Delaunay triangulation (TetGen). Tets whose
// corners are all on the outermost layer (they fill hollows outside the body) and those all on the innermost one (the
// inside, which stays hollow) are left out. Lengths in metres.
//
// Points of a layer lie on a level set of the distance to the surface, none closer to another of its layer than
// `edge`; the paper moves them by a variational method, here darts are thrown among many candidates. Sharp edges of
// the surface get points of their own first.
//
// Departures. (1) A tet with all corners outermost stays where its centre is inside the body: along sharp edges the
// body would be cut off. (2) A tet whose centre is outside the surface goes whatever its corners are. (3) Where the
// body is too thin for all layers there are fewer, and nothing is left hollow.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar::peridynamics {

struct LayerOptions {
  int layers = 6;          // with the surface itself
  double distance = 0;     // between layers; 0: as regular tets on points at this spacing have it
  int wanted = 12000;      // tets, about
  double time_limit = 60;  // of TetGen, s
  std::uint64_t seed = 1;  // of the darts
};

struct LayeredTets {
  TetMesh mesh;
  std::vector<int> layer_of;  // of every vertex, 0: the surface
  int layers = 0;             // that fitted
  double distance = 0, edge = 0;
  bool is_hollow = false;  // the innermost layer encloses nothing
};

// `surface`: closed. Throws InputError when nothing is left to fill.
LayeredTets make_layered_tets(const TriMesh& surface, const LayerOptions& options);

// Points of one layer: on the level set at `depth` below the surface, at least `edge` apart.
Points layer_points(const TriMesh& surface, double depth, double edge, std::uint64_t seed);

}  // namespace exemplar::peridynamics
