// A volume cut into pieces beforehand ("prescoring", jones2016 §5): every tet belongs to one piece, so that the
// pieces fill the body exactly, and cuts run along the faces of tets. Each piece is connected through faces; what a
// rule leaves in several parts becomes several pieces. Lengths in metres.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

struct Pieces {
  int count = 0;
  std::vector<int> of_tet;  // 0 … count − 1, numbered by their first tet
};

struct CutPlane {
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitX();
};

// By the side of each plane on which a tet's centre lies.
Pieces cut_by_planes(const TetMesh& mesh, std::span<const CutPlane> planes);
// By the nearest of `count` centres that lie far apart (Voronoi cells); the first one depends on the seed.
Pieces cut_by_cells(const TetMesh& mesh, int count, std::uint64_t seed);
// Throws InputError unless there is one label for each tet.
Pieces cut_by_labels(const TetMesh& mesh, const std::vector<int>& labels);

// Faces between two pieces a < b, corners counter-clockwise seen from b.
struct Cut {
  int a = 0, b = 0;
  Triangles faces;             // vertices of the tet mesh
  double area = 0;             // m²
  Vec3 centre = Vec3::Zero();  // of the faces, weighted by area
};
std::vector<Cut> cuts_between(const TetMesh& mesh, const Pieces& pieces);

}  // namespace exemplar
