// The part of deformable bodies that contact sees: points, each a fixed linear combination of a solver's
// nodes, and triangles over these points. Surface vertices that are nodes have the identity map; surfaces
// embedded in a tet cage hang on four nodes each.
#pragma once

#include <span>
#include <vector>

#include "core/mesh/embedding.h"
#include "core/mesh/mesh.h"

namespace exemplar {

// Rows of (node, weight): point i = Σ weights[k] · node(nodes[k]), offsets[i] ≤ k < offsets[i + 1].
struct PointMap {
  std::vector<int> offsets{0};
  std::vector<int> nodes;
  std::vector<double> weights;

  int size() const { return static_cast<int>(offsets.size()) - 1; }
  void add(std::span<const int> point_nodes, std::span<const double> point_weights);
  Points apply(const Eigen::Ref<const Points>& node_positions) const;

  static PointMap identity(int count);
  // Point i is node nodes[i].
  static PointMap of_nodes(std::span<const int> nodes);
  static PointMap embedded(const Embedding& embedding, const Tets& tets);
};

struct ContactSurface {
  PointMap map;
  Triangles triangles;  // over the map's points; points of no triangle take no part in contact
  Points rest;          // rest positions of the points, m: areas and edge lengths are taken from them
  // Half the thickness at every point, m, the same for all points that triangles connect; empty: 0 everywhere.
  // Gaps are measured between the round surfaces: the radii of both sides are taken off the distance.
  VecX radius;

  double radius_of(Eigen::Index point) const { return radius.size() > 0 ? radius[point] : 0.0; }
};

// Puts `other` behind `surface`, its node numbers raised by `node_offset`: several bodies in one solve.
void append(ContactSurface& surface, const ContactSurface& other, int node_offset);

}  // namespace exemplar
