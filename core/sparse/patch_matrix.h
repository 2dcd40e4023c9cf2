// A symmetric matrix of 3×3 blocks over a few columns of a larger system: what changes from one Newton iteration
// to the next (contact of bodies with each other fills blocks that the fixed pattern does not have). It is made
// anew each time; the linear solver takes it beside the fixed matrix. Without such blocks it is empty and costs
// nothing. Columns are those of the whole system.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/sparse/pattern.h"

namespace exemplar {

class PatchMatrix {
 public:
  PatchMatrix() = default;
  // `cliques`: columns that interact, in groups of `clique_size`; entries −1 are skipped.
  PatchMatrix(std::span<const int> cliques, int clique_size);

  bool empty() const { return m_columns.empty(); }
  // Ascending; block (i, j) of the own pattern is block (columns[i], columns[j]) of the system.
  std::span<const int> columns() const { return m_columns; }
  const BlockPattern& pattern() const { return *m_pattern; }
  const BlockMatrix& matrix() const { return m_matrix; }
  // The same blocks of the system are there, whatever their values.
  bool same_blocks(const PatchMatrix& other) const;

  // Adds to block (row, column), which must be among the cliques.
  void add(int row, int column, const Mat3& block);
  // Rows and columns that are marked (one mark per coordinate of the system) become zero.
  void clear_masked(std::span<const char> masked);

  // y += P x for `count` interleaved vectors (entry (dof, k) at dof·count + k).
  void add_product(const double* x, double* y, int count) const;
  // Calls visit(row, column, block) for every block of the stored lower triangle, in order.
  template <class Visit>
  void for_blocks(const Visit& visit) const;

 private:
  int local(int column) const;

  std::vector<int> m_columns;
  std::shared_ptr<const BlockPattern> m_pattern;
  BlockMatrix m_matrix;
};

template <class Visit>
void PatchMatrix::for_blocks(const Visit& visit) const {
  for (std::size_t j = 0; j < m_columns.size(); ++j) {
    const std::span<const int> rows = m_pattern->block_rows(static_cast<int>(j));
    const Eigen::Index stride = 3 * static_cast<Eigen::Index>(rows.size());
    const double* panel = m_matrix.values().data() + m_pattern->panel_offset(static_cast<int>(j));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Mat3 block =
          Eigen::Map<const Mat3, 0, Eigen::OuterStride<>>(panel + 3 * k, Eigen::OuterStride<>(stride));
      visit(m_columns[static_cast<std::size_t>(rows[k])], m_columns[j], block);
    }
  }
}

}  // namespace exemplar
