// An energy of nodes, with optional weights of examples: what an implicit solver is made of. Solids and
// shells supply their elastic and example energies as terms; inertia, loads, supports, contact and damping
// are the solver's own.
#pragma once

#include <span>
#include <vector>

#include "core/math/types.h"
#include "core/sparse/pattern.h"

namespace exemplar {

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

  // Part of the solver's stiffness-proportional damping β that acts on this term (materials differ from body
  // to body); 0: none.
  virtual double damping_share() const { return 1; }
};

}  // namespace exemplar
