// One summand of the function that an implicit step minimises. Inertia, loads, damping, the inertia of dynamic
// obstacles, contact with friction and the methods' node terms all stand behind this interface; the problem is
// a loop over them (step_problem.h).
#pragma once

#include <vector>

#include "core/base/state_member.h"
#include "core/sparse/newton.h"

namespace exemplar {

// Where the step stands.
struct StepPoint {
  Points x;                   // all nodes, held ones at their targets, m
  std::vector<VecX> weights;  // of every node term, given ones included
  VecX q;                     // six increments of every obstacle since the step's start (rigid_inertia.h)
};

// Over all nodes, held ones too; the border as in StepUnknowns.
struct StepGradient {
  Points nodes;
  VecX border;
};

// Joule. The dissipations are sums over all steps of what left the bodies and obstacles in each of them; what
// implicit Euler itself loses, ½ Σ m |v₁ − v₀|² and the like in the potentials, is in none of them.
struct StepEnergies {
  double damping = 0;  // work of viscous forces, never negative: NodeTerm::dissipated()
  // Friction force times slip (never negative), and what is left in contact that was stiffened for an impact
  // when its stiffness goes back to normal after the step.
  double contact = 0;
  double barrier = 0;  // in contact at the present state

  static constexpr auto described() {
    return std::tuple(member("damping", &StepEnergies::damping), member("contact", &StepEnergies::contact),
                      member("barrier", &StepEnergies::barrier));
  }
};

class StepTerm {
 public:
  virtual ~StepTerm() = default;

  // Joule; infinite or NaN outside the domain.
  virtual double value(const StepPoint& at) = 0;
  virtual void add_gradient(const StepPoint& at, StepGradient& g) = 0;
  // With `project` the addition to A must be positive semi-definite.
  virtual void add_hessian(const StepPoint& at, bool project, BorderedHessian& h) = 0;
  // The largest part in (0, 1] of the straight path that stays in the domain.
  virtual double max_step(const StepPoint& /*from*/, const StepPoint& /*to*/) { return 1; }

  // A solve starts here: what must be known before the first value().
  virtual void begin_solve(const StepPoint& /*at*/) {}
  // Fixes what is lagged (normal forces of friction) at this place for the solves to come.
  virtual void lag(const StepPoint& /*at*/) {}
  // Newton's method stands here: the start of a solve or an accepted iterate.
  virtual void accepted(const StepPoint& /*at*/) {}

  // The largest force on a node that this term contributed to the last gradient, N, where it counts among the
  // forces at work by which the tolerance is measured; 0: it does not.
  virtual double largest_force() const { return 0; }
  // Books what the step that ends here has taken out of the motion.
  virtual void account(const StepPoint& /*end*/, StepEnergies& /*energies*/) {}
};

}  // namespace exemplar
