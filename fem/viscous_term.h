// Viscosity of solids: stress proportional to the rate of strain (Kelvin–Voigt). Over an implicit Euler step of
// length h from x₀ (other rules: what stands for E(x₀) and h is in RateBase)
//   D(x) = β/(2h) Σ vol c (2μ‖ΔE‖² + λ (tr ΔE)²),   ΔE = E(x) − E(x₀),   E = ½(FᵀF − I)
// in place of the rate of work; its gradient at the step's end is the viscous force. E does not see
// rotations, so that D is zero for rigid motions of any size within a step and the forces have no resultant
// and no moment: damping changes neither momentum. For small strains it is stiffness-proportional damping, βK
// (damping ratio βω/2). β (s) of the material, c the stiffness of all potentials that act on the element,
// relative to the material's: μ, λ (Pa).
//
// An earlier version used β/(2h) ‖x − x₀‖²_K with the Hessian K at x₀. In a stressed body K does not vanish
// for rotations: a free bar at 15 rad/s lost a fifth of its angular momentum in half a second, whatever the
// step.
#pragma once

#include <vector>

#include "core/elastic/tet_elements.h"
#include "core/implicit/node_term.h"

namespace exemplar::fem {

class ViscousTerm : public NodeTerm {
 public:
  // `elements`: undeformed, with their volumes multiplied by c.
  ViscousTerm(TetElements elements, const Lame& material, double damping)
      : m_elements(std::move(elements)), m_material(material), m_damping(damping) {}

  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back(m_elements.cliques());
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override {
    m_elements.connect(pattern, column_of_node);
  }
  void begin_step(const RateBase& base) override;
  void end_step(const Points&, const VecX&) override {
    m_base.clear();
    m_start.clear();
  }
  // Zero between steps.
  double value(const Points& x, const VecX& w) override;
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override;
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override;
  // The work of the viscous stresses at x along the step's change of strain.
  double dissipated(const Points& x) override;

 private:
  TetElements m_elements;
  Lame m_material;
  double m_damping;           // β, s
  StVK m_rate{0, 0};          // β/h times the material
  std::vector<Mat3> m_base;   // Σ c_k E(x_k); empty: between steps
  std::vector<Mat3> m_start;  // E(x₀)
};

}  // namespace exemplar::fem
