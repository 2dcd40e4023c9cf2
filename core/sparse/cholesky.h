// Sparse Cholesky factorisation of a BlockMatrix by CHOLMOD: one symbolic analysis per pattern, any number of
// numeric factorisations. The fill-reducing ordering is found on the graph of nodes (a third of the unknowns)
// and expanded: AMD below ~5 k degrees of freedom, METIS above; simplicial below ~1.5 k, supernodal above.
#pragma once

#include <memory>

#include "core/sparse/pattern.h"

namespace exemplar {

// OpenBLAS rounds differently with another number of threads, so this is a setting of its own (default 1).
void set_blas_threads(int threads);

class Cholesky {
 public:
  explicit Cholesky(const BlockPattern& pattern);
  ~Cholesky();
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;

  // False if the matrix is not positive definite (or not finite).
  bool factorise(const BlockMatrix& a);
  // Solves for all columns of `rhs` with the last factor.
  MatX solve(const MatX& rhs);

  double factor_flops() const;    // of one numeric factorisation
  double factor_entries() const;  // non-zeros of the factor
  double memory_bytes() const;    // of the factor
  bool supernodal() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace exemplar
