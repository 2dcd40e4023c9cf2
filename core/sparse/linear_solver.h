// One interface for the linear systems of Newton's method: sparse Cholesky, conjugate gradients with one or
// two levels, or a choice between them by counts of operations (never by clocks, so that the same scene gives
// the same bits).
//
// The automatic rule has three strategies of rising cost before the first digit is gained: gradients with a
// diagonal preconditioner, gradients with a coarse space beside it, factorisation. A strategy is given up when
// it has taken as long as the next one would take; the next goes on from where it stopped and is kept for a
// number of solves that grows fourfold every time the cheaper one fails again.
#pragma once

#include <memory>

#include "core/base/state_member.h"
#include "core/sparse/cholesky.h"
#include "core/sparse/conjugate_gradients.h"
#include "core/sparse/patched_cholesky.h"

namespace exemplar {

enum class LinearMethod { automatic, direct, iterative };

enum class LinearStatus { solved, not_positive_definite, failed };

struct LinearCounts {
  int factorisations = 0;
  int solves = 0;  // of right-hand-side blocks
  int cg_iterations = 0;
  int coarse_updates = 0;
  double seconds = 0;  // wall time in solve(), for reports only: nothing is decided by it
};

enum class LinearStrategy { diagonal, coarse, direct };

// What the automatic rule remembers; part of a checkpoint.
struct LinearMemory {
  LinearStrategy strategy = LinearStrategy::diagonal;  // where the next solve starts
  int solves_left = 0;                                 // before cheaper strategies are tried again
  int next_pause = 8;

  static constexpr auto described() {
    return std::tuple(member("strategy", &LinearMemory::strategy),
                      member("solves_left", &LinearMemory::solves_left),
                      member("next_pause", &LinearMemory::next_pause));
  }
};

class LinearSolver {
 public:
  LinearSolver(const BlockPattern& pattern, LinearMethod method) : m_pattern(&pattern), m_method(method) {}

  // Positions of the columns (m, one row each) in the present state; without them there is no coarse space.
  // `left_out` (one per column, the same for all calls; empty: none): columns that are no places in space.
  void set_positions(Points positions, std::vector<char> left_out = {}) {
    m_positions = std::move(positions);
    m_left_out = std::move(left_out);
  }

  // Solves A x = rhs for all columns. `tolerance` is for the iterative method; `x` is overwritten. `patch`
  // (null or empty: none) is added to A: gradients multiply both, factorisations take the union.
  LinearStatus solve(const BlockMatrix& a, const MatX& rhs, double tolerance, MatX& x,
                     const PatchMatrix* patch = nullptr);

  const LinearCounts& counts() const { return m_counts; }
  const LinearMemory& memory() const { return m_memory; }
  void set_memory(const LinearMemory& memory) { m_memory = memory; }
  LinearMethod method() const { return m_method; }

 private:
  // The matrix of one system.
  struct Sum {
    const BlockMatrix& a;
    const PatchMatrix* patch;
  };
  LinearStatus choose_and_solve(const Sum& sum, const MatX& rhs, double tolerance, MatX& x);
  LinearStatus solve_direct(const Sum& sum, const MatX& rhs, MatX& x);
  // From the start in x, with at most so many iterations as the strategy is worth.
  LinearStatus solve_iterative(LinearStrategy strategy, const Sum& sum, const MatX& rhs, double tolerance,
                               MatX& x);
  LinearStrategy next_strategy(LinearStrategy strategy) const;
  LinearStrategy first_strategy();
  void remember(LinearStrategy strategy);
  int iteration_limit(LinearStrategy strategy, Eigen::Index columns);
  double direct_cost(Eigen::Index columns);
  double coarse_cost();
  double iteration_cost(LinearStrategy strategy, Eigen::Index columns);
  bool can_coarsen() const;
  Cholesky& cholesky();
  CoarseSpace& coarse_space();

  const BlockPattern* m_pattern;
  LinearMethod m_method;
  Points m_positions;
  std::vector<char> m_left_out;
  std::unique_ptr<Cholesky> m_cholesky;
  std::unique_ptr<PatchedCholesky> m_patched;  // of the last patch that was factorised
  std::unique_ptr<ConjugateGradients> m_gradients;
  std::unique_ptr<CoarseSpace> m_coarse;
  LinearCounts m_counts;
  LinearMemory m_memory;
};

}  // namespace exemplar
