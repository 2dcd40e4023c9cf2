// The coarse level of a two-level preconditioner for systems of elastic nodes: neighbouring nodes are grouped
// into aggregates, and the system is solved exactly on the rigid motions of the aggregates,
//   z += P (Pᵀ A P)⁻¹ Pᵀ r,   P_j = [I  −[ρ_j]×],  ρ_j = (x_j − centre of j's aggregate) / length,
// which are the smooth, soft motions that a diagonal preconditioner is blind to (stiff systems take a half to
// a sixth of the iterations). Positions are those of the present state, in metres.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/sparse/cholesky.h"
#include "core/sparse/patch_matrix.h"
#include "core/sparse/pattern.h"

namespace exemplar {

class CoarseSpace {
 public:
  // `left_out` (one per column; empty: none): columns that are no places in space and take no part.
  explicit CoarseSpace(const BlockPattern& pattern, std::span<const char> left_out = {});
  CoarseSpace(const CoarseSpace&) = delete;
  CoarseSpace& operator=(const CoarseSpace&) = delete;

  // Takes the matrix and the positions of its columns (one row each). False: the coarse matrix is not
  // positive definite. `patch`: null, or what is added to the matrix; aggregates that only it couples get a
  // system of their own, which depends on the patch alone and not on what came before.
  bool update(const BlockMatrix& a, const Points& positions, const PatchMatrix* patch = nullptr);
  // Adds the correction for `count` interleaved vectors (entry (dof, k) at dof·count + k).
  void add_correction(const double* r, double* z, int count);

  int aggregates() const { return m_aggregates; }
  // For estimates of cost: of the factor of Pᵀ A P without any patch.
  double factor_flops() const { return m_own.cholesky->factor_flops(); }
  double factor_entries() const { return m_own.cholesky->factor_entries(); }

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
  // The coarse matrix: two columns per aggregate, translation and rotation.
  struct System {
    std::unique_ptr<BlockPattern> pattern;
    BlockMatrix matrix;
    std::unique_ptr<Cholesky> cholesky;
  };
  using Block6 = Eigen::Matrix<double, 6, 6>;

  System make_system(std::span<const std::pair<int, int>> more) const;
  void select_system(const PatchMatrix& patch);
  void add_patch(const PatchMatrix& patch);
  void add(int row, int column, const Block6& block, System& system) const;
  Block6 term(const Mat3& block, int row, int column) const;
  void aggregate(const BlockPattern& pattern, std::span<const char> left_out);
  void find_pairs(const BlockPattern& pattern);
  void place_nodes(const Points& positions);
  Block6 restricted(const BlockMatrix& a, const Pair& pair) const;

  int m_aggregates = 0;
  std::vector<int> m_aggregate_of;  // per fine column; −1: left out
  std::vector<int> m_members, m_member_start;
  std::vector<FineBlock> m_blocks;
  std::vector<Pair> m_pairs;
  System m_own, m_patched;
  std::vector<std::pair<int, int>> m_linked;  // pairs of aggregates that m_patched has besides m_own's
  System* m_active = &m_own;                  // of the last update
  std::vector<Vec3> m_arms;                   // ρ_j
};

}  // namespace exemplar
