// Newton's method with line search for energies of nodes with a small dense border: minimises H(x, b) over
// the coordinates x of n free nodes and m border unknowns b (example weights on simplices, the six
// coordinates of a dynamic obstacle). One optimiser for solids, shells, statics and contact.
//
//   [ A  C ] [dx]     [g_x]      A sparse (3×3 blocks), C 3n×m dense, D m×m
//   [ Cᵀ D ] [db] = − [g_b]      S = D − Cᵀ A⁻¹ C  (Schur complement, 1 + m right-hand sides in one solve)
//
// S is made positive (|eigenvalues|, floored), db minimises ½dbᵀS db + r·db exactly on the simplices, then
// dx = −A⁻¹(g_x + C db). The exact Hessian is tried first; only when it is not positive definite is it
// assembled again with projected element Hessians (always projecting costs 1.5 to 3 times the iterations).
// Armijo backtracking on H from the largest step the problem allows (contact).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/math/simplex_qp.h"
#include "core/sparse/linear_solver.h"

namespace exemplar {

struct BorderedHessian {
  BlockMatrix a;
  MatX c;
  MatX d;
  PatchMatrix patch;  // added to `a`: blocks that its pattern does not have

  // Ready for a new assembly: everything zero.
  void reset(const BlockPattern& pattern, Eigen::Index border);
};

// z = (x of the free nodes in pattern order, then the border unknowns).
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  virtual const BlockPattern& pattern() const = 0;
  virtual int border_size() const { return 0; }
  // Border unknowns on simplices, with indices counted from the first border unknown; the others are free.
  virtual std::span<const SimplexGroup> simplex_groups() const { return {}; }

  // Infinite or NaN outside the domain: the line search then shortens the step.
  virtual double value(const VecX& z) = 0;
  virtual void gradient(const VecX& z, VecX& g) = 0;
  // `h` comes reset. With `project` every element's contribution to A must be positive semi-definite.
  virtual void hessian(const VecX& z, bool project, BorderedHessian& h) = 0;
  // Largest step length in (0, 1] along dz that stays in the domain.
  virtual double max_step(const VecX& /*z*/, const VecX& /*dz*/) { return 1.0; }
  // Told of the start and of every iterate that is accepted: for what follows the iterates (lagged stiffness,
  // branches of angles). Must not change value() and gradient() at z.
  virtual void accepted(const VecX& /*z*/) {}
  // The size of a force in newtons that counts as one for the relative tolerance; asked after gradient().
  virtual double force_scale() const = 0;
  // The same for border unknown i (joule for weights, newton or newton metre for an obstacle).
  virtual double border_scale(int /*i*/) const { return force_scale(); }
  // A length that counts as one for displacements, e.g. the mean edge.
  virtual double length_scale() const = 0;
};

struct NewtonOptions {
  int max_iterations = 100;
  double force_tolerance = 1e-6;          // largest nodal residual force / force_scale
  double displacement_tolerance = 1e-10;  // largest nodal step / length_scale: nothing moves any more
  int max_backtracks = 40;
  bool always_project = false;        // for comparison only
  std::function<bool()> interrupted;  // polled once an iteration
};

enum class NewtonStatus {
  converged,
  iteration_limit,
  line_search_failed,
  linear_solver_failed,
  not_finite,
  interrupted
};

std::string to_string(NewtonStatus status);

struct NewtonSummary {
  NewtonStatus status = NewtonStatus::iteration_limit;
  int iterations = 0;
  int projections = 0;  // iterations that needed the projected Hessian
  int backtracks = 0;
  int cg_iterations = 0;
  int factorisations = 0;
  double value = 0;     // H at the end
  double residual = 0;  // relative, at the end
  double first_residual = 0;
  double last_step = 0;  // largest nodal displacement of the last iteration / length_scale

  bool converged() const { return status == NewtonStatus::converged; }
  // One line that tells slow from stuck.
  std::string message() const;
};

// Starts from z and leaves the best point found in z. `solver` must belong to problem.pattern().
NewtonSummary minimise(NewtonProblem& problem, LinearSolver& solver, const NewtonOptions& options, VecX& z);

// One Newton step for given derivatives; exposed for tests. `positive_definite` false: dz is not set.
struct NewtonStep {
  LinearStatus status = LinearStatus::failed;
  VecX dz;
};
NewtonStep solve_bordered(LinearSolver& solver, const BorderedHessian& h, const VecX& g, const VecX& border,
                          std::span<const SimplexGroup> groups, double tolerance);

}  // namespace exemplar
