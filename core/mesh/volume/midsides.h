// Nodes in the middle of edges: with them the tets of a linear mesh become quadratic ones (ten nodes). Edges of the
// rest shape stay straight. The nodes of a tet are its four corners and then those on its edges (0,1), (1,2), (0,2),
// (0,3), (1,3), (2,3), the order of VTK and CalculiX. With barycentric coordinates L the shape functions are
//   N_k = L_k (2 L_k − 1) at corners,   N_kl = 4 L_k L_l on edges.
#pragma once

#include <array>

#include "core/mesh/point_map.h"

namespace exemplar {

inline constexpr std::array<std::array<int, 2>, 6> k_tet_edges{
    {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}}};

struct Midsides {
  Eigen::Index corners = 0;  // nodes of the linear mesh; the midside nodes are numbered after them
  Edges edges;               // the corners on both sides of each midside node, sorted
  Eigen::Matrix<int, Eigen::Dynamic, 6, Eigen::RowMajor> of_tet;  // node numbers

  bool empty() const { return of_tet.rows() == 0; }  // linear tets
  Eigen::Index node_count() const { return corners + edges.rows(); }
  // The node between two corners that an edge connects.
  int between(int a, int b) const;
  // All ten nodes of a tet.
  std::array<int, 10> nodes_of(const Tets& tets, Eigen::Index tet) const;
};

Midsides midsides_of(const TetMesh& mesh);

// Positions of corners, completed by the middles of all edges.
Points with_midsides(const Points& corners, const Midsides& midsides);

// Four triangles for each triangle between corners.
Triangles subdivided(const Triangles& triangles, const Midsides& midsides);
// Eight linear tets for each quadratic one, one after the other.
Tets subdivided(const Tets& tets, const Midsides& midsides);

// Points inside tets on all ten nodes.
PointMap embedded(const Embedding& embedding, const Tets& tets, const Midsides& midsides);

}  // namespace exemplar
