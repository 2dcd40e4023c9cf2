// The linear system of implicit steps for one set of held nodes: numbering, pattern and solver, remade when
// other nodes are held.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/implicit/linked_groups.h"
#include "core/implicit/node_term.h"
#include "core/implicit/pull_term.h"
#include "core/sparse/linear_solver.h"
#include "core/sparse/node_columns.h"
#include "core/world/supports.h"

namespace exemplar {

class StepSystem {
 public:
  // Nodes that interact besides those of the terms, in lists as of NodeTerm::append_cliques.
  void set_cliques(std::vector<int> nodes, int size);
  // Ready for a step with these supports and pulls: true if the system was made anew (its solver has no memory then).
  bool prepare(Eigen::Index nodes, std::span<const SupportedNode> held, std::span<const PulledNodes> pulled,
               std::span<const std::shared_ptr<NodeTerm>> terms, LinearMethod method);
  // Of all nodes (m); `abstract` nodes (empty: none) are no places in space.
  void set_positions(const Points& positions, std::span<const char> abstract);

  bool empty() const { return m_pattern == nullptr; }
  const NodeColumns& columns() const { return m_columns; }
  const BlockPattern& pattern() const { return *m_pattern; }
  LinearSolver* solver() const { return m_solver.get(); }
  const LinkedGroups& groups() const { return m_groups; }  // nodes that interact

 private:
  std::vector<int> m_cliques;
  int m_clique_size = 0;
  std::vector<int> m_held;                 // whole nodes
  std::vector<std::vector<int>> m_pulled;  // nodes of each pull
  NodeColumns m_columns;
  LinkedGroups m_groups;
  std::unique_ptr<BlockPattern> m_pattern;
  std::unique_ptr<LinearSolver> m_solver;
};

}  // namespace exemplar
