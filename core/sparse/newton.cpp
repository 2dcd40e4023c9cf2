#include "core/sparse/newton.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/math/psd.h"

namespace exemplar {

void BorderedHessian::reset(const BlockPattern& pattern, Eigen::Index border) {
  if (a.empty() || &a.pattern() != &pattern) a = BlockMatrix(pattern);
  a.set_zero();
  patch = PatchMatrix();
  c.setZero(pattern.dofs(), border);
  d.setZero(border, border);
}

std::string to_string(NewtonStatus status) {
  switch (status) {
    case NewtonStatus::converged:
      return "converged";
    case NewtonStatus::iteration_limit:
      return "iteration limit";
    case NewtonStatus::line_search_failed:
      return "line search found no descent";
    case NewtonStatus::linear_solver_failed:
      return "linear solver failed";
    case NewtonStatus::not_finite:
      return "energy or gradient is not finite";
    case NewtonStatus::interrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string NewtonSummary::message() const {
  char text[256];
  std::snprintf(
      text, sizeof text,
      "%s after %d iterations (%d projected, %d backtracks): residual %.2e (started at %.2e), last step %.1e",
      to_string(status).c_str(), iterations, projections, backtracks, residual, first_residual, last_step);
  return text;
}

NewtonStep solve_bordered(LinearSolver& solver, const BorderedHessian& h, const VecX& g, const VecX& border,
                          std::span<const SimplexGroup> groups, double tolerance) {
  const Eigen::Index n = h.a.pattern().dofs();
  const Eigen::Index m = h.c.cols();
  NewtonStep step;
  MatX rhs(n, 1 + m), y;
  rhs.col(0) = g.head(n);
  rhs.rightCols(m) = h.c;
  if (n > 0) {
    step.status = solver.solve(h.a, rhs, tolerance, y, &h.patch);
    if (step.status != LinearStatus::solved) return step;
  } else {
    step.status = LinearStatus::solved;
    y = rhs;
  }
  step.dz.resize(n + m);
  step.dz.head(n) = -y.col(0);
  if (m == 0) return step;
  MatX schur = h.d - h.c.transpose() * y.rightCols(m);
  schur = make_positive(0.5 * (schur + schur.transpose()).eval(), 1e-10);
  const VecX r = g.tail(m) - h.c.transpose() * y.col(0);
  // In terms of the new border b + db, because the constraints are on that.
  const VecX target = minimise_on_simplices(schur, r - schur * border, border, groups);
  step.dz.tail(m) = target - border;
  step.dz.head(n) -= y.rightCols(m) * step.dz.tail(m);
  return step;
}

namespace {

double largest_node_norm(const VecX& v, Eigen::Index nodes) {
  double square = 0;
  for (Eigen::Index i = 0; i < nodes; ++i) square = std::max(square, v.segment<3>(3 * i).squaredNorm());
  return std::sqrt(square);
}

// Relative optimality of the border: free unknowns by their gradient, weights by the Frank–Wolfe gap
// max_s g·(w − s) over the simplex, which bounds the energy still to be gained and needs no active set.
double border_residual(const NewtonProblem& problem, const VecX& g_border, const VecX& border) {
  std::vector<bool> grouped(static_cast<std::size_t>(border.size()), false);
  double worst = 0;
  for (const SimplexGroup& group : problem.simplex_groups()) {
    const auto g = g_border.segment(group.begin, group.count);
    const double gap =
        g.dot(border.segment(group.begin, group.count)) - group.total * std::min(0.0, g.minCoeff());
    worst = std::max(worst, gap / problem.border_scale(group.begin));
    for (int i = group.begin; i < group.begin + group.count; ++i) grouped[static_cast<std::size_t>(i)] = true;
  }
  for (int i = 0; i < static_cast<int>(border.size()); ++i) {
    if (!grouped[static_cast<std::size_t>(i)])
      worst = std::max(worst, std::abs(g_border[i]) / problem.border_scale(i));
  }
  return worst;
}

constexpr double k_near = 1e-3;      // residual of a state that only round-off keeps from the minimum
constexpr int k_most_cut_steps = 8;  // of no length, one after the other, before the search gives up

// The state of one minimisation: the loop below reads like the method's description.
class Minimiser {
 public:
  Minimiser(NewtonProblem& problem, LinearSolver& solver, const NewtonOptions& options, VecX& z)
      : m_problem(problem),
        m_solver(solver),
        m_options(options),
        m_z(z),
        m_dofs(problem.pattern().dofs()),
        m_border(problem.border_size()) {}

  NewtonSummary run() {
    const LinearCounts before = m_solver.counts();
    m_summary.status = iterate();
    m_summary.value = m_value;
    m_summary.cg_iterations = m_solver.counts().cg_iterations - before.cg_iterations;
    m_summary.factorisations = m_solver.counts().factorisations - before.factorisations;
    return m_summary;
  }

 private:
  NewtonStatus iterate() {
    m_problem.accepted(m_z);
    m_value = m_problem.value(m_z);
    m_problem.gradient(m_z, m_g);
    if (!std::isfinite(m_value) || !m_g.allFinite()) return NewtonStatus::not_finite;
    m_summary.residual = m_summary.first_residual = residual();
    while (m_summary.residual > m_options.force_tolerance) {
      if (m_summary.iterations >= m_options.max_iterations) return NewtonStatus::iteration_limit;
      if (m_options.interrupted && m_options.interrupted()) return NewtonStatus::interrupted;
      ++m_summary.iterations;
      const NewtonStatus status = advance();
      if (status != NewtonStatus::converged) return status;
      m_summary.residual = residual();
      if (nothing_moves()) break;
      if (is_stuck()) return NewtonStatus::line_search_failed;
    }
    return NewtonStatus::converged;
  }

  // Near the minimum a step that is short for whatever reason ends the search; farther away only one that was short
  // before the line search: what stands in the way cuts steps to nothing as well, and is no sign of a minimum.
  bool nothing_moves() const {
    const bool is_near = m_summary.residual < k_near;
    return (is_near ? m_summary.last_step : m_full_step) < m_options.displacement_tolerance &&
           (is_near ? m_last_border_step : m_full_border_step) < 1e-10;
  }

  bool is_stuck() {
    m_cut_steps = m_summary.last_step < m_options.displacement_tolerance ? m_cut_steps + 1 : 0;
    return m_cut_steps == k_most_cut_steps;
  }

  double residual() const {
    const double nodes = largest_node_norm(m_g, m_dofs / 3) / m_problem.force_scale();
    return m_border == 0
               ? nodes
               : std::max(nodes, border_residual(m_problem, m_g.tail(m_border), m_z.tail(m_border)));
  }

  // A step with the exact Hessian if it is positive definite and descends, else with the projected one, else
  // with the projected one and a growing shift (free floating statics, collapsed elements without any
  // stiffness).
  NewtonStatus advance() {
    bool projected = m_options.always_project;
    double shift = 0;
    for (;;) {
      const LinearStatus linear = find_step(projected, shift);
      if (linear == LinearStatus::solved && line_search()) return NewtonStatus::converged;
      if (linear == LinearStatus::solved && at_round_off()) return accept_nothing();
      if (shift > 10) {
        return linear == LinearStatus::solved ? NewtonStatus::line_search_failed
                                              : NewtonStatus::linear_solver_failed;
      }
      if (projected) shift = shift == 0 ? 1e-8 : 100 * shift;
      if (!projected) ++m_summary.projections;
      projected = true;
    }
  }

  // `shift`: added to the diagonal, relative to a stiffness of the material.
  LinearStatus find_step(bool projected, double shift) {
    m_hessian.reset(m_problem.pattern(), m_border);
    m_problem.hessian(m_z, projected, m_hessian);
    if (shift > 0) {
      const double stiffness =
          std::max(mean_diagonal(), 100 * m_problem.force_scale() / m_problem.length_scale());
      for (int j = 0; j < m_problem.pattern().columns(); ++j)
        m_hessian.a.add_to_diagonal(j, shift * stiffness);
    }
    // Inexact Newton: loose while far from the solution, tight enough near it to converge superlinearly, but
    // never tighter than the end needs.
    const double enough = 0.3 * m_options.force_tolerance / m_summary.residual;
    const double tolerance =
        std::max(std::clamp(0.1 * std::sqrt(m_summary.residual), 1e-7, 3e-3), std::min(enough, 0.1));
    NewtonStep step =
        solve_bordered(m_solver, m_hessian, m_g, m_z.tail(m_border), m_problem.simplex_groups(), tolerance);
    m_dz = std::move(step.dz);
    return step.status;
  }

  double mean_diagonal() const {
    double sum = 0;
    const int n = m_problem.pattern().columns();
    for (int j = 0; j < n; ++j) sum += m_hessian.a.diagonal_block(j).trace() / 3;
    return sum / std::max(n, 1);
  }

  bool line_search() {
    m_slope = m_g.dot(m_dz);
    if (!(m_slope < 0) || !m_dz.allFinite()) return false;
    double length = std::min(1.0, m_problem.max_step(m_z, m_dz));
    for (int k = 0; k <= m_options.max_backtracks; ++k, length *= 0.5) {
      if (k > 0) ++m_summary.backtracks;
      m_trial = m_z + length * m_dz;
      const double value = m_problem.value(m_trial);
      if (!(value <= m_value + 1e-4 * length * m_slope)) {
        // Below the round-off of H only the gradient can tell progress.
        if (!(std::abs(length * m_slope) < 1e-12 * std::abs(m_value)) || !gradient_falls(value)) continue;
      } else {
        m_problem.gradient(m_trial, m_trial_g);
      }
      if (!m_trial_g.allFinite()) continue;
      accept(value, length);
      return true;
    }
    return false;
  }

  bool gradient_falls(double value) {
    if (!std::isfinite(value) || value > m_value + 1e-10 * std::abs(m_value)) return false;
    m_problem.gradient(m_trial, m_trial_g);
    return m_trial_g.norm() < m_g.norm();
  }

  void accept(double value, double length) {
    m_full_step = largest_node_norm(m_dz, m_dofs / 3) / m_problem.length_scale();
    m_full_border_step = m_border > 0 ? m_dz.tail(m_border).cwiseAbs().maxCoeff() : 0.0;
    m_summary.last_step = length * m_full_step;
    m_last_border_step = length * m_full_border_step;
    m_z = m_trial;
    m_g = m_trial_g;
    m_value = value;
    m_problem.accepted(m_z);
  }

  // The predicted decrease cannot be seen in H any more: this is the minimum to working precision.
  bool at_round_off() const { return std::abs(m_slope) < 1e-11 * std::max(std::abs(m_value), 1e-300); }
  NewtonStatus accept_nothing() {
    m_problem.gradient(m_z, m_g);
    m_summary.last_step = m_last_border_step = m_full_step = m_full_border_step = 0;
    return NewtonStatus::converged;
  }

  NewtonProblem& m_problem;
  LinearSolver& m_solver;
  const NewtonOptions& m_options;
  VecX& m_z;
  Eigen::Index m_dofs;
  Eigen::Index m_border;
  BorderedHessian m_hessian;
  VecX m_g, m_dz, m_trial, m_trial_g;
  double m_value = 0;
  double m_slope = 0;
  double m_last_border_step = 0;
  double m_full_step = 0;  // of the last iteration before the line search, / length_scale
  double m_full_border_step = 0;
  int m_cut_steps = 0;
  NewtonSummary m_summary;
};

}  // namespace

NewtonSummary minimise(NewtonProblem& problem, LinearSolver& solver, const NewtonOptions& options, VecX& z) {
  return Minimiser(problem, solver, options, z).run();
}

}  // namespace exemplar
