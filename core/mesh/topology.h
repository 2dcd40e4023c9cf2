// Connectivity of triangle and tet meshes: edges, borders, parts, neighbours, orientation, the boundary of a
// tet mesh, and triangles that cross each other (with exact predicates). Edges are stored with the smaller
// index first and sorted.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

// Lists of ints for every row (compressed rows).
struct Adjacency {
  std::vector<int> offsets{0};  // size rows + 1
  std::vector<int> items;

  int rows() const { return static_cast<int>(offsets.size()) - 1; }
  std::span<const int> operator[](Eigen::Index row) const {
    return {items.data() + offsets[static_cast<std::size_t>(row)],
            items.data() + offsets[static_cast<std::size_t>(row) + 1]};
  }
};

// All edges of a surface and who meets at them.
struct SurfaceEdges {
  Edges edges;
  Triangles of_triangle;  // of_triangle(t, k): the edge opposite corner k
  Adjacency triangles;    // triangles at each edge, ascending
};

SurfaceEdges surface_edges(const Triangles& triangles);
Edges unique_edges(const Triangles& triangles);
Edges unique_edges(const Tets& tets);

Edges boundary_edges(const Triangles& triangles);      // edges of exactly one triangle
Edges non_manifold_edges(const Triangles& triangles);  // edges of more than two triangles
// Vertices whose triangles form more than one fan (without counting those on non-manifold edges).
std::vector<int> non_manifold_vertices(const Triangles& triangles, Eigen::Index vertex_count);
// Edges of two triangles that run along them in the same direction: one of the two is flipped.
Edges inconsistent_edges(const Triangles& triangles);

// Connected through shared vertices; parts are numbered by their first element.
struct Parts {
  int count = 0;
  Eigen::VectorXi of_vertex;  // −1 for vertices of no element
  Eigen::VectorXi of_element;
};
Parts connected_parts(const Triangles& triangles, Eigen::Index vertex_count);
Parts connected_parts(const Tets& tets, Eigen::Index vertex_count);

Adjacency vertex_neighbours(const Edges& edges, Eigen::Index vertex_count);  // ascending
Adjacency elements_of_vertices(const Triangles& triangles, Eigen::Index vertex_count);
Adjacency elements_of_vertices(const Tets& tets, Eigen::Index vertex_count);

// Faces of exactly one tet, outwards. `to_tet_vertex` (optional): surface vertex → vertex of the tet mesh,
// ascending; `to_tet`: triangle → tet.
TriMesh boundary_surface(const TetMesh& mesh, Eigen::VectorXi* to_tet_vertex = nullptr,
                         Eigen::VectorXi* to_tet = nullptr);

// Pairs (smaller index first, ascending) of triangles that touch or cross where they do not share a vertex or
// an edge; degenerate triangles and exact duplicates are left out. At most `limit` pairs, the first ones.
std::vector<std::pair<int, int>> self_intersections(const TriMesh& mesh, std::size_t limit);
std::size_t count_self_intersections(const TriMesh& mesh);
// Pairs of a triangle of `a` and one of `b` that touch or cross; the meshes share no vertices.
std::size_t count_crossings(const TriMesh& a, const TriMesh& b);

}  // namespace exemplar
