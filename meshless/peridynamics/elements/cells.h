// Points sorted into cubic cells (counting sort, no fixed-size bins), to visit those near a place.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar::peridynamics {

class Cells {
 public:
  // Cells of at least `radius`, coarser where the box is huge so that there are at most a few cells per
  // point.
  Cells(const Points& points, double radius) : Cells(points.data(), 3, all_of(points.rows()), radius) {}
  // Only the chosen points; point p lies at data[p * stride], data[p * stride + 1], data[p * stride + 2].
  Cells(const double* data, std::size_t stride, std::span<const int> chosen, double radius);

  // Calls visit(index) for every point in the 27 cells around a place, in a fixed order.
  template <class Place, class Visit>
  void for_each_near(const Place& place, const Visit& visit) const {
    std::array<int, 3> low, high;
    for (int a = 0; a < 3; ++a) {
      const double cell = (place[a] - m_origin[a]) * m_inverse_size;
      low[a] = std::clamp(static_cast<int>(std::floor(std::clamp(cell, -2e9, 2e9))) - 1, 0, m_count[a] - 1);
      high[a] = std::clamp(static_cast<int>(std::floor(std::clamp(cell, -2e9, 2e9))) + 1, 0, m_count[a] - 1);
    }
    for (int z = low[2]; z <= high[2]; ++z) {
      for (int y = low[1]; y <= high[1]; ++y) {
        const std::size_t row = (static_cast<std::size_t>(z) * m_count[1] + y) * m_count[0];
        for (std::size_t p = m_begin[row + low[0]]; p < m_begin[row + high[0] + 1]; ++p) visit(m_sorted[p]);
      }
    }
  }

 private:
  static std::vector<int> all_of(Eigen::Index count);
  std::size_t cell_of(const double* point) const;

  Vec3 m_origin = Vec3::Zero();
  double m_inverse_size = 1;
  std::array<int, 3> m_count{1, 1, 1};
  std::vector<std::size_t> m_begin;
  std::vector<int> m_sorted;
};

}  // namespace exemplar::peridynamics
