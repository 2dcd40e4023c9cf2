#include "core/sparse/patch_matrix.h"

#include <algorithm>
#include <cassert>

#include "core/base/index.h"

namespace exemplar {

PatchMatrix::PatchMatrix(std::span<const int> cliques, int clique_size) {
  for (const int column : cliques) {
    if (column >= 0) m_columns.push_back(column);
  }
  std::sort(m_columns.begin(), m_columns.end());
  m_columns.erase(std::unique(m_columns.begin(), m_columns.end()), m_columns.end());
  if (m_columns.empty()) return;
  std::vector<int> own;
  own.reserve(cliques.size());
  for (const int column : cliques) own.push_back(column < 0 ? -1 : local(column));
  m_pattern = std::make_shared<const BlockPattern>(to_int(m_columns.size()), own, clique_size);
  m_matrix = BlockMatrix(*m_pattern);
}

int PatchMatrix::local(int column) const {
  const auto found = std::lower_bound(m_columns.begin(), m_columns.end(), column);
  assert(found != m_columns.end() && *found == column);
  return to_int(found - m_columns.begin());
}

bool PatchMatrix::same_blocks(const PatchMatrix& other) const {
  if (m_columns != other.m_columns) return false;
  return m_columns.empty() || std::ranges::equal(m_pattern->row_index(), other.m_pattern->row_index());
}

void PatchMatrix::add(int row, int column, const Mat3& block) {
  m_matrix.add(m_pattern->slot(local(row), local(column)), block);
}

void PatchMatrix::clear_masked(std::span<const char> masked) {
  if (empty()) return;
  const std::span<const int> start = m_pattern->column_start(), rows = m_pattern->row_index();
  const auto is_masked = [&](int own) {
    return masked[to_size(3 * m_columns[to_size(own / 3)] + own % 3)] != 0;
  };
  for (int j = 0; j < m_pattern->dofs(); ++j) {
    for (int k = start[to_size(j)]; k < start[to_size(j) + 1]; ++k) {
      if (is_masked(j) || is_masked(rows[to_size(k)])) m_matrix.values()[to_size(k)] = 0;
    }
  }
}

void PatchMatrix::add_product(const double* x, double* y, int count) const {
  const std::size_t width = 3 * to_size(count);
  for_blocks([&](int row, int column, const Mat3& block) {
    const double *xi = x + width * to_size(row), *xj = x + width * to_size(column);
    double *yi = y + width * to_size(row), *yj = y + width * to_size(column);
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < count; ++k) {
          yi[r * count + k] += block(r, c) * xj[c * count + k];
          if (row != column) yj[c * count + k] += block(r, c) * xi[r * count + k];
        }
      }
    }
  });
}

}  // namespace exemplar
