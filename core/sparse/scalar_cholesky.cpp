#include "core/sparse/scalar_cholesky.h"

#include <cassert>
#include <vector>

#include "core/sparse/cholmod_factor.h"

namespace exemplar {

struct ScalarCholesky::Implementation {
  explicit Implementation(int size) : factor(size) {}

  cholmod_sparse view(bool with_values) const {
    const auto columns = static_cast<std::size_t>(lower.cols());
    return lower_triangle(static_cast<int>(columns), {lower.outerIndexPtr(), columns + 1},
                          {lower.innerIndexPtr(), static_cast<std::size_t>(lower.nonZeros())},
                          with_values ? lower.valuePtr() : nullptr);
  }

  SparseMatrix lower;
  CholmodFactor factor;
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
  cholmod_sparse matrix = m_implementation->view(true);
  m_implementation->positive_definite = m_implementation->factor.factorise(matrix);
}

ScalarCholesky::~ScalarCholesky() = default;
ScalarCholesky::ScalarCholesky(ScalarCholesky&&) noexcept = default;
ScalarCholesky& ScalarCholesky::operator=(ScalarCholesky&&) noexcept = default;

bool ScalarCholesky::factorise(const SparseMatrix& a) {
  SparseMatrix lower = a.triangularView<Eigen::Lower>();
  lower.makeCompressed();
  assert(lower.nonZeros() == m_implementation->lower.nonZeros() && "the pattern changed");
  m_implementation->lower = std::move(lower);
  cholmod_sparse matrix = m_implementation->view(true);
  m_implementation->positive_definite = m_implementation->factor.factorise(matrix);
  return m_implementation->positive_definite;
}

bool ScalarCholesky::positive_definite() const {
  return m_implementation->positive_definite;
}

MatX ScalarCholesky::solve(const MatX& rhs) const {
  assert(m_implementation->positive_definite && rhs.rows() == m_implementation->lower.rows());
  return m_implementation->factor.solve_in_parallel(rhs);
}

double ScalarCholesky::factor_entries() const {
  return m_implementation->factor.entries();
}

}  // namespace exemplar
