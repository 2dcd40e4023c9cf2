#include "core/sparse/patched_cholesky.h"

#include <vector>

#include "core/base/index.h"

namespace exemplar {

namespace {

BlockPattern united(const BlockPattern& pattern, const PatchMatrix& patch) {
  std::vector<int> pairs;
  pairs.reserve(2 * (pattern.value_count() + patch.pattern().value_count()) / 9);
  for (int j = 0; j < pattern.columns(); ++j) {
    for (const int i : pattern.block_rows(j)) pairs.insert(pairs.end(), {i, j});
  }
  patch.for_blocks([&](int row, int column, const Mat3&) { pairs.insert(pairs.end(), {row, column}); });
  return {pattern.columns(), pairs, 2};
}

}  // namespace

PatchedCholesky::PatchedCholesky(const BlockPattern& pattern, const PatchMatrix& patch)
    : m_patch(patch), m_pattern(united(pattern, patch)), m_matrix(m_pattern), m_cholesky(m_pattern) {}

bool PatchedCholesky::factorise(const BlockMatrix& a, const PatchMatrix& patch) {
  const BlockPattern& fixed = a.pattern();
  m_matrix.set_zero();
  for (int j = 0; j < fixed.columns(); ++j) {
    const std::span<const int> rows = fixed.block_rows(j);
    const Eigen::Index stride = 3 * to_row(rows.size());
    const double* panel = a.values().data() + fixed.panel_offset(j);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Mat3 block =
          Eigen::Map<const Mat3, 0, Eigen::OuterStride<>>(panel + 3 * k, Eigen::OuterStride<>(stride));
      m_matrix.add(m_pattern.slot(rows[k], j), block);
    }
  }
  patch.for_blocks(
      [&](int row, int column, const Mat3& block) { m_matrix.add(m_pattern.slot(row, column), block); });
  return m_cholesky.factorise(m_matrix);
}

}  // namespace exemplar
