// Conjugate gradients with a 3×3 block-Jacobi preconditioner, with or without a coarse space added to it, for
// one or several right-hand sides at once (the matrix is read once for all). Vectors are gone through in
// chunks of fixed size whose sums are added in order: the same bits for any number of threads.
#pragma once

#include <vector>

#include "core/sparse/block_product.h"
#include "core/sparse/coarse_space.h"
#include "core/sparse/patch_matrix.h"
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
  // Solves A x = rhs column by column until ‖r‖ ≤ tolerance·‖rhs‖ for every column, in the norm of the block-
  // Jacobi preconditioner. `x` holds the start and, however it ends, the last iterate. `coarse`: null or
  // updated for this matrix. `patch`: null, or what is added to the matrix.
  CgResult solve(const BlockMatrix& a, const MatX& rhs, double tolerance, int max_iterations,
                 CoarseSpace* coarse, MatX& x, const PatchMatrix* patch = nullptr);

 private:
  template <int Count>
  CgResult solve_batch(const BlockMatrix& a, const Eigen::Ref<const MatX>& rhs, double tolerance,
                       int max_iterations, CoarseSpace* coarse, const PatchMatrix* patch, Eigen::Ref<MatX> x);
  template <int Count>
  void multiply(const BlockMatrix& a, const PatchMatrix* patch, const std::vector<double>& x,
                std::vector<double>& y);

  BlockProduct m_product;
  std::vector<Mat3> m_inverses;  // of the diagonal blocks
  // Interleaved vectors: entry (dof, k) at dof·count + k.
  std::vector<double> m_x, m_r, m_z, m_d, m_ad;
};

}  // namespace exemplar
