// The coarse level of a two-level preconditioner for systems of elastic nodes: neighbouring nodes are grouped
// into aggregates, and the system is solved exactly on the rigid motions of the aggregates,
//   z += P (Pᵀ A P)⁻¹ Pᵀ r,   P_j = [I  −[ρ_j]×],  ρ_j = (x_j − centre of j's aggregate) / length,
// which are the smooth, soft motions that a diagonal preconditioner is blind to (stiff systems take a half to
// a sixth of the iterations). Positions are those of the present state, in metres.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/sparse/cholesky.h"
#include "core/sparse/pattern.h"

namespace exemplar {

class CoarseSpace {
 public:
  // `left_out` (one per column; empty: none): columns that are no places in space and take no part.
  explicit CoarseSpace(const BlockPattern& pattern, std::span<const char> left_out = {});

  // Takes the matrix and the positions of its columns (one row each). False: the coarse matrix is not
  // positive definite.
  bool update(const BlockMatrix& a, const Points& positions);
  // Adds the correction for `count` interleaved vectors (entry (dof, k) at dof·count + k).
  void add_correction(const double* r, double* z, int count);

  int aggregates() const { return m_aggregates; }
  // For estimates of cost: of the factor of Pᵀ A P.
  double factor_flops() const { return m_cholesky->factor_flops(); }
  double factor_entries() const { return m_cholesky->factor_entries(); }

 private:
  // A fine block and which nodes it belongs to.
  struct FineBlock {
    int row, column;
    BlockSlot slot;
  };
  // All fine blocks between two aggregates (row ≥ column).
  struct Pair {
    int row, column;
    std::size_t begin, end;  // of m_blocks
  };
  void aggregate(const BlockPattern& pattern, std::span<const char> left_out);
  void find_pairs(const BlockPattern& pattern);
  void place_nodes(const Points& positions);
  Eigen::Matrix<double, 6, 6> restricted(const BlockMatrix& a, const Pair& pair) const;

  int m_aggregates = 0;
  std::vector<int> m_aggregate_of;  // per fine column; −1: left out
  std::vector<int> m_members, m_member_start;
  std::vector<FineBlock> m_blocks;
  std::vector<Pair> m_pairs;
  std::unique_ptr<BlockPattern> m_pattern;  // two columns per aggregate: translation and rotation
  BlockMatrix m_matrix;
  std::unique_ptr<Cholesky> m_cholesky;
  std::vector<Vec3> m_arms;  // ρ_j
};

}  // namespace exemplar
