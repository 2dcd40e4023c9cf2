#include "core/implicit/step_problem.h"

#include <algorithm>
#include <cassert>

#include "core/implicit/step_terms.h"

namespace exemplar {

void StepProblem::add_internal(std::unique_ptr<StepTerm> term) {
  assert(m_internal == m_terms.size());
  m_terms.push_back(std::move(term));
  ++m_internal;
}

double StepProblem::value(const VecX& z) {
  unpack(z);
  double sum = 0;
  for (const auto& term : m_terms) sum += term->value(m_point);
  return sum;
}

void StepProblem::gradient(const VecX& z, VecX& g) {
  unpack(z);
  m_gradient.nodes.setZero(m_point.x.rows(), 3);
  m_gradient.border.setZero(m_unknowns.border());
  for (std::size_t t = 0; t < m_internal; ++t) m_terms[t]->add_gradient(m_point, m_gradient);
  m_force_scale = std::max(m_scales.least_force, largest_row(m_gradient.nodes));
  for (std::size_t t = m_internal; t < m_terms.size(); ++t) {
    m_terms[t]->add_gradient(m_point, m_gradient);
    m_force_scale = std::max(m_force_scale, m_terms[t]->largest_force());
  }
  m_unknowns.pack_gradient(m_gradient, g);
}

void StepProblem::hessian(const VecX& z, bool project, BorderedHessian& h) {
  unpack(z);
  for (const auto& term : m_terms) term->add_hessian(m_point, project, h);
  m_unknowns.mask(h);
}

double StepProblem::max_step(const VecX& z, const VecX& dz) {
  const StepPoint to = unpack(z + dz);
  unpack(z);
  double smallest = 1;
  for (const auto& term : m_terms) smallest = std::min(smallest, term->max_step(m_point, to));
  return smallest;
}

void StepProblem::accepted(const VecX& z) {
  unpack(z);
  for (const auto& term : m_terms) term->accepted(m_point);
}

void StepProblem::begin_solve(const VecX& z) {
  unpack(z);
  for (const auto& term : m_terms) term->begin_solve(m_point);
}

void StepProblem::lag(const VecX& z) {
  unpack(z);
  for (const auto& term : m_terms) term->lag(m_point);
}

void StepProblem::account(const StepPoint& end, StepEnergies& energies) {
  for (const auto& term : m_terms) term->account(end, energies);
}

}  // namespace exemplar
