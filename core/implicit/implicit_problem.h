// The function that one implicit step minimises; see implicit_solver.h. Private to the solver.
#pragma once

#include <vector>

#include "core/implicit/implicit_solver.h"

namespace exemplar {

class ImplicitSolver::Problem : public NewtonProblem {
 public:
  // `q`: increments of all obstacles, prescribed ones at their final value.
  Problem(ImplicitSolver& solver, const StepInput& input, Points start, VecX q);

  const BlockPattern& pattern() const override { return *m_solver.m_pattern; }
  int border_size() const override { return m_border; }
  std::span<const SimplexGroup> simplex_groups() const override { return m_groups; }
  double value(const VecX& z) override;
  void gradient(const VecX& z, VecX& g) override;
  void hessian(const VecX& z, bool project, BorderedHessian& h) override;
  double max_step(const VecX& z, const VecX& dz) override;
  double force_scale() const override { return m_force_scale; }
  double border_scale(int i) const override;
  double length_scale() const override { return m_solver.m_options.length; }

  // The unknowns for positions, weights and increments, and back.
  VecX pack(const Points& x, const VecX& q, const std::vector<VecX>& weights) const;
  void unpack(const VecX& z);
  const Points& positions() const { return m_x; }
  const VecX& increments() const { return m_q; }
  const std::vector<VecX>& weights() const { return m_weights; }

  // Of the damping forces in the step, J.
  double damping_work() const { return m_damping.empty() ? 0.0 : 2 * damping_value(); }

  void find_contacts(const VecX& z);
  void lag_friction(const VecX& z);
  // Moves every free group of linked nodes and dynamic obstacles as a whole to where its momentum has changed
  // by the impulse of the loads alone.
  void balance_momentum(VecX& z);

 private:
  bool has_contact() const { return m_solver.m_contact.has_value(); }
  double inertia_value() const;
  double damping_value() const;
  VecX displacement() const;
  LinkedGroups link_all() const;
  void reduce(const Points& full, VecX& g) const;
  void add_contact_blocks(const std::vector<ContactBlock>& blocks, VecX& g) const;
  void add_contact_blocks(const std::vector<ContactBlock>& blocks, BorderedHessian& h) const;
  int border_of_obstacle(int obstacle) const { return m_obstacle_border[static_cast<std::size_t>(obstacle)]; }
  void mask(BorderedHessian& h) const;
  void assemble_damping();

  ImplicitSolver& m_solver;
  const StepInput& m_input;
  Points m_x;          // all nodes, held ones at their targets
  Points m_predicted;  // x₀ + h v₀
  VecX m_q;
  std::vector<VecX> m_weights;
  std::vector<int> m_weight_border;    // first border unknown of each term; −1: none
  std::vector<int> m_obstacle_border;  // of each obstacle; −1: not dynamic
  std::vector<SimplexGroup> m_groups;
  std::vector<RigidInertia> m_inertias;
  std::vector<int> m_inertia_obstacle;
  int m_border = 0;
  int m_weight_total = 0;
  double m_force_scale = 1;
  BlockMatrix m_damping;
  Points m_gradient;  // scratch
};

}  // namespace exemplar
