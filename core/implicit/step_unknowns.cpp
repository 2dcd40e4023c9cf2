#include "core/implicit/step_unknowns.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace exemplar {

StepUnknowns::StepUnknowns(const NodeColumns& nodes, std::span<const SupportedNode> held)
    : m_nodes(&nodes), m_masked(to_size(3 * nodes.count()), 0) {
  for (const SupportedNode& node : held) {
    const int c = nodes[node.node];
    if (c < 0) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      m_masked[3 * to_size(c) + k] = node.held[k] ? 1 : 0;
      m_any_masked = m_any_masked || node.held[k];
    }
  }
}

void StepUnknowns::add_weights(int count, bool given, bool on_simplex) {
  add_weights(VecX::Constant(count, given ? 0 : std::numeric_limits<double>::quiet_NaN()), on_simplex);
}

void StepUnknowns::add_weights(const VecX& given, bool on_simplex) {
  assert(m_obstacle_border.empty());
  std::vector<int>& borders = m_weight_border.emplace_back(given.size(), -1);
  double room = 1;
  for (const double w : given) room -= std::isnan(w) ? 0 : w;
  if (on_simplex && room <= least_room) return;
  const int first = m_border;
  for (std::size_t i = 0; i < borders.size(); ++i) {
    if (std::isnan(given[to_row(i)])) borders[i] = m_border++;
  }
  if (on_simplex && m_border > first) m_groups.push_back({first, m_border - first, room});
  m_weights_end = m_border;
}

void StepUnknowns::add_obstacle(bool dynamic) {
  m_obstacle_border.push_back(dynamic ? m_border : -1);
  if (dynamic) m_border += 6;
}

VecX StepUnknowns::pack(const StepPoint& at) const {
  VecX z(size());
  m_nodes->gather(at.x, z);
  for (std::size_t t = 0; t < m_weight_border.size(); ++t) {
    for (std::size_t k = 0; k < m_weight_border[t].size(); ++k) {
      if (m_weight_border[t][k] >= 0) z[dofs() + m_weight_border[t][k]] = at.weights[t][to_row(k)];
    }
  }
  for (std::size_t i = 0; i < m_obstacle_border.size(); ++i) {
    if (m_obstacle_border[i] >= 0)
      z.segment<6>(dofs() + m_obstacle_border[i]) = at.q.segment<6>(6 * to_row(i));
  }
  return z;
}

void StepUnknowns::unpack(const VecX& z, StepPoint& at) const {
  m_nodes->scatter(z, at.x);
  for (std::size_t t = 0; t < m_weight_border.size(); ++t) {
    for (std::size_t k = 0; k < m_weight_border[t].size(); ++k) {
      if (m_weight_border[t][k] >= 0) at.weights[t][to_row(k)] = z[dofs() + m_weight_border[t][k]];
    }
  }
  for (std::size_t i = 0; i < m_obstacle_border.size(); ++i) {
    if (m_obstacle_border[i] >= 0)
      at.q.segment<6>(6 * to_row(i)) = z.segment<6>(dofs() + m_obstacle_border[i]);
  }
}

void StepUnknowns::pack_gradient(const StepGradient& gradient, VecX& g) const {
  g.resize(size());
  m_nodes->gather(gradient.nodes, g);
  g.tail(m_border) = gradient.border;
  if (!m_any_masked) return;
  for (std::size_t i = 0; i < m_masked.size(); ++i) {
    if (m_masked[i]) g[to_row(i)] = 0;
  }
}

void StepUnknowns::mask(BorderedHessian& h) const {
  if (!m_any_masked) return;
  h.patch.clear_masked(m_masked);
  const BlockPattern& pattern = h.a.pattern();
  const std::span<const int> start = pattern.column_start(), rows = pattern.row_index();
  const std::span<double> values = h.a.values();
  for (std::size_t j = 0; j + 1 < start.size(); ++j) {
    for (std::size_t k = to_size(start[j]); k < to_size(start[j + 1]); ++k) {
      const std::size_t i = to_size(rows[k]);
      if (!m_masked[i] && !m_masked[j]) continue;
      values[k] = i == j ? std::max(std::abs(values[k]), 1e-12) : 0.0;
    }
    if (m_masked[j]) h.c.row(to_row(j)).setZero();
  }
}

}  // namespace exemplar
