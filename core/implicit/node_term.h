// An energy of nodes, with optional weights of examples: what a method supplies to the implicit solver. Solids
// and shells bring their elastic and example energies and their viscosity as such terms; inertia, loads, supports
// and contact are the solver's own (step_terms.h, contact_term.h).
//
// A term may have unknowns of its own besides nodes and weights, in two ways:
//  - inside: it minimises over them in value(), add_gradient() and add_hessian() (angles on edges in time
//    steps); accepted() tells it where Newton's method stands, for warm starts and whatever follows the
//    iterates;
//  - as further nodes without mass that are no places in space (three angles packed into one, in units of
//    length): ImplicitSolver's `abstract` nodes, which stay outside momentum balance and the coarse space.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/math/types.h"
#include "core/sparse/pattern.h"

namespace exemplar {

// What rates in a step are taken against, so that they have the order of the integrator: of any measure M of the nodes,
//   dM/dt at the step's end = (M(x) − Σ c_k M(x_k))/dt,   Σ c_k = 1,
// the first x_k where the step begins (StepRule). Measures that do not see rotations make rates that do not either.
struct RateBase {
  double dt = 0;  // s
  std::vector<std::pair<double, Points>> places;
};

class NodeTerm {
 public:
  virtual ~NodeTerm() = default;

  // Weights w_1 … w_m of the term's examples; the undeformed pose has 1 − Σ w.
  virtual int weight_count() const { return 0; }
  // True: w on the simplex; false: any real numbers (the affine span).
  virtual bool weights_on_simplex() const { return true; }

  // Groups of nodes whose 3×3 blocks this term fills.
  virtual void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const = 0;
  // Called once for each pattern; `column_of_node` is −1 for held nodes.
  virtual void connect(const BlockPattern& pattern, std::span<const int> column_of_node) = 0;

  // Joule; infinite or NaN outside the domain. x holds all nodes of the solver.
  virtual double value(const Points& x, const VecX& w) = 0;
  // Adds ∂/∂x to `g` (newton, all nodes) and ∂/∂w to `g_w`.
  virtual void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) = 0;
  // Adds to the blocks A = ∂²/∂x², C = ∂²/∂x∂w (rows: columns of the pattern times three) and D = ∂²/∂w².
  // With `project` the addition to A must be positive semi-definite.
  virtual void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                           Eigen::Ref<MatX> d) = 0;

  // The largest part in (0, 1] of the straight path from x0 to x1 that stays in the domain.
  virtual double max_step(const Points& /*x0*/, const Points& /*x1*/) { return 1; }

  // A step begins, perhaps again after it failed: what follows the motion starts from the last state that end_step()
  // has told.
  virtual void begin_step(const RateBase& /*base*/) {}
  // Newton's method stands here: at the start of a solve and at every iterate that is accepted. May change
  // what add_hessian() gives, not value() and add_gradient() at this place.
  virtual void accepted(const Points& /*x*/, const VecX& /*w*/) {}
  // Energy (J) that a step which ends at x takes out of the motion for good (viscosity); asked before end_step().
  virtual double dissipated(const Points& /*x*/) { return 0; }
  // The step is taken and ends here.
  virtual void end_step(const Points& /*x*/, const VecX& /*w*/) {}
};

}  // namespace exemplar
