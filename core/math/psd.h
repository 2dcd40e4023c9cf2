// Projection of a small symmetric matrix to the nearest positive semi-definite one (eigenvalues below `floor`
// are raised to it). For matrices of fixed or dynamic size.
#pragma once

#include <Eigen/Eigenvalues>

#include "core/math/types.h"

namespace exemplar {

template <class Derived>
typename Derived::PlainObject project_psd(const Eigen::MatrixBase<Derived>& matrix, double floor = 0) {
  using Matrix = typename Derived::PlainObject;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(matrix);
  if (eigen.eigenvalues().minCoeff() >= floor) return matrix;
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(floor).asDiagonal() *
         eigen.eigenvectors().transpose();
}

// Replaces every eigenvalue by its absolute value, but at least `relative_floor` times the largest: what
// turns an indefinite reduced Hessian into one whose Newton step descends.
template <class Derived>
typename Derived::PlainObject make_positive(const Eigen::MatrixBase<Derived>& matrix, double relative_floor) {
  using Matrix = typename Derived::PlainObject;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(matrix);
  const auto magnitudes = eigen.eigenvalues().cwiseAbs().eval();
  const double floor = std::max(relative_floor * magnitudes.maxCoeff(), 1e-300);
  if (eigen.eigenvalues().minCoeff() >= floor) return matrix;
  return eigen.eigenvectors() * magnitudes.cwiseMax(floor).asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace exemplar
