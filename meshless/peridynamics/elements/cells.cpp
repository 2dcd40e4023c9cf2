#include "meshless/peridynamics/elements/cells.h"

#include <numeric>

namespace exemplar::peridynamics {

std::vector<int> Cells::all_of(Eigen::Index count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::size_t Cells::cell_of(const double* point) const {
  std::array<std::size_t, 3> c;
  for (int a = 0; a < 3; ++a) {
    const int cell = static_cast<int>((point[a] - m_origin[a]) * m_inverse_size);
    c[a] = static_cast<std::size_t>(std::clamp(cell, 0, m_count[a] - 1));
  }
  return (c[2] * m_count[1] + c[1]) * m_count[0] + c[0];
}

Cells::Cells(const double* data, std::size_t stride, std::span<const int> chosen, double radius) {
  Vec3 low = Vec3::Zero();
  Vec3 high = Vec3::Zero();
  if (!chosen.empty()) low = high = Eigen::Map<const Vec3>(data + chosen[0] * stride);
  for (const int p : chosen) {
    const Eigen::Map<const Vec3> point(data + p * stride);
    low = low.cwiseMin(point);
    high = high.cwiseMax(point);
  }
  const double max_cells = 4.0 * static_cast<double>(chosen.size()) + 64;
  double size = radius * (1 + 1e-6);  // a pair exactly a radius apart is never two cells apart
  const auto cells_along = [&](int a) { return std::floor((high[a] - low[a]) / size) + 1; };
  while (cells_along(0) * cells_along(1) * cells_along(2) > max_cells) size *= 1.26;
  m_origin = low;
  m_inverse_size = 1 / size;
  for (int a = 0; a < 3; ++a) m_count[a] = static_cast<int>(cells_along(a));

  m_begin.assign(static_cast<std::size_t>(m_count[0]) * m_count[1] * m_count[2] + 1, 0);
  for (const int p : chosen) ++m_begin[cell_of(data + p * stride) + 1];
  std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
  m_sorted.resize(chosen.size());
  std::vector<std::size_t> next(m_begin.begin(), m_begin.end() - 1);
  for (const int p : chosen) m_sorted[next[cell_of(data + p * stride)]++] = p;
}

}  // namespace exemplar::peridynamics
