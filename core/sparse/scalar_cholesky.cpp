#include "core/sparse/scalar_cholesky.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/sparse/cholmod_factor.h"

namespace exemplar {

namespace {

// Columns that are solved at once. A pass over the factor costs nearly the same with 4 columns as with 8. A large factor
// is read by several threads, 8 columns each; a small one is quicker in a single pass than in two that wait for each
// other.
constexpr Eigen::Index k_columns_of_large = 8, k_columns_of_small = 12;
constexpr double k_small_factor = 5e5;  // entries: 4 MB

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

  // Columns [first, first + columns) of the solution, in rows of 4, 8 or 12 numbers.
  template <class Matrix>
  void solve(const Matrix& rhs, Matrix& result, Eigen::Index first, Eigen::Index columns) const {
    const int width = columns <= 4 ? 4 : columns <= 8 ? 8 : 12;
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
    const Eigen::Index at_once = factor.entries() < k_small_factor ? k_columns_of_small : k_columns_of_large;
    const Eigen::Index chunks = (rhs.cols() + at_once - 1) / at_once;
    parallel_for(
        static_cast<std::size_t>(chunks),
        [&](std::size_t k) {
          const Eigen::Index first = static_cast<Eigen::Index>(k) * at_once;
          solve(rhs, result, first, std::min(at_once, rhs.cols() - first));
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
  m_implementation->lower.swap(lower);
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
