// Points that hang on nodes: each is a fixed linear combination of some of them. Vertices that are nodes, points
// embedded in tets, points of a lattice, samples inside triangles are all of this kind.
#pragma once

#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/mesh/embedding.h"
#include "core/mesh/mesh.h"

namespace exemplar {

// Point i = Σ weights[k] · node(nodes[k]), offsets[i] ≤ k < offsets[i + 1].
struct PointMap {
  using PointsRef = Eigen::Ref<const Points>;

  std::vector<int> offsets{0};
  std::vector<int> nodes;
  std::vector<double> weights;

  int size() const { return to_int(offsets.size()) - 1; }
  int begin(int point) const { return offsets[to_size(point)]; }
  int end(int point) const { return offsets[to_size(point) + 1]; }
  std::span<const int> nodes_of(int point) const {
    return std::span(nodes).subspan(to_size(begin(point)), to_size(end(point) - begin(point)));
  }
  void add(std::span<const int> point_nodes, std::span<const double> point_weights);
  // Puts `other` behind this, its node numbers raised by `node_offset`.
  void append(const PointMap& other, int node_offset);

  // One point of a field that is given at the nodes, or all of them.
  Vec3 at(int point, const PointsRef& values) const;
  Points apply(const PointsRef& values) const;
  // The transpose: what acts on the points (forces), passed on to that many nodes. Keeps sums and, for
  // positions, moments.
  Points spread(const PointsRef& on_points, Eigen::Index node_count) const;

  static PointMap identity(int count);
  // Point i is node nodes[i].
  static PointMap of_nodes(std::span<const int> nodes);
  static PointMap embedded(const Embedding& embedding, const Tets& tets);
};

}  // namespace exemplar
