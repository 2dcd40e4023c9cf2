#include "core/sparse/scalar_cholesky.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/sparse/cholmod_factor.h"

namespace exemplar {

namespace {

constexpr Eigen::Index k_columns_at_once = 8;

}  // namespace

struct ScalarCholesky::Implementation {
  explicit Implementation(int size) : factor(size) {}

  cholmod_sparse view(bool with_values) const {
    const auto columns = static_cast<std::size_t>(lower.cols());
    return lower_triangle(static_cast<int>(columns), {lower.outerIndexPtr(), columns + 1},
                          {lower.innerIndexPtr(), static_cast<std::size_t>(lower.nonZeros())},
                          with_values ? lower.valuePtr() : nullptr);
  }

  bool factorise() {
    cholmod_sparse matrix = view(true);
    positive_definite = factor.factorise(matrix);
    blocks = positive_definite ? factor.triangular_blocks() : TriangularBlocks();
    return positive_definite;
  }

  // Columns [first, first + columns) of the solution, in rows of 4 or 8 numbers.
  template <class Matrix>
  void solve(const Matrix& rhs, Matrix& result, Eigen::Index first, Eigen::Index columns) const {
    const int width = columns <= 4 ? 4 : 8;
    const std::span<const int> unknown = factor.permutation();
    RowMatrix x = RowMatrix::Zero(static_cast<Eigen::Index>(unknown.size()), width);
    for (Eigen::Index k = 0; k < x.rows(); ++k)
      x.row(k).head(columns) = rhs.row(unknown[static_cast<std::size_t>(k)]).segment(first, columns);
    blocks.solve(x.data(), width);
    for (Eigen::Index k = 0; k < x.rows(); ++k)
      result.row(unknown[static_cast<std::size_t>(k)]).segment(first, columns) = x.row(k).head(columns);
  }

  // Which columns go together is fixed, so that the bits do not depend on the number of threads.
  template <class Matrix>
  void solve(const Matrix& rhs, Matrix& result) const {
    assert(positive_definite && rhs.rows() == lower.rows());
    const Eigen::Index chunks = (rhs.cols() + k_columns_at_once - 1) / k_columns_at_once;
    parallel_for(
        static_cast<std::size_t>(chunks),
        [&](std::size_t k) {
          const Eigen::Index first = static_cast<Eigen::Index>(k) * k_columns_at_once;
          solve(rhs, result, first, std::min(k_columns_at_once, rhs.cols() - first));
        },
        1);
  }

  SparseMatrix lower;
  CholmodFactor factor;
  TriangularBlocks blocks;
  bool positive_definite = false;
};

ScalarCholesky::ScalarCholesky(const SparseMatrix& a)
    : m_implementation(std::make_unique<Implementation>(static_cast<int>(a.cols()))) {
  assert(a.rows() == a.cols());
  m_implementation->lower = a.triangularView<Eigen::Lower>();
  m_implementation->lower.makeCompressed();
  cholmod_sparse pattern = m_implementation->view(false);
  std::vector<int> permutation = m_implementation->factor.ordering(pattern);
  m_implementation->factor.analyse(pattern, permutation);
  m_implementation->factorise();
}

ScalarCholesky::~ScalarCholesky() = default;
ScalarCholesky::ScalarCholesky(ScalarCholesky&&) noexcept = default;
ScalarCholesky& ScalarCholesky::operator=(ScalarCholesky&&) noexcept = default;

bool ScalarCholesky::factorise(const SparseMatrix& a) {
  SparseMatrix lower = a.triangularView<Eigen::Lower>();
  lower.makeCompressed();
  assert(lower.nonZeros() == m_implementation->lower.nonZeros() && "the pattern changed");
  m_implementation->lower = std::move(lower);
  return m_implementation->factorise();
}

bool ScalarCholesky::positive_definite() const {
  return m_implementation->positive_definite;
}

MatX ScalarCholesky::solve(const MatX& rhs) const {
  MatX result(rhs.rows(), rhs.cols());
  m_implementation->solve(rhs, result);
  return result;
}

void ScalarCholesky::solve_rows(RowMatrix& x) const {
  m_implementation->solve(std::as_const(x), x);
}

double ScalarCholesky::factor_entries() const {
  return m_implementation->factor.entries();
}

}  // namespace exemplar
