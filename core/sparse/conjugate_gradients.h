// Conjugate gradients with a 3×3 block-Jacobi preconditioner for one or several right-hand sides at once (the
// matrix is read once for all). Reductions are in a fixed order: the same bits for any number of threads.
#pragma once

#include "core/sparse/block_product.h"
#include "core/sparse/pattern.h"

namespace exemplar {

struct CgResult {
  bool converged = false;
  bool negative_curvature =
      false;  // a direction with dᵀAd ≤ 0 or a diagonal block that is not positive definite
  int iterations = 0;
};

class ConjugateGradients {
 public:
  explicit ConjugateGradients(const BlockPattern& pattern) : m_product(pattern) {}
  // Solves A x = rhs column by column until ‖r‖ ≤ tolerance·‖rhs‖ for every column, in the norm of the
  // preconditioner. `x` holds the start.
  CgResult solve(const BlockMatrix& a, const MatX& rhs, double tolerance, int max_iterations, MatX& x);

 private:
  BlockProduct m_product;
};

}  // namespace exemplar
