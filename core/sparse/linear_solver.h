// One interface for the linear systems of Newton's method: sparse Cholesky, conjugate gradients, or a choice
// between them by counts of operations (never by clocks, so that the same scene gives the same bits).
//
// The automatic rule: a factorisation costs its flops, a conjugate-gradient iteration costs two flops per
// stored entry of the full matrix, weighted by the rate at which this class of machine does each (dense
// panels against memory traffic). Gradients are tried as long as they are expected to be cheaper; when they
// meet the limit at which the factorisation would have been cheaper, the factorisation takes over for a
// number of solves that doubles with every further failure.
#pragma once

#include <memory>
#include <string>

#include "core/sparse/cholesky.h"
#include "core/sparse/conjugate_gradients.h"

namespace exemplar {

enum class LinearMethod { automatic, direct, iterative };

enum class LinearStatus { solved, not_positive_definite, failed };

struct LinearCounts {
  int factorisations = 0;
  int solves = 0;  // of right-hand-side blocks
  int cg_iterations = 0;
  double seconds = 0;  // wall time in solve(), for reports only: nothing is decided by it
};

// What the automatic rule remembers; part of a checkpoint.
struct LinearMemory {
  int direct_solves_left = 0;
  int next_pause = 4;
};

class LinearSolver {
 public:
  LinearSolver(const BlockPattern& pattern, LinearMethod method) : m_pattern(&pattern), m_method(method) {}

  // Solves A x = rhs for all columns. `tolerance` is for the iterative method; `x` is overwritten.
  LinearStatus solve(const BlockMatrix& a, const MatX& rhs, double tolerance, MatX& x);

  const LinearCounts& counts() const { return m_counts; }
  const LinearMemory& memory() const { return m_memory; }
  void set_memory(const LinearMemory& memory) { m_memory = memory; }
  LinearMethod method() const { return m_method; }
  // True if the last solve was done by factorisation.
  bool last_was_direct() const { return m_last_was_direct; }

 private:
  LinearStatus choose_and_solve(const BlockMatrix& a, const MatX& rhs, double tolerance, MatX& x);
  LinearStatus solve_direct(const BlockMatrix& a, const MatX& rhs, MatX& x);
  LinearStatus solve_iterative(const BlockMatrix& a, const MatX& rhs, double tolerance, int limit, MatX& x);
  int affordable_iterations(Eigen::Index columns);
  Cholesky& cholesky();

  const BlockPattern* m_pattern;
  LinearMethod m_method;
  std::unique_ptr<Cholesky> m_cholesky;
  std::unique_ptr<ConjugateGradients> m_gradients;
  LinearCounts m_counts;
  LinearMemory m_memory;
  bool m_last_was_direct = false;
};

}  // namespace exemplar
