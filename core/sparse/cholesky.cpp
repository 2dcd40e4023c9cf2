#include "core/sparse/cholesky.h"

#include <cblas.h>

#include <cassert>
#include <vector>

#include "core/sparse/cholmod_factor.h"

namespace exemplar {

void set_blas_threads(int threads) {
  openblas_set_num_threads(threads > 0 ? threads : 1);
}

struct Cholesky::Implementation {
  explicit Implementation(const BlockPattern& block_pattern)
      : pattern(&block_pattern), factor(block_pattern.dofs()) {
    analyse();
  }

  cholmod_sparse view(const double* values) const {
    return lower_triangle(pattern->dofs(), pattern->column_start(), pattern->row_index(), values);
  }

  std::vector<int> node_ordering() {
    const int n = pattern->columns();
    std::vector<int> start{0}, rows;
    for (int j = 0; j < n; ++j) {
      const auto column = pattern->block_rows(j);
      rows.insert(rows.end(), column.begin(), column.end());
      start.push_back(static_cast<int>(rows.size()));
    }
    cholmod_sparse graph = lower_triangle(n, start, rows, nullptr);
    return factor.ordering(graph);
  }

  void analyse() {
    std::vector<int> permutation;
    permutation.reserve(static_cast<std::size_t>(pattern->dofs()));
    for (const int node : node_ordering()) {
      for (int c = 0; c < 3; ++c) permutation.push_back(3 * node + c);
    }
    cholmod_sparse a = view(nullptr);
    factor.analyse(a, permutation);
  }

  const BlockPattern* pattern;
  CholmodFactor factor;
};

Cholesky::Cholesky(const BlockPattern& pattern)
    : m_implementation(std::make_unique<Implementation>(pattern)) {}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

bool Cholesky::factorise(const BlockMatrix& a) {
  assert(&a.pattern() == m_implementation->pattern);
  cholmod_sparse view = m_implementation->view(a.values().data());
  return m_implementation->factor.factorise(view);
}

MatX Cholesky::solve(const MatX& rhs) {
  return m_implementation->factor.solve(rhs);
}

double Cholesky::factor_flops() const {
  return m_implementation->factor.flops();
}
double Cholesky::factor_entries() const {
  return m_implementation->factor.entries();
}
double Cholesky::memory_bytes() const {
  return m_implementation->factor.memory_bytes();
}
bool Cholesky::supernodal() const {
  return m_implementation->factor.supernodal();
}

}  // namespace exemplar
