// Sparse Cholesky factorisation of a symmetric positive definite scalar matrix by CHOLMOD: one symbolic
// analysis per pattern, any number of numeric factorisations, many right-hand sides at once. The 3×3-block
// matrices of elasticity have their own class (cholesky.h), whose ordering works on nodes.
#pragma once

#include <Eigen/SparseCore>
#include <memory>

#include "core/math/types.h"

namespace exemplar {

using SparseMatrix = Eigen::SparseMatrix<double>;  // compressed columns, 32-bit indices
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class ScalarCholesky {
 public:
  // Analyses and factorises; only the lower triangle is read.
  explicit ScalarCholesky(const SparseMatrix& a);
  ~ScalarCholesky();
  ScalarCholesky(ScalarCholesky&&) noexcept;
  ScalarCholesky& operator=(ScalarCholesky&&) noexcept;

  // A matrix with the same pattern (explicit zeros included) as the first. False if it is not positive
  // definite (or not finite).
  bool factorise(const SparseMatrix& a);
  bool positive_definite() const;  // of the last factorisation

  // Solves for all columns of `rhs` with the last factor, on several threads; not from several threads at once.
  MatX solve(const MatX& rhs) const;
  // The same with rows in one stretch of memory, in place: less to gather and scatter. The same bits.
  void solve_rows(RowMatrix& x) const;

  double factor_entries() const;  // non-zeros of the factor

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar
