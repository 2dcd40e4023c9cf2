// What the two Cholesky classes of this room share: CHOLMOD's workspace, one symbolic analysis with a given
// fill-reducing ordering, numeric factorisations and solves. Includes cholmod.h: for sources of core/sparse only.
#pragma once

#include <cholmod.h>

#include <memory>
#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

// A view of the lower triangle in compressed columns, rows ascending; CHOLMOD does not write to its input.
// `values` may be null (pattern only).
cholmod_sparse lower_triangle(int size, std::span<const int> column_start, std::span<const int> row_index,
                              const double* values);

class CholmodFactor {
 public:
  // `unknowns` decides between the orderings and between simplicial and supernodal factors.
  explicit CholmodFactor(int unknowns);
  ~CholmodFactor();
  CholmodFactor(const CholmodFactor&) = delete;
  CholmodFactor& operator=(const CholmodFactor&) = delete;

  // AMD below ~5 k unknowns, METIS above. The graph may be smaller than the matrix (one vertex per node).
  std::vector<int> ordering(cholmod_sparse& graph);
  void analyse(cholmod_sparse& pattern, std::vector<int>& permutation);
  // False if the matrix is not positive definite (or not finite).
  bool factorise(cholmod_sparse& matrix);
  MatX solve(const MatX& rhs);
  // The same for many columns, a few at a time on several threads. Which columns go together is fixed, so that the
  // bits do not depend on the number of threads (BLAS rounds differently for another number of columns).
  MatX solve_in_parallel(const MatX& rhs);

  double flops() const { return m_flops; }
  double entries() const { return m_entries; }
  double memory_bytes() const { return static_cast<double>(m_own.common.memory_usage); }
  bool supernodal() const { return m_factor->is_super != 0; }

 private:
  // What one thread writes to in cholmod_solve2; kept between calls.
  struct Workspace {
    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    cholmod_common common{};
    cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
  };
  void solve(const double* rhs, double* result, Eigen::Index columns, Workspace& workspace) const;

  int m_unknowns;
  Workspace m_own;
  std::vector<std::unique_ptr<Workspace>> m_others;  // of solve_in_parallel
  cholmod_factor* m_factor = nullptr;
  double m_flops = 0;
  double m_entries = 0;
};

}  // namespace exemplar
