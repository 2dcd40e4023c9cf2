// Pressures at the place where an implicit step ends (core/world/pressure.h). On a closed surface they have the potential
// p V; on a part of a surface they have none, so their work is counted along the iterates x_k of Newton's method:
//   value(x) = Σ_k work so far − ½ (f(x_k) + f(x))·(x − x_k)
// whose gradient is −f to second order in the step. Hessian: the symmetric part of −∂f/∂x, blocks p/12 [e_w − e_v]×
// between the corners v and w, e the edge opposite to a corner; projected: left out.
#pragma once

#include <span>

#include "core/implicit/step_term.h"
#include "core/implicit/step_unknowns.h"
#include "core/world/pressure.h"

namespace exemplar {

class PressureTerm : public StepTerm {
 public:
  // All must outlive this.
  PressureTerm(std::span<const PressedTriangle> triangles, const Points& start, const StepUnknowns& unknowns);
  double value(const StepPoint& at) override;
  void add_gradient(const StepPoint& at, StepGradient& g) override;
  void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) override;
  void accepted(const StepPoint& at) override;
  double largest_force() const override { return m_largest; }

 private:
  Points forces(const Points& x) const;

  std::span<const PressedTriangle> m_triangles;
  const StepUnknowns& m_unknowns;
  Points m_iterate, m_forces;  // x_k and f(x_k)
  double m_so_far = 0;         // J
  double m_largest = 0;
};

}  // namespace exemplar
