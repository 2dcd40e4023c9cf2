#include "core/mesh/volume/midsides.h"

#include <algorithm>
#include <cassert>

#include "core/mesh/topology.h"

namespace exemplar {

int Midsides::between(int a, int b) const {
  const std::array<int, 2> wanted{std::min(a, b), std::max(a, b)};
  Eigen::Index low = 0, high = edges.rows();
  while (low < high) {
    const Eigen::Index middle = (low + high) / 2;
    if (std::array<int, 2>{edges(middle, 0), edges(middle, 1)} < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  assert(low < edges.rows() && edges(low, 0) == wanted[0] && edges(low, 1) == wanted[1]);
  return to_int(corners + low);
}

std::array<int, 10> Midsides::nodes_of(const Tets& tets, Eigen::Index tet) const {
  std::array<int, 10> nodes;
  for (int k = 0; k < 4; ++k) nodes[to_size(k)] = tets(tet, k);
  for (int k = 0; k < 6; ++k) nodes[to_size(4 + k)] = of_tet(tet, k);
  return nodes;
}

Midsides midsides_of(const TetMesh& mesh) {
  Midsides out;
  out.corners = mesh.vertices.rows();
  out.edges = unique_edges(mesh.tets);
  out.of_tet.resize(mesh.tets.rows(), 6);
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    for (std::size_t e = 0; e < 6; ++e)
      out.of_tet(t, to_row(e)) =
          out.between(mesh.tets(t, k_tet_edges[e][0]), mesh.tets(t, k_tet_edges[e][1]));
  }
  return out;
}

Points with_midsides(const Points& corners, const Midsides& midsides) {
  assert(corners.rows() == midsides.corners);
  Points all(midsides.node_count(), 3);
  all.topRows(corners.rows()) = corners;
  for (Eigen::Index e = 0; e < midsides.edges.rows(); ++e)
    all.row(corners.rows() + e) =
        0.5 * (corners.row(midsides.edges(e, 0)) + corners.row(midsides.edges(e, 1)));
  return all;
}

Triangles subdivided(const Triangles& triangles, const Midsides& midsides) {
  Triangles out(4 * triangles.rows(), 3);
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const int a = triangles(t, 0), b = triangles(t, 1), c = triangles(t, 2);
    const int ab = midsides.between(a, b), bc = midsides.between(b, c), ca = midsides.between(c, a);
    out.middleRows(4 * t, 4) << a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca;
  }
  return out;
}

Tets subdivided(const Tets& tets, const Midsides& midsides) {
  // Four at the corners, and four around the axis from node 6 to node 8 of the octahedron between them.
  constexpr int parts[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                               {6, 8, 4, 5}, {6, 8, 5, 9}, {6, 8, 9, 7}, {6, 8, 7, 4}};
  Tets out(8 * tets.rows(), 4);
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    const std::array<int, 10> nodes = midsides.nodes_of(tets, t);
    for (int part = 0; part < 8; ++part) {
      for (int k = 0; k < 4; ++k) out(8 * t + part, k) = nodes[to_size(parts[part][k])];
    }
  }
  return out;
}

PointMap embedded(const Embedding& embedding, const Tets& tets, const Midsides& midsides) {
  PointMap map;
  for (Eigen::Index i = 0; i < embedding.tet.size(); ++i) {
    const std::array<int, 10> nodes = midsides.nodes_of(tets, embedding.tet[i]);
    const auto l = embedding.weights.row(i);
    std::array<double, 10> weights;
    for (int k = 0; k < 4; ++k) weights[to_size(k)] = l[k] * (2 * l[k] - 1);
    for (std::size_t e = 0; e < 6; ++e) weights[4 + e] = 4 * l[k_tet_edges[e][0]] * l[k_tet_edges[e][1]];
    map.add(nodes, weights);
  }
  return map;
}

}  // namespace exemplar
