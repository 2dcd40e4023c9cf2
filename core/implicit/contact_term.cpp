#include "core/implicit/contact_term.h"

#include <algorithm>

namespace exemplar {

void ContactTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  const std::vector<ContactBlock> blocks = m_contact.blocks(at.x, at.q, Derivatives::gradient);
  m_largest_force = 0;
  for (const ContactBlock& block : blocks) {
    for (std::size_t n = 0; n < block.nodes.size(); ++n)
      m_largest_force = std::max(m_largest_force, block.gradient.segment<3>(3 * to_row(n)).norm());
  }
  exemplar::add_gradient(blocks, places(), g.nodes, g.border);
  exemplar::add_gradient(m_contact.friction_blocks(at.x, at.q, Derivatives::gradient), places(), g.nodes,
                         g.border);
}

void ContactTerm::add_hessian(const StepPoint& at, bool project, BorderedHessian& h) {
  const Derivatives kind = project ? Derivatives::projected_hessian : Derivatives::hessian;
  exemplar::add_hessian(m_contact.blocks(at.x, at.q, kind), places(), h);
  exemplar::add_hessian(m_contact.friction_blocks(at.x, at.q, kind), places(), h);
}

double ContactTerm::max_step(const StepPoint& from, const StepPoint& to) {
  m_contact.find_pairs(from.x, from.q, to.x, to.q);
  return m_contact.max_step(from.x, from.q, to.x, to.q);
}

void ContactTerm::account(const StepPoint& end, StepEnergies& energies) {
  const double added = m_contact.added_by_stiffening(end.x, end.q);
  energies.contact += m_contact.friction_work(end.x, end.q) + added - m_stiffening;
  energies.barrier = m_contact.value(end.x, end.q) - added;
}

}  // namespace exemplar
