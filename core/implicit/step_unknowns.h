// Where the unknowns of an implicit step stand in Newton's vector
//   z = (three coordinates of every free node, weights of the terms, six increments of every dynamic obstacle)
// of which all but the nodes is the border. Single held coordinates of free nodes are masked: they stay in the
// system as rows of the identity.
#pragma once

#include <span>
#include <vector>

#include "core/implicit/step_term.h"
#include "core/sparse/node_columns.h"
#include "core/world/supports.h"

namespace exemplar {

class StepUnknowns {
 public:
  // Of a simplex: where given weights leave less, the free ones are zero.
  static constexpr double least_room = 1e-9;

  // `nodes` must outlive this.
  StepUnknowns(const NodeColumns& nodes, std::span<const SupportedNode> held);
  // In the order of the node terms. `given`: set from outside, no unknowns.
  void add_weights(int count, bool given, bool on_simplex);
  // The same for weights of which some are given; NaN: free. On the simplex the free ones share what the others
  // leave; where these leave nothing, all are given.
  void add_weights(const VecX& given, bool on_simplex);
  // In the order of the obstacles, after all weights; only dynamic ones have unknowns.
  void add_obstacle(bool dynamic);

  const NodeColumns& nodes() const { return *m_nodes; }
  int column(int node) const { return (*m_nodes)[node]; }  // −1: held
  int dofs() const { return 3 * m_nodes->count(); }
  int border() const { return m_border; }
  int size() const { return dofs() + m_border; }
  // The border unknown of each of a node term's weights; −1: given.
  std::span<const int> borders_of_weights(std::size_t term) const { return m_weight_border[term]; }
  // The first border unknown of an obstacle; −1: none.
  int border_of_obstacle(int obstacle) const { return m_obstacle_border[to_size(obstacle)]; }
  std::span<const int> borders_of_obstacles() const { return m_obstacle_border; }
  bool is_weight(int border) const { return border < m_weights_end; }
  std::span<const SimplexGroup> simplex_groups() const { return m_groups; }
  bool masked(int column, int coordinate) const { return m_masked[to_size(3 * column + coordinate)] != 0; }

  VecX pack(const StepPoint& at) const;
  // Overwrites what is unknown and leaves the rest.
  void unpack(const VecX& z, StepPoint& at) const;
  void pack_gradient(const StepGradient& gradient, VecX& g) const;  // masked entries are zero
  // Rows and columns of masked coordinates become those of the identity (scaled like the rest).
  void mask(BorderedHessian& h) const;

 private:
  const NodeColumns* m_nodes;
  std::vector<std::vector<int>> m_weight_border;  // of each term
  std::vector<int> m_obstacle_border;             // of each obstacle
  std::vector<SimplexGroup> m_groups;
  int m_border = 0;
  int m_weights_end = 0;
  std::vector<char> m_masked;  // per reduced coordinate
  bool m_any_masked = false;
};

}  // namespace exemplar
