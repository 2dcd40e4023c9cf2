// Factorisation of a matrix on a fixed pattern plus a patch: the union of both patterns is analysed anew whenever
// other blocks come in the patch. It depends on the two patterns alone, not on what was solved before, so that a
// resumed run has the same bits.
#pragma once

#include "core/sparse/cholesky.h"
#include "core/sparse/patch_matrix.h"

namespace exemplar {

class PatchedCholesky {
 public:
  PatchedCholesky(const BlockPattern& pattern, const PatchMatrix& patch);
  PatchedCholesky(const PatchedCholesky&) = delete;
  PatchedCholesky& operator=(const PatchedCholesky&) = delete;

  // Whether this was analysed for a patch with the same blocks.
  bool fits(const PatchMatrix& patch) const { return m_patch.same_blocks(patch); }
  // False if the sum is not positive definite.
  bool factorise(const BlockMatrix& a, const PatchMatrix& patch);
  MatX solve(const MatX& rhs) { return m_cholesky.solve(rhs); }

 private:
  PatchMatrix m_patch;
  BlockPattern m_pattern;  // of the union
  BlockMatrix m_matrix;
  Cholesky m_cholesky;
};

}  // namespace exemplar
