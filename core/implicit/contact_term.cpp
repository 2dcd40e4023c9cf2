#include "core/implicit/contact_term.h"

#include <array>

namespace exemplar {

void ContactTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  const PointMap& map = m_contact.points().surface().map;
  m_largest_force = exemplar::add_gradient(m_contact.blocks(at.x, at.q, Derivatives::gradient), map, places(),
                                           g.nodes, g.border);
  exemplar::add_gradient(m_contact.friction().blocks(at.x, at.q, Derivatives::gradient), map, places(),
                         g.nodes, g.border);
}

void ContactTerm::add_hessian(const StepPoint& at, bool project, BorderedHessian& h) {
  const Derivatives kind = project ? Derivatives::projected_hessian : Derivatives::hessian;
  const PointMap& map = m_contact.points().surface().map;
  const std::vector<ContactBlock> contact = m_contact.blocks(at.x, at.q, kind),
                                  friction = m_contact.friction().blocks(at.x, at.q, kind);
  exemplar::add_hessian(contact, map, places(), h);
  exemplar::add_hessian(friction, map, places(), h);
  const std::array<std::span<const ContactBlock>, 2> lists{contact, friction};
  add_patch(lists, map, places(), h);
}

double ContactTerm::max_step(const StepPoint& from, const StepPoint& to) {
  m_contact.find_pairs(from.x, from.q, to.x, to.q);
  m_contact.friction().find_reversals(from.x, from.q, to.x, to.q);
  return m_contact.max_step(from.x, from.q, to.x, to.q);
}

void ContactTerm::account(const StepPoint& end, StepEnergies& energies) {
  const double added = m_contact.added_by_stiffening(end.x, end.q);
  energies.contact += m_contact.friction().work(end.x, end.q) + added - m_stiffening;
  energies.barrier = m_contact.value(end.x, end.q) - added;
}

}  // namespace exemplar
