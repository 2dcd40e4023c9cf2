#include "core/sparse/triangular_blocks.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace exemplar {

namespace {

constexpr int k_columns =
    4;  // of a block: with rows of 8 (12) numbers, eight (twelve) of the sixteen vector registers

template <int Width>
using Row = Eigen::Array<double, Width, 1>;

// One block's own square and what lies below it; `x` begins at the vector's first row, `own` at the block's.
template <int Columns, int Width>
struct Kernel {
  using Rows = std::array<Row<Width>, Columns>;

  static Rows read(const double* own) {
    Rows rows;
    for (int k = 0; k < Columns; ++k) rows[k] = Eigen::Map<const Row<Width>>(own + k * Width);
    return rows;
  }
  static void write(const Rows& rows, double* own) {
    for (int k = 0; k < Columns; ++k) Eigen::Map<Row<Width>>(own + k * Width) = rows[k];
  }

  // L y = x.
  static void forward(const double* triangle, const double* inverse, std::span<const int> below,
                      const double* values, double* x, double* own) {
    Rows y = read(own);
    for (int k = 0; k < Columns; ++k) {
      for (int m = 0; m < k; ++m) y[k] -= triangle[k * Columns + m] * y[m];
      y[k] *= inverse[k];
    }
    write(y, own);
    for (const int row : below) {
      Eigen::Map<Row<Width>> target(x + static_cast<std::ptrdiff_t>(row) * Width);
      Row<Width> sum = target;
      for (int k = 0; k < Columns; ++k) sum -= values[k] * y[k];
      target = sum;
      values += Columns;
    }
  }

  // Lᵀ y = x.
  static void backward(const double* triangle, const double* inverse, std::span<const int> below,
                       const double* values, const double* x, double* own) {
    Rows y = read(own);
    for (const int row : below) {
      const Row<Width> from = Eigen::Map<const Row<Width>>(x + static_cast<std::ptrdiff_t>(row) * Width);
      for (int k = 0; k < Columns; ++k) y[k] -= values[k] * from;
      values += Columns;
    }
    for (int k = Columns - 1; k >= 0; --k) {
      for (int m = k + 1; m < Columns; ++m) y[k] -= triangle[m * Columns + k] * y[m];
      y[k] *= inverse[k];
    }
    write(y, own);
  }
};

// Whether columns j, j + 1, … below each other's diagonals are one block.
bool share_rows(std::span<const int> start, std::span<const int> count, std::span<const int> row, int j) {
  for (int k = 1; k < k_columns; ++k) {
    const auto a = static_cast<std::size_t>(j + k - 1), b = a + 1;
    if (b >= start.size() || count[a] != count[b] + 1) return false;
    const auto from = row.begin() + start[a] + 1;
    if (!std::equal(from, from + count[b], row.begin() + start[b])) return false;
  }
  return true;
}

}  // namespace

TriangularBlocks::TriangularBlocks(std::span<const int> start, std::span<const int> count,
                                   std::span<const int> row, std::span<const double> value) {
  const auto at = [&](int column, int k) {
    return static_cast<std::size_t>(start[static_cast<std::size_t>(column)] + k);
  };
  const auto size = static_cast<int>(count.size());
  for (int j = 0; j < size; ++j) m_inverse_diagonal.push_back(1 / value[at(j, 0)]);
  for (int j = 0; j < size;) {
    Block block{j,
                share_rows(start.first(count.size()), count, row, j) ? k_columns : 1,
                m_rows.size(),
                0,
                m_values.size(),
                m_triangle.size()};
    for (int k = 0; k < block.columns; ++k) {
      for (int m = 0; m < block.columns; ++m) m_triangle.push_back(m <= k ? value[at(j + m, k - m)] : 0);
    }
    const int last = j + block.columns - 1, below = count[static_cast<std::size_t>(last)] - 1;
    for (int r = 1; r <= below; ++r) {
      m_rows.push_back(row[at(last, r)]);
      for (int k = 0; k < block.columns; ++k) m_values.push_back(value[at(j + k, block.columns - 1 - k + r)]);
    }
    block.rows_end = m_rows.size();
    m_blocks.push_back(block);
    j += block.columns;
  }
}

template <int Width>
void TriangularBlocks::solve_rows(double* x) const {
  const auto pass = [&](const Block& b, auto&& one, auto&& four) {
    const double* triangle = m_triangle.data() + b.triangle;
    const double* inverse = m_inverse_diagonal.data() + b.first;
    const std::span<const int> below(m_rows.data() + b.rows_begin, b.rows_end - b.rows_begin);
    double* own = x + static_cast<std::ptrdiff_t>(b.first) * Width;
    (b.columns == 1 ? one : four)(triangle, inverse, below, m_values.data() + b.values, x, own);
  };
  for (const Block& block : m_blocks)
    pass(block, &Kernel<1, Width>::forward, &Kernel<k_columns, Width>::forward);
  for (auto block = m_blocks.rbegin(); block != m_blocks.rend(); ++block)
    pass(*block, &Kernel<1, Width>::backward, &Kernel<k_columns, Width>::backward);
}

void TriangularBlocks::solve(double* x, int width) const {
  assert(width == 4 || width == 8 || width == 12);
  if (width == 4) {
    solve_rows<4>(x);
  } else if (width == 8) {
    solve_rows<8>(x);
  } else {
    solve_rows<12>(x);
  }
}

}  // namespace exemplar
