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
    : m(std::make_unique<Implementation>(static_cast<int>(a.cols()))) {
  assert(a.rows() == a.cols());
  m->lower = a.triangularView<Eigen::Lower>();
  m->lower.makeCompressed();
  cholmod_sparse pattern = m->view(false);
  std::vector<int> permutation = m->factor.ordering(pattern);
  m->factor.analyse(pattern, permutation);
  cholmod_sparse matrix = m->view(true);
  m->positive_definite = m->factor.factorise(matrix);
}

ScalarCholesky::~ScalarCholesky() = default;
ScalarCholesky::ScalarCholesky(ScalarCholesky&&) noexcept = default;
ScalarCholesky& ScalarCholesky::operator=(ScalarCholesky&&) noexcept = default;

bool ScalarCholesky::factorise(const SparseMatrix& a) {
  SparseMatrix lower = a.triangularView<Eigen::Lower>();
  lower.makeCompressed();
  assert(lower.nonZeros() == m->lower.nonZeros() && "the pattern changed");
  m->lower = std::move(lower);
  cholmod_sparse matrix = m->view(true);
  m->positive_definite = m->factor.factorise(matrix);
  return m->positive_definite;
}

bool ScalarCholesky::positive_definite() const {
  return m->positive_definite;
}

MatX ScalarCholesky::solve(const MatX& rhs) const {
  assert(m->positive_definite && rhs.rows() == m->lower.rows());
  return m->factor.solve_in_parallel(rhs);
}

double ScalarCholesky::factor_entries() const {
  return m->factor.entries();
}

}  // namespace exemplar
