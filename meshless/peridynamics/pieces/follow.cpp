#include "meshless/peridynamics/pieces/follow.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>

#include "core/base/parallel.h"
#include "meshless/peridynamics/point_cloud.h"

namespace exemplar::peridynamics {

SurfaceFollower::SurfaceFollower(const Points& vertices, const Points& particles, int count)
    : m_vertices(vertices), m_count(std::min<int>(count, static_cast<int>(particles.rows()))) {
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, PointCloud>, PointCloud, 3>;
  const PointCloud cloud{particles};
  Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  tree.buildIndex();
  const std::size_t n = static_cast<std::size_t>(vertices.rows()), k = static_cast<std::size_t>(m_count);
  m_nearest.resize(n * k);
  m_weights.resize(n * k);
  parallel_for(n, [&](std::size_t v) {
    std::vector<std::uint32_t> found(k);
    std::vector<double> squared(k);
    tree.knnSearch(vertices.row(static_cast<Eigen::Index>(v)).data(), k, found.data(), squared.data());
    for (std::size_t c = 0; c < k; ++c) {
      m_nearest[v * k + c] = static_cast<int>(found[c]);
      m_weights[v * k + c] = 1 / std::max(squared[c], 1e-30);
    }
  });
  m_carriers = m_nearest;
  std::sort(m_carriers.begin(), m_carriers.end());
  m_carriers.erase(std::unique(m_carriers.begin(), m_carriers.end()), m_carriers.end());
}

Points SurfaceFollower::follow(const Points& rest, const Points& current,
                               const std::function<Mat3(int)>& map_of, std::span<const int> fragment) const {
  std::vector<Mat3> maps(m_carriers.size());
  parallel_for(
      m_carriers.size(), [&](std::size_t c) { maps[c] = map_of(m_carriers[c]); }, 16);
  const auto slot = [&](int particle) {
    return std::lower_bound(m_carriers.begin(), m_carriers.end(), particle) - m_carriers.begin();
  };
  Points result(m_vertices.rows(), 3);
  parallel_for(static_cast<std::size_t>(m_vertices.rows()), [&](std::size_t v) {
    const Vec3 vertex = m_vertices.row(static_cast<Eigen::Index>(v));
    Vec3 moved = Vec3::Zero();
    double total = 0;
    const std::size_t first = v * static_cast<std::size_t>(m_count);
    for (std::size_t c = first; c < first + static_cast<std::size_t>(m_count); ++c) {
      const int i = m_nearest[c];
      if (fragment[i] != fragment[m_nearest[first]]) continue;
      const Vec3 u = Vec3(current.row(i)) - Vec3(rest.row(i)) +
                     (maps[slot(i)] - Mat3::Identity()) * (vertex - Vec3(rest.row(i)));
      moved += m_weights[c] * u;
      total += m_weights[c];
    }
    result.row(static_cast<Eigen::Index>(v)) = (vertex + moved / total).transpose();
  });
  return result;
}

Mat3 fit_affine(const Points& rest, const Points& current, int particle, std::span<const int> bonded,
                const Mat3& fallback) {
  Mat3 shape = Mat3::Zero(), moved = Mat3::Zero();
  for (const int j : bonded) {
    const Vec3 from = rest.row(j) - rest.row(particle);
    const Vec3 to = current.row(j) - current.row(particle);
    const double weight = 1 / from.squaredNorm();
    shape += weight * from * from.transpose();
    moved += weight * (to - from) * from.transpose();
  }
  // The trace is the number of bonds; a flat or thin set of bonds has no inverse.
  if (shape.determinant() < 1e-4 * std::pow(shape.trace() / 3, 3) || bonded.size() < 4) return fallback;
  return Mat3::Identity() + moved * shape.inverse();
}

}  // namespace exemplar::peridynamics
