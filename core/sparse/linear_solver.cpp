#include "core/sparse/linear_solver.h"

#include <algorithm>
#include <chrono>

namespace exemplar {

namespace {

// Flops per second, only their ratio matters: OpenBLAS panels, CHOLMOD's simplicial code, sparse products.
constexpr double k_supernodal_rate = 8.0;
constexpr double k_simplicial_rate = 1.5;
constexpr double k_product_rate = 2.0;
constexpr int k_longest_pause = 64;

}  // namespace

Cholesky& LinearSolver::cholesky() {
  if (!m_cholesky) m_cholesky = std::make_unique<Cholesky>(*m_pattern);
  return *m_cholesky;
}

LinearStatus LinearSolver::solve_direct(const BlockMatrix& a, const MatX& rhs, MatX& x) {
  ++m_counts.factorisations;
  m_last_was_direct = true;
  if (!cholesky().factorise(a)) return LinearStatus::not_positive_definite;
  x = cholesky().solve(rhs);
  return x.allFinite() ? LinearStatus::solved : LinearStatus::failed;
}

LinearStatus LinearSolver::solve_iterative(const BlockMatrix& a, const MatX& rhs, double tolerance, int limit,
                                           MatX& x) {
  if (!m_gradients) m_gradients = std::make_unique<ConjugateGradients>(*m_pattern);
  x.setZero(rhs.rows(), rhs.cols());
  const CgResult result = m_gradients->solve(a, rhs, tolerance, limit, x);
  m_counts.cg_iterations += result.iterations;
  m_last_was_direct = false;
  if (result.negative_curvature) return LinearStatus::not_positive_definite;
  return result.converged && x.allFinite() ? LinearStatus::solved : LinearStatus::failed;
}

int LinearSolver::affordable_iterations(Eigen::Index columns) {
  const double rate = cholesky().supernodal() ? k_supernodal_rate : k_simplicial_rate;
  const double direct = cholesky().factor_flops() / rate +
                        4 * cholesky().factor_entries() * static_cast<double>(columns) / k_simplicial_rate;
  // Both triangles count; several columns share the reading of the matrix.
  const double product = 4.0 * static_cast<double>(m_pattern->value_count()) *
                         (0.6 + 0.4 * static_cast<double>(columns)) / k_product_rate;
  return static_cast<int>(std::min(direct / product, 2000.0));
}

LinearStatus LinearSolver::solve(const BlockMatrix& a, const MatX& rhs, double tolerance, MatX& x) {
  ++m_counts.solves;
  const auto start = std::chrono::steady_clock::now();
  const LinearStatus status = choose_and_solve(a, rhs, tolerance, x);
  m_counts.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return status;
}

LinearStatus LinearSolver::choose_and_solve(const BlockMatrix& a, const MatX& rhs, double tolerance,
                                            MatX& x) {
  if (m_method == LinearMethod::direct) return solve_direct(a, rhs, x);
  if (m_method == LinearMethod::iterative) {
    const LinearStatus status = solve_iterative(a, rhs, tolerance, std::max(1000, m_pattern->columns()), x);
    return status == LinearStatus::failed ? solve_direct(a, rhs, x) : status;
  }
  if (m_memory.direct_solves_left > 0) {
    --m_memory.direct_solves_left;
    return solve_direct(a, rhs, x);
  }
  const LinearStatus status = solve_iterative(a, rhs, tolerance, affordable_iterations(rhs.cols()), x);
  if (status != LinearStatus::failed) {
    if (status == LinearStatus::solved) m_memory.next_pause = LinearMemory{}.next_pause;
    return status;
  }
  m_memory.direct_solves_left = m_memory.next_pause;
  m_memory.next_pause = std::min(2 * m_memory.next_pause, k_longest_pause);
  return solve_direct(a, rhs, x);
}

}  // namespace exemplar
