#include "core/sparse/block_product.h"

#include <algorithm>
#include <cassert>

#include "core/base/parallel.h"

namespace exemplar {

namespace {

constexpr int k_ranges = 8;

// y_rows += panel x_j and y_j += panelᵀ x_rows for one block column, with Count interleaved vectors.
template <int Count>
void add_column(const BlockPattern& pattern, const double* values, int column, const double* x, double* y) {
  const std::span<const int> rows = pattern.block_rows(column);
  const std::size_t stride = 3 * rows.size();
  const double* p0 = values + pattern.panel_offset(column);
  const double* p1 = p0 + stride;
  const double* p2 = p1 + stride;
  double xj[3 * Count], own[3 * Count];
  for (int k = 0; k < 3 * Count; ++k)
    xj[k] = x[static_cast<std::size_t>(column) * 3 * Count + static_cast<std::size_t>(k)];
  // The diagonal block is stored whole and must count once.
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < Count; ++k) {
      own[r * Count + k] = p0[r] * xj[k] + p1[r] * xj[Count + k] + p2[r] * xj[2 * Count + k];
    }
  }
  for (std::size_t b = 1; b < rows.size(); ++b) {
    const double* xi = x + static_cast<std::size_t>(rows[b]) * 3 * Count;
    double* yi = y + static_cast<std::size_t>(rows[b]) * 3 * Count;
    for (std::size_t r = 0; r < 3; ++r) {
      const double a0 = p0[3 * b + r], a1 = p1[3 * b + r], a2 = p2[3 * b + r];
      for (std::size_t k = 0; k < Count; ++k) {
        yi[r * Count + k] += a0 * xj[k] + a1 * xj[Count + k] + a2 * xj[2 * Count + k];
        own[k] += a0 * xi[r * Count + k];
        own[Count + k] += a1 * xi[r * Count + k];
        own[2 * Count + k] += a2 * xi[r * Count + k];
      }
    }
  }
  double* yj = y + static_cast<std::size_t>(column) * 3 * Count;
  for (int k = 0; k < 3 * Count; ++k) yj[k] += own[k];
}

}  // namespace

BlockProduct::BlockProduct(const BlockPattern& pattern) {
  // Few columns: one range, no buffers to sum. The number depends on the matrix only, never on the threads.
  const int ranges = pattern.columns() < 2000 ? 1 : k_ranges;
  const std::size_t blocks = pattern.value_count() / 9;
  m_range_start.push_back(0);
  std::size_t seen = 0;
  for (int j = 0; j < pattern.columns(); ++j) {
    seen += pattern.block_rows(j).size();
    if (seen * static_cast<std::size_t>(ranges) >= blocks * m_range_start.size() &&
        static_cast<int>(m_range_start.size()) < ranges) {
      m_range_start.push_back(j + 1);
    }
  }
  m_range_start.push_back(pattern.columns());
  for (std::size_t r = 0; r + 1 < m_range_start.size(); ++r) {
    int reach = m_range_start[r + 1];
    for (int j = m_range_start[r]; j < m_range_start[r + 1]; ++j) {
      reach = std::max(reach, pattern.block_rows(j).back() + 1);
    }
    m_range_reach.push_back(reach);
  }
  m_buffers.resize(m_range_reach.size());
}

template <int Count>
void BlockProduct::multiply_fixed(const BlockMatrix& a, const double* x, double* y) {
  const BlockPattern& pattern = a.pattern();
  const std::size_t size = static_cast<std::size_t>(pattern.dofs()) * Count;
  const std::size_t width = 3 * Count;
  parallel_for(
      m_buffers.size(),
      [&](std::size_t r) {
        std::vector<double>& buffer = m_buffers[r];
        buffer.resize(size);
        std::fill(
            buffer.begin() + static_cast<std::ptrdiff_t>(width * static_cast<std::size_t>(m_range_start[r])),
            buffer.begin() + static_cast<std::ptrdiff_t>(width * static_cast<std::size_t>(m_range_reach[r])),
            0.0);
        for (int j = m_range_start[r]; j < m_range_start[r + 1]; ++j) {
          add_column<Count>(pattern, a.values().data(), j, x, buffer.data());
        }
      },
      1);
  std::fill(y, y + size, 0.0);
  for (std::size_t r = 0; r < m_buffers.size(); ++r) {
    const std::size_t begin = width * static_cast<std::size_t>(m_range_start[r]);
    const std::size_t end = width * static_cast<std::size_t>(m_range_reach[r]);
    for (std::size_t i = begin; i < end; ++i) y[i] += m_buffers[r][i];
  }
}

void BlockProduct::multiply(const BlockMatrix& a, const double* x, double* y, int count) {
  switch (count) {
    case 1:
      return multiply_fixed<1>(a, x, y);
    case 2:
      return multiply_fixed<2>(a, x, y);
    case 3:
      return multiply_fixed<3>(a, x, y);
    case 4:
      return multiply_fixed<4>(a, x, y);
    default:
      assert(false && "one to four vectors at once");
  }
}

}  // namespace exemplar
