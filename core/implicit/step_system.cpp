#include "core/implicit/step_system.h"

namespace exemplar {

namespace {

LinkedGroups groups_of(std::span<const BlockPattern::CliqueList> lists, int nodes) {
  LinkedGroups groups(nodes);
  for (const BlockPattern::CliqueList& list : lists) {
    for (std::size_t k = 1; k < list.nodes.size(); ++k) {
      const bool same = k % to_size(list.size) != 0;
      if (same && list.nodes[k] >= 0 && list.nodes[k - 1] >= 0) groups.link(list.nodes[k - 1], list.nodes[k]);
    }
  }
  return groups;
}

}  // namespace

void StepSystem::set_cliques(std::vector<int> nodes, int size) {
  m_cliques = std::move(nodes);
  m_clique_size = size;
  m_solver.reset();
  m_pattern.reset();
}

bool StepSystem::prepare(Eigen::Index nodes, std::span<const SupportedNode> held,
                         std::span<const PulledNodes> pulled,
                         std::span<const std::shared_ptr<NodeTerm>> terms, LinearMethod method) {
  std::vector<int> whole;
  for (const SupportedNode& node : held) {
    if (node.held[0] && node.held[1] && node.held[2]) whole.push_back(node.node);
  }
  std::vector<std::vector<int>> pulled_together;
  for (const PulledNodes& pull : pulled) pulled_together.push_back(pull.nodes);
  if (m_pattern && whole == m_held && pulled_together == m_pulled) return false;
  m_held = std::move(whole);
  m_pulled = std::move(pulled_together);
  m_columns = NodeColumns(nodes, m_held);
  std::vector<BlockPattern::CliqueList> lists;
  for (const auto& term : terms) term->append_cliques(lists);
  for (const std::vector<int>& pull : m_pulled) lists.push_back({pull, to_int(pull.size())});
  if (!m_cliques.empty()) lists.push_back({m_cliques, m_clique_size});
  m_groups = groups_of(lists, m_columns.nodes());
  // Cliques are in nodes; the pattern is in columns.
  std::vector<std::vector<int>> mapped;
  for (const BlockPattern::CliqueList& list : lists) mapped.push_back(m_columns.columns_of(list.nodes));
  for (std::size_t k = 0; k < lists.size(); ++k) lists[k].nodes = mapped[k];
  m_solver.reset();
  m_pattern = std::make_unique<BlockPattern>(m_columns.count(), lists);
  m_solver = std::make_unique<LinearSolver>(*m_pattern, method);
  for (const auto& term : terms) term->connect(*m_pattern, m_columns.of_nodes());
  return true;
}

void StepSystem::set_positions(const Points& positions, std::span<const char> abstract) {
  std::vector<char> left_out;
  if (!abstract.empty()) {
    left_out.resize(to_size(m_columns.count()));
    for (int i = 0; i < m_columns.nodes(); ++i) {
      if (m_columns[i] >= 0) left_out[to_size(m_columns[i])] = abstract[to_size(i)];
    }
  }
  m_solver->set_positions(m_columns.free_rows(positions), std::move(left_out));
}

}  // namespace exemplar
