#include "meshless/shape_matching/lattice_sums.h"

#include <algorithm>
#include <cassert>

#include "core/base/parallel.h"
#include "core/math/lanes.h"

namespace exemplar::shape_matching {

using namespace lanes;

namespace {

constexpr int k_lanes = LatticeSums::width / 4;
static_assert(k_lanes * 4 == LatticeSums::width);

struct Entry {
  Lane v[k_lanes]{};
  Entry& operator+=(const Entry& other) {
    for (int k = 0; k < k_lanes; ++k) v[k] += other.v[k];
    return *this;
  }
};

Entry load_entry(const double* from) {
  Entry out;
  for (int k = 0; k < k_lanes; ++k) out.v[k] = load(from + 4 * k);
  return out;
}

void store_entry(double* to, const Entry& value) {
  for (int k = 0; k < k_lanes; ++k) store(to + 4 * k, value.v[k]);
}

// out[p] ← Σ line[q] for q from p − before to p − before + length − 1, zeros outside; line p lies at
// data + apart p. `ends` and `begins` are room for the sums of the pieces.
void window_sums(double* data, std::ptrdiff_t apart, int count, int before, int length,
                 std::vector<Entry>& ends, std::vector<Entry>& begins) {
  const int padded = count + length - 1;
  ends.resize(static_cast<std::size_t>(padded));
  begins.resize(static_cast<std::size_t>(padded));
  const Entry zero{};
  for (int j = 0; j < padded; ++j) {
    const int q = j - before;
    Entry value = q >= 0 && q < count ? load_entry(data + apart * q) : zero;
    ends[static_cast<std::size_t>(j)] = value;
    if (j % length != 0) value += begins[static_cast<std::size_t>(j - 1)];
    begins[static_cast<std::size_t>(j)] = value;
  }
  for (int j = padded - 2; j >= 0; --j)
    if (j % length != length - 1) ends[static_cast<std::size_t>(j)] += ends[static_cast<std::size_t>(j + 1)];
  for (int p = 0; p < count; ++p) {
    Entry sum = ends[static_cast<std::size_t>(p)];
    if (p % length != 0) sum += begins[static_cast<std::size_t>(p + length - 1)];
    store_entry(data + apart * p, sum);
  }
}

}  // namespace

LatticeSums::LatticeSums(LatticeRegions regions) : m_regions(std::move(regions)) {
  m_grid.resize(static_cast<std::size_t>(width) * m_regions.points[0] * m_regions.points[1] *
                m_regions.points[2]);
}

void LatticeSums::over_cells(const std::vector<double>& values, std::vector<double>& sums) {
  sum(m_regions.particles, values, m_regions.overlap, m_regions.corners, sums);
}

void LatticeSums::over_particles(const std::vector<double>& values, std::vector<double>& sums) {
  sum(m_regions.corners, values, m_regions.overlap + m_regions.subdivisions, m_regions.particles, sums);
}

void LatticeSums::sum(const std::vector<int>& from, const std::vector<double>& values, int before,
                      const std::vector<int>& to, std::vector<double>& sums) {
  assert(values.size() == width * from.size());
  std::fill(m_grid.begin(), m_grid.end(), 0.0);
  parallel_for(
      from.size(),
      [&](std::size_t i) {
        std::copy_n(values.data() + width * i, width, m_grid.data() + std::ptrdiff_t{width} * from[i]);
      },
      4096);
  for (int axis = 0; axis < 3; ++axis) sum_lines(axis, before);
  sums.resize(width * to.size());
  parallel_for(
      to.size(),
      [&](std::size_t i) {
        std::copy_n(m_grid.data() + std::ptrdiff_t{width} * to[i], width, sums.data() + width * i);
      },
      4096);
}

void LatticeSums::sum_lines(int axis, int before) {
  const std::array<int, 3>& n = m_regions.points;
  const std::array<std::ptrdiff_t, 3> strides{width, std::ptrdiff_t{width} * n[0],
                                              std::ptrdiff_t{width} * n[0] * n[1]};
  const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  const int length = m_regions.subdivisions + 2 * m_regions.overlap + 1;
  parallel_ranges(static_cast<std::size_t>(n[u]) * n[v], 64, [&](std::size_t begin, std::size_t end) {
    std::vector<Entry> ends, begins;
    for (std::size_t line = begin; line < end; ++line) {
      const auto i = static_cast<std::ptrdiff_t>(line % n[u]), j = static_cast<std::ptrdiff_t>(line / n[u]);
      window_sums(m_grid.data() + i * strides[u] + j * strides[v], strides[axis], n[axis], before, length,
                  ends, begins);
    }
  });
}

}  // namespace exemplar::shape_matching
