// Contact and friction (core/contact) as one term of an implicit step: they share the pairs that are found on
// the way.
#pragma once

#include "core/contact/contact.h"
#include "core/contact/contact_scatter.h"
#include "core/implicit/step_unknowns.h"

namespace exemplar {

class ContactTerm : public StepTerm {
 public:
  // `contact` and `unknowns` must outlive this. `stiffening`: energy (J) that was added to contact at the
  // step's start (ContactPotential::stiffen).
  ContactTerm(ContactPotential& contact, const StepUnknowns& unknowns, double dt, double stiffening)
      : m_contact(contact), m_unknowns(unknowns), m_dt(dt), m_stiffening(stiffening) {}

  double value(const StepPoint& at) override {
    return m_contact.value(at.x, at.q) + m_contact.friction().value(at.x, at.q);
  }
  void add_gradient(const StepPoint& at, StepGradient& g) override;
  void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) override;
  double max_step(const StepPoint& from, const StepPoint& to) override;
  void begin_solve(const StepPoint& at) override { m_contact.find_pairs(at.x, at.q, at.x, at.q); }
  void lag(const StepPoint& at) override { m_contact.update_friction(at.x, at.q, m_dt); }
  // Contact is one of the forces at work: in an impact of a body at rest in itself it is the only one.
  double largest_force() const override { return m_largest_force; }
  void account(const StepPoint& end, StepEnergies& energies) override;

 private:
  ContactUnknowns places() const {
    return {m_unknowns.nodes().of_nodes(), m_unknowns.borders_of_obstacles()};
  }

  ContactPotential& m_contact;
  const StepUnknowns& m_unknowns;
  double m_dt, m_stiffening;
  double m_largest_force = 0;
};

}  // namespace exemplar
