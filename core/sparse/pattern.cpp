#include "core/sparse/pattern.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/sparse/block_product.h"

namespace exemplar {

BlockPattern::BlockPattern(int columns, std::span<const int> cliques, int clique_size) : m_columns(columns) {
  const CliqueList list{cliques, clique_size};
  build({&list, 1});
}

BlockPattern::BlockPattern(int columns, std::span<const CliqueList> lists) : m_columns(columns) {
  build(lists);
}

void BlockPattern::build(std::span<const CliqueList> lists) {
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < m_columns; ++i) {
    keys.push_back((static_cast<std::uint64_t>(i) << 32) | static_cast<std::uint32_t>(i));
  }
  for (const CliqueList& list : lists) {
    for (std::size_t first = 0; first < list.nodes.size(); first += index(list.size)) {
      for (int a = 0; a < list.size; ++a) {
        for (int b = 0; b < a; ++b) {
          const int i = list.nodes[first + index(a)], j = list.nodes[first + index(b)];
          if (i < 0 || j < 0 || i == j) continue;
          keys.push_back((static_cast<std::uint64_t>(std::min(i, j)) << 32) |
                         static_cast<std::uint32_t>(std::max(i, j)));
        }
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (9 * keys.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InputError("the mesh is too large for one implicit solve (more than 2^31 matrix entries)");
  }
  m_block_start.assign(index(m_columns) + 1, 0);
  m_block_rows.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    ++m_block_start[(key >> 32) + 1];
    m_block_rows.push_back(static_cast<int>(key & 0xffffffffU));
  }
  for (std::size_t j = 0; j < index(m_columns); ++j) m_block_start[j + 1] += m_block_start[j];
  expand_to_scalars();
}

void BlockPattern::expand_to_scalars() {
  m_column_start.reserve(3 * index(m_columns) + 1);
  m_row_index.reserve(9 * m_block_rows.size());
  m_column_start.push_back(0);
  for (int j = 0; j < m_columns; ++j) {
    for (int c = 0; c < 3; ++c) {
      for (const int i : block_rows(j)) {
        for (int r = 0; r < 3; ++r) m_row_index.push_back(3 * i + r);
      }
      m_column_start.push_back(static_cast<int>(m_row_index.size()));
    }
  }
}

BlockSlot BlockPattern::slot(int row, int column) const {
  if (row < 0 || column < 0) return {};
  const int i = std::max(row, column), j = std::min(row, column);
  const std::span<const int> rows = block_rows(j);
  const auto found = std::lower_bound(rows.begin(), rows.end(), i);
  assert(found != rows.end() && *found == i && "block is not in the pattern");
  const auto offset = panel_offset(j) + 3 * static_cast<std::size_t>(found - rows.begin());
  const int stride = 3 * static_cast<int>(rows.size());
  return {static_cast<std::int32_t>(offset), row >= column ? stride : -stride};
}

std::vector<BlockSlot> BlockPattern::slots(std::span<const int> nodes) const {
  std::vector<BlockSlot> result;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) result.push_back(slot(nodes[a], nodes[b]));
  }
  return result;
}

void BlockMatrix::set_zero() {
  parallel_ranges(m_values.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
    std::fill(m_values.begin() + static_cast<std::ptrdiff_t>(begin),
              m_values.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  });
}

void BlockMatrix::add_scaled(const BlockMatrix& other, double factor) {
  assert(m_pattern == other.m_pattern);
  for (std::size_t i = 0; i < m_values.size(); ++i) m_values[i] += factor * other.m_values[i];
}

void BlockMatrix::add_to_diagonal(int column, double value) {
  const std::size_t stride = 3 * m_pattern->block_rows(column).size();
  double* at = m_values.data() + m_pattern->panel_offset(column);
  for (std::size_t c = 0; c < 3; ++c) at[c * stride + c] += value;
}

Mat3 BlockMatrix::diagonal_block(int column) const {
  const Eigen::Index stride = 3 * static_cast<Eigen::Index>(m_pattern->block_rows(column).size());
  return Eigen::Map<const Mat3, 0, Eigen::OuterStride<>>(m_values.data() + m_pattern->panel_offset(column),
                                                         Eigen::OuterStride<>(stride));
}

void BlockMatrix::multiply(const VecX& x, VecX& y) const {
  BlockProduct product(*m_pattern);
  y.resize(x.size());
  product.multiply(*this, x.data(), y.data(), 1);
}

MatX BlockMatrix::to_dense() const {
  const int n = m_pattern->dofs();
  MatX dense = MatX::Zero(n, n);
  for (int j = 0; j < n; ++j) {
    for (int k = m_pattern->column_start()[static_cast<std::size_t>(j)];
         k < m_pattern->column_start()[static_cast<std::size_t>(j) + 1]; ++k) {
      const int i = m_pattern->row_index()[static_cast<std::size_t>(k)];
      if (i < j) continue;
      dense(i, j) = dense(j, i) = m_values[static_cast<std::size_t>(k)];
    }
  }
  return dense;
}

}  // namespace exemplar
