// What the two Cholesky classes of this room share: CHOLMOD's workspace, one symbolic analysis with a given
// fill-reducing ordering, numeric factorisations and solves. Includes cholmod.h: for sources of core/sparse only.
#pragma once

#include <cholmod.h>

#include <memory>
#include <span>
#include <vector>

#include "core/math/types.h"
#include "core/sparse/triangular_blocks.h"

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
  // The factor of the last factorisation for many solves, and the order of its rows: row k is unknown permutation()[k].
  TriangularBlocks triangular_blocks();
  std::span<const int> permutation() const {
    return {static_cast<const int*>(m_factor->Perm), static_cast<std::size_t>(m_unknowns)};
  }

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
  int m_unknowns;
  Workspace m_own;
  cholmod_factor* m_factor = nullptr;
  double m_flops = 0;
  double m_entries = 0;
};

}  // namespace exemplar
