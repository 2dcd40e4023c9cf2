// The stress at which a material yields over its equivalent plastic strain ε (work-conjugate: dissipation is
// ∫ stress dε): straight lines between given points, and a straight line or none after the last.
#pragma once

#include <cassert>
#include <utility>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

class YieldCurve {
 public:
  // Linear hardening: stress + slope ε (Pa).
  YieldCurve(double stress = 0, double slope = 0) : m_points{Vec2(0, stress)}, m_slope(slope) {}
  // (ε, Pa) with rising ε from 0; constant after the last point.
  explicit YieldCurve(std::vector<Vec2> points) : m_points(std::move(points)) {
    assert(!m_points.empty() && m_points.front()[0] == 0);
  }

  double first() const { return m_points.front()[1]; }
  // The same with stresses as elastic strains of a bar.
  YieldCurve as_strains(double young) const {
    YieldCurve strains = *this;
    for (Vec2& point : strains.m_points) point[1] /= young;
    strains.m_slope /= young;
    return strains;
  }
  bool hardens() const { return m_slope > 0 || m_points.size() > 1; }

  double stress(double strain) const {
    const std::size_t k = segment(strain);
    return m_points[k][1] + slope_of(k) * (strain - m_points[k][0]);
  }
  // To the right of a corner, Pa.
  double slope(double strain) const { return slope_of(segment(strain)); }
  // ∫ stress dε from `from` to `to`, J/m³.
  double work(double from, double to) const { return work(to) - work(from); }

 private:
  std::size_t segment(double strain) const {
    std::size_t k = 0;
    while (k + 1 < m_points.size() && m_points[k + 1][0] <= strain) ++k;
    return k;
  }
  double slope_of(std::size_t k) const {
    if (k + 1 == m_points.size()) return m_slope;
    const Vec2 way = m_points[k + 1] - m_points[k];
    return way[1] / way[0];
  }
  double work(double strain) const {
    double sum = 0;
    const std::size_t last = segment(strain);
    for (std::size_t k = 0; k < last; ++k)
      sum += 0.5 * (m_points[k][1] + m_points[k + 1][1]) * (m_points[k + 1][0] - m_points[k][0]);
    return sum + 0.5 * (m_points[last][1] + stress(strain)) * (strain - m_points[last][0]);
  }

  std::vector<Vec2> m_points;
  double m_slope = 0;
};

}  // namespace exemplar
