#include "core/implicit/step_terms.h"

#include <algorithm>
#include <cmath>

namespace exemplar {

double largest_row(const Points& rows) {
  return rows.rows() > 0 ? std::sqrt(rows.rowwise().squaredNorm().maxCoeff()) : 0.0;
}

void WeightedTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  const VecX& w = at.weights[m_index];
  VecX g_w = VecX::Zero(w.size());
  m_term.add_gradient(at.x, w, g.nodes, g_w);
  for (std::size_t k = 0; k < m_borders.size(); ++k) {
    if (m_borders[k] >= 0) g.border[m_borders[k]] += g_w[to_row(k)];
  }
}

void WeightedTerm::add_hessian(const StepPoint& at, bool project, BorderedHessian& h) {
  const VecX& w = at.weights[m_index];
  const Eigen::Index count = w.size();
  if (std::find(m_borders.begin(), m_borders.end(), -1) == m_borders.end()) {
    const int first = m_borders.empty() ? 0 : m_borders.front();
    m_term.add_hessian(at.x, w, project, h.a, h.c.middleCols(first, count),
                       h.d.block(first, first, count, count));
    return;
  }
  MatX all_c = MatX::Zero(h.c.rows(), count), all_d = MatX::Zero(count, count);
  m_term.add_hessian(at.x, w, project, h.a, all_c, all_d);
  for (std::size_t k = 0; k < m_borders.size(); ++k) {
    if (m_borders[k] < 0) continue;
    h.c.col(m_borders[k]) += all_c.col(to_row(k));
    for (std::size_t l = 0; l < m_borders.size(); ++l) {
      if (m_borders[l] >= 0) h.d(m_borders[k], m_borders[l]) += all_d(to_row(k), to_row(l));
    }
  }
}

double LoadTerm::largest_force() const {
  return largest_row(m_forces);
}

double InertiaTerm::value(const StepPoint& at) {
  double sum = 0;
  for (Eigen::Index i = 0; i < at.x.rows(); ++i) {
    sum += m_masses[i] * (at.x.row(i) - m_predicted.row(i)).squaredNorm();
  }
  return sum / (2 * m_dt * m_dt);
}

void InertiaTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  const double factor = 1 / (m_dt * m_dt);
  g.nodes += factor * (m_masses.asDiagonal() * (at.x - m_predicted));
}

void InertiaTerm::add_hessian(const StepPoint&, bool, BorderedHessian& h) {
  const double factor = 1 / (m_dt * m_dt);
  for (int i = 0; i < m_unknowns.nodes().nodes(); ++i) {
    const int c = m_unknowns.column(i);
    if (c >= 0) h.a.add_to_diagonal(c, factor * m_masses[i]);
  }
}

}  // namespace exemplar
