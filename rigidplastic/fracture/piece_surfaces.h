// Surfaces of the pieces of a body: the triangles of its input surface shared out among the pieces by where their
// centres lie, and the faces of the cuts. Points are listed piece after piece, so that every piece can move and
// deform by itself; a point that two pieces share is there twice. For a body in one piece the points are the
// surface's vertices. Units: m, world coordinates at the start.
#pragma once

#include <vector>

#include "core/mesh/pieces.h"
#include "core/scene/scene.h"

namespace exemplar::rigid {

struct PieceSurface {
  int begin = 0, end = 0;  // its points
  Triangles triangles;     // over its own points: 0 is `begin`
  int outer = 0;           // the first `outer` triangles are the input's, the rest are faces of cuts
  double volume = 0;       // m³ at rest, of its tets
};

// Where a point comes from.
struct PointSource {
  int vertex = -1;  // of the input surface, or
  int node = -1;    // of the tet mesh
};

struct PieceSurfaces {
  std::vector<PieceSurface> pieces;
  Points points;
  std::vector<PointSource> sources;
  std::vector<int> carrier;         // input vertex → one of its points
  std::vector<int> input_triangle;  // piece after piece, outer triangles: which one of the input's
  Edges edges;                      // along the pieces' surfaces
  Edges seams;                      // between the two copies of a point (length zero)
  std::vector<std::pair<int, int>> seam_pieces;  // beside them
};

PieceSurfaces whole_surface(const Body& body);
PieceSurfaces cut_surfaces(const Body& body, const Pieces& pieces, const std::vector<Cut>& cuts);

}  // namespace exemplar::rigid
