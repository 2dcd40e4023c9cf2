// The terms of an implicit step that know neither bodies nor contact; symbols as in implicit_solver.h.
#pragma once

#include <memory>
#include <span>

#include "core/implicit/node_term.h"
#include "core/implicit/step_unknowns.h"
#include "core/world/rigid_inertia.h"

namespace exemplar {

// A method's term with its own weights.
class WeightedTerm : public StepTerm {
 public:
  // The `index`-th node term.
  WeightedTerm(NodeTerm& term, std::size_t index, const StepUnknowns& unknowns)
      : m_term(term), m_index(index), m_borders(unknowns.borders_of_weights(index)) {}
  double value(const StepPoint& at) override { return m_term.value(at.x, at.weights[m_index]); }
  void add_gradient(const StepPoint& at, StepGradient& g) override;
  void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) override;
  double max_step(const StepPoint& from, const StepPoint& to) override {
    return m_term.max_step(from.x, to.x);
  }
  void accepted(const StepPoint& at) override { m_term.accepted(at.x, at.weights[m_index]); }
  void account(const StepPoint& end, StepEnergies& energies) override {
    energies.damping += m_term.dissipated(end.x);
  }

 private:
  NodeTerm& m_term;
  std::size_t m_index;
  std::span<const int> m_borders;  // of each weight; −1: given
};

// −f·(x − x₀): the work along the step's displacement, so that no large numbers cancel.
class LoadTerm : public StepTerm {
 public:
  // Both must outlive this.
  LoadTerm(const Points& forces, const Points& start) : m_forces(forces), m_start(start) {}
  double value(const StepPoint& at) override { return -m_forces.cwiseProduct(at.x - m_start).sum(); }
  void add_gradient(const StepPoint&, StepGradient& g) override { g.nodes -= m_forces; }
  void add_hessian(const StepPoint&, bool, BorderedHessian&) override {}
  double largest_force() const override;

 private:
  const Points& m_forces;
  const Points& m_start;
};

// 1/(2h²) ‖x − x̂‖²_M, x̂ = x₀ + h v₀.
class InertiaTerm : public StepTerm {
 public:
  // `masses` and `unknowns` must outlive this.
  InertiaTerm(const VecX& masses, Points predicted, double dt, const StepUnknowns& unknowns)
      : m_masses(masses), m_predicted(std::move(predicted)), m_dt(dt), m_unknowns(unknowns) {}
  double value(const StepPoint& at) override;
  void add_gradient(const StepPoint& at, StepGradient& g) override;
  void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) override;

 private:
  const VecX& m_masses;
  Points m_predicted;
  double m_dt;
  const StepUnknowns& m_unknowns;
};

// The inertia of one dynamic obstacle (core/world/rigid_inertia.h).
class RigidInertiaTerm : public StepTerm {
 public:
  RigidInertiaTerm(RigidInertia inertia, int obstacle, const StepUnknowns& unknowns)
      : m_inertia(std::move(inertia)),
        m_obstacle(obstacle),
        m_border(unknowns.border_of_obstacle(obstacle)) {}
  double value(const StepPoint& at) override { return m_inertia.value(increment(at)); }
  void add_gradient(const StepPoint& at, StepGradient& g) override {
    g.border.segment<6>(m_border) += m_inertia.gradient(increment(at));
  }
  void add_hessian(const StepPoint& at, bool, BorderedHessian& h) override {
    h.d.block<6, 6>(m_border, m_border) += m_inertia.hessian(increment(at));
  }

 private:
  Vec6 increment(const StepPoint& at) const { return at.q.segment<6>(6 * m_obstacle); }

  RigidInertia m_inertia;
  int m_obstacle, m_border;
};

// The largest of the rows as vectors.
double largest_row(const Points& rows);

}  // namespace exemplar
