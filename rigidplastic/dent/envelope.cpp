#include "rigidplastic/dent/envelope.h"

#include <algorithm>
#include <cmath>

namespace exemplar::dent {

namespace {

constexpr double k_none = -std::numeric_limits<double>::infinity();
constexpr int k_columns_at_once = 16;  // two cache lines of doubles

// Upper envelope of the parabolas f_q − c (x − q)² over the integers 0 … n−1, in place.
class LineTransform {
 public:
  LineTransform(int n, double c)
      : m_c(c),
        m_apex(static_cast<std::size_t>(n)),
        m_from(static_cast<std::size_t>(n)),
        m_height(static_cast<std::size_t>(n)),
        m_steepness(static_cast<std::size_t>(n)) {
    for (int d = 1; d < n; ++d) m_steepness[static_cast<std::size_t>(d)] = 1 / (2 * c * d);
  }

  void operator()(double* f, int n) {
    const int count = find_envelope(f, n);
    int x = 0;
    for (int k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const int end = k + 1 < count ? static_cast<int>(std::clamp(m_from[at + 1] + 1, 0.0, 1.0 * n)) : n;
      const double apex = m_apex[at], height = m_height[at];
      for (; x < end; ++x) f[x] = height - m_c * (x - apex) * (x - apex);
    }
  }

 private:
  // Parabola k is the highest one from m_from[k] on, up to where the next one takes over.
  int find_envelope(const double* f, int n) {
    int count = 0;
    for (int q = 0; q < n; ++q) {
      if (f[q] == k_none) continue;
      double from = k_none;
      for (; count > 0; --count) {
        const std::size_t last = static_cast<std::size_t>(count - 1);
        const int apex = m_apex[last];
        from = 0.5 * (q + apex) - (f[q] - m_height[last]) * m_steepness[static_cast<std::size_t>(q - apex)];
        if (from > m_from[last]) break;
      }
      const std::size_t next = static_cast<std::size_t>(count++);
      m_apex[next] = q;
      m_height[next] = f[q];
      m_from[next] = next == 0 ? k_none : from;
    }
    return count;
  }

  double m_c;
  std::vector<int> m_apex;
  std::vector<double> m_from, m_height;
  std::vector<double> m_steepness;  // 1/(2 c d): a division in every comparison took half of the time
};

// Columns are copied into lines, some at a time, so that memory is read in its own order; logarithms become depths
// again on the way back.
void transform_columns(DepthGrid& grid, double c) {
  LineTransform transform(grid.rows, c);
  const std::size_t rows = static_cast<std::size_t>(grid.rows);
  std::vector<double> lines(rows * k_columns_at_once);
  for (int first = 0; first < grid.columns; first += k_columns_at_once) {
    const int count = std::min(k_columns_at_once, grid.columns - first);
    for (std::size_t j = 0; j < rows; ++j) {
      const double* from = &grid.at(first, static_cast<int>(j));
      for (int i = 0; i < count; ++i) lines[static_cast<std::size_t>(i) * rows + j] = from[i];
    }
    for (int i = 0; i < count; ++i) transform(&lines[static_cast<std::size_t>(i) * rows], grid.rows);
    for (double& z : lines) z = z == k_none ? 0 : std::exp(z);
    for (std::size_t j = 0; j < rows; ++j) {
      double* to = &grid.at(first, static_cast<int>(j));
      for (int i = 0; i < count; ++i) to[i] = lines[static_cast<std::size_t>(i) * rows + j];
    }
  }
}

}  // namespace

void broaden(DepthGrid& grid, double width) {
  if (width <= 0 || grid.depth.empty()) return;
  const double c = 0.5 * grid.spacing * grid.spacing / (width * width);  // per cell
  LineTransform along_row(grid.columns, c);
  for (int j = 0; j < grid.rows; ++j) {
    double* row = &grid.at(0, j);
    for (int i = 0; i < grid.columns; ++i) row[i] = row[i] > 0 ? std::log(row[i]) : k_none;
    along_row(row, grid.columns);
  }
  transform_columns(grid, c);
}

}  // namespace exemplar::dent
