#include "core/sparse/linear_solver.h"

#include <algorithm>

#include "core/base/stopwatch.h"

namespace exemplar {

namespace {

// Costs in nanoseconds as measured on one machine (2.8 GHz, one thread); only their ratios matter.
constexpr double k_per_product_block = 4.3;     // of the stored triangle, one vector
constexpr double k_per_iteration_dof = 4.0;     // sums and updates of one vector
constexpr double k_second_vector = 0.5;         // what each further vector adds
constexpr double k_per_factor_dof = 2000;       // CHOLMOD's bookkeeping
constexpr double k_per_supernodal_flop = 0.05;  // dense panels
constexpr double k_per_simplicial_flop = 1.2;
constexpr double k_per_factor_entry = 2;       // forward and backward substitution
constexpr double k_per_restricted_block = 60;  // of P-transpose A P
constexpr double k_per_moved_dof = 6;          // to the coarse space and back
constexpr int k_coarse_iterations = 20;        // what a system with a coarse space usually takes
// Above this size a factorisation is the last resort: finding out what it would cost takes seconds already.
constexpr int k_analysed_dofs = 60000;
constexpr int k_iterations_of_large = 1000;
constexpr int k_longest_pause = 128;
constexpr int k_most_iterations = 4000;

double substitution_cost(double entries, Eigen::Index columns) {
  return k_per_factor_entry * entries * (0.5 + 0.5 * static_cast<double>(columns));
}

}  // namespace

Cholesky& LinearSolver::cholesky() {
  if (!m_cholesky) m_cholesky = std::make_unique<Cholesky>(*m_pattern);
  return *m_cholesky;
}

CoarseSpace& LinearSolver::coarse_space() {
  if (!m_coarse) m_coarse = std::make_unique<CoarseSpace>(*m_pattern, m_left_out);
  return *m_coarse;
}

bool LinearSolver::can_coarsen() const {
  if (m_positions.rows() == 0 || m_positions.rows() != m_pattern->columns()) return false;
  return m_left_out.empty() || std::find(m_left_out.begin(), m_left_out.end(), 0) != m_left_out.end();
}

double LinearSolver::direct_cost(Eigen::Index columns) {
  const double flops = cholesky().factor_flops();
  const double factorise = cholesky().supernodal()
                               ? k_per_factor_dof * m_pattern->dofs() + k_per_supernodal_flop * flops
                               : k_per_simplicial_flop * flops;
  return factorise + substitution_cost(cholesky().factor_entries(), columns);
}

double LinearSolver::coarse_cost() {
  const double blocks = static_cast<double>(m_pattern->value_count()) / 9;
  return k_per_restricted_block * blocks + k_per_factor_dof * 6 * coarse_space().aggregates() +
         k_per_supernodal_flop * coarse_space().factor_flops();
}

double LinearSolver::iteration_cost(LinearStrategy strategy, Eigen::Index columns) {
  const double blocks = static_cast<double>(m_pattern->value_count()) / 9;
  double one = k_per_product_block * blocks + k_per_iteration_dof * m_pattern->dofs();
  if (strategy == LinearStrategy::coarse) one += k_per_moved_dof * m_pattern->dofs();
  const double all = one * (1 + k_second_vector * static_cast<double>(columns - 1));
  return strategy == LinearStrategy::coarse
             ? all + substitution_cost(coarse_space().factor_entries(), columns)
             : all;
}

// As many iterations as the next strategy would cost from start to end. The last iterative strategy of the `iterative`
// method has no such limit.
int LinearSolver::iteration_limit(LinearStrategy strategy, Eigen::Index columns) {
  const LinearStrategy next = next_strategy(strategy);
  if (next == LinearStrategy::direct && m_method == LinearMethod::iterative)
    return std::max(1000, m_pattern->columns());
  if (next == LinearStrategy::direct && m_pattern->dofs() > k_analysed_dofs) return k_iterations_of_large;
  const double whole = next == LinearStrategy::direct
                           ? direct_cost(columns)
                           : coarse_cost() + k_coarse_iterations * iteration_cost(next, columns);
  return static_cast<int>(std::min(whole / iteration_cost(strategy, columns), double{k_most_iterations})) + 1;
}

LinearStrategy LinearSolver::next_strategy(LinearStrategy strategy) const {
  return strategy == LinearStrategy::diagonal && can_coarsen() ? LinearStrategy::coarse
                                                               : LinearStrategy::direct;
}

LinearStatus LinearSolver::solve_direct(const Sum& sum, const MatX& rhs, MatX& x) {
  ++m_counts.factorisations;
  if (sum.patch == nullptr) {
    if (!cholesky().factorise(sum.a)) return LinearStatus::not_positive_definite;
    x = cholesky().solve(rhs);
  } else {
    if (!m_patched || !m_patched->fits(*sum.patch))
      m_patched = std::make_unique<PatchedCholesky>(*m_pattern, *sum.patch);
    if (!m_patched->factorise(sum.a, *sum.patch)) return LinearStatus::not_positive_definite;
    x = m_patched->solve(rhs);
  }
  return x.allFinite() ? LinearStatus::solved : LinearStatus::failed;
}

LinearStatus LinearSolver::solve_iterative(LinearStrategy strategy, const Sum& sum, const MatX& rhs,
                                           double tolerance, MatX& x) {
  if (!m_gradients) m_gradients = std::make_unique<ConjugateGradients>(*m_pattern);
  CoarseSpace* coarse = strategy == LinearStrategy::coarse ? &coarse_space() : nullptr;
  if (coarse != nullptr) {
    ++m_counts.coarse_updates;
    if (!coarse->update(sum.a, m_positions, sum.patch)) return LinearStatus::not_positive_definite;
  }
  const CgResult result =
      m_gradients->solve(sum.a, rhs, tolerance, iteration_limit(strategy, rhs.cols()), coarse, x, sum.patch);
  m_counts.cg_iterations += result.iterations;
  if (result.negative_curvature) return LinearStatus::not_positive_definite;
  return result.converged && x.allFinite() ? LinearStatus::solved : LinearStatus::failed;
}

LinearStatus LinearSolver::solve(const BlockMatrix& a, const MatX& rhs, double tolerance, MatX& x,
                                 const PatchMatrix* patch) {
  ++m_counts.solves;
  const Stopwatch stopwatch;
  const LinearStatus status =
      choose_and_solve({a, patch != nullptr && !patch->empty() ? patch : nullptr}, rhs, tolerance, x);
  m_counts.seconds += stopwatch.seconds();
  return status;
}

LinearStrategy LinearSolver::first_strategy() {
  if (m_method == LinearMethod::direct) return LinearStrategy::direct;
  if (m_memory.solves_left == 0) return LinearStrategy::diagonal;
  --m_memory.solves_left;
  return m_memory.strategy;
}

// A strategy that was reached by falling is kept for a while; one that came first and worked ends the growth.
void LinearSolver::remember(LinearStrategy strategy) {
  if (strategy == LinearStrategy::diagonal) {
    m_memory.next_pause = LinearMemory{}.next_pause;
    return;
  }
  m_memory.strategy = strategy;
  m_memory.solves_left = m_memory.next_pause;
  m_memory.next_pause = std::min(4 * m_memory.next_pause, k_longest_pause);
}

LinearStatus LinearSolver::choose_and_solve(const Sum& sum, const MatX& rhs, double tolerance, MatX& x) {
  const LinearStrategy first = first_strategy();
  x.setZero(rhs.rows(), rhs.cols());
  for (LinearStrategy strategy = first;; strategy = next_strategy(strategy)) {
    const LinearStatus status = strategy == LinearStrategy::direct
                                    ? solve_direct(sum, rhs, x)
                                    : solve_iterative(strategy, sum, rhs, tolerance, x);
    if (status == LinearStatus::failed && strategy != LinearStrategy::direct) continue;
    if (status == LinearStatus::solved && m_method != LinearMethod::direct &&
        (strategy != first || strategy == LinearStrategy::diagonal))
      remember(strategy);
    return status;
  }
}

}  // namespace exemplar
