#include "meshless/peridynamics/pulled_points.h"

#include <Eigen/QR>
#include <algorithm>
#include <numeric>
#include <set>

namespace exemplar::peridynamics {

namespace {

constexpr double k_reach = 2;        // spacings
constexpr std::size_t k_fewest = 8;  // particles, where there are as many

std::vector<int> particles_around(const Points& particles, const Vec3& point, double reach) {
  std::vector<int> order(to_size(particles.rows()));
  std::iota(order.begin(), order.end(), 0);
  const VecX away = (particles.rowwise() - point.transpose()).rowwise().norm();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return away(a) < away(b); });
  std::size_t count = 0;
  while (count < order.size() && (count < k_fewest || away(order[count]) <= reach)) ++count;
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// The least w with Σ w = 1 and Σ w (X − p) = 0.
VecX linear_weights(const Points& particles, const std::vector<int>& chosen, const Vec3& point,
                    double reach) {
  MatX system(4, to_row(chosen.size()));
  for (std::size_t k = 0; k < chosen.size(); ++k)
    system.col(to_row(k)) << 1, (particles.row(chosen[k]).transpose() - point) / reach;
  return system.completeOrthogonalDecomposition().solve(Vec4(1, 0, 0, 0));
}

}  // namespace

PointMap pulled_vertices(std::span<const Pull> pulls, const std::string& body, const Points& vertices,
                         const Points& particles, double spacing) {
  std::set<int> used;
  for (const Pull& pull : pulls)
    if (pull.body == body) used.insert(pull.point.vertices.begin(), pull.point.vertices.end());
  PointMap out;
  for (int v = 0; v < to_int(vertices.rows()); ++v) {
    if (!used.contains(v)) {
      out.add({}, {});
      continue;
    }
    const Vec3 point = vertices.row(v).transpose();
    const std::vector<int> chosen = particles_around(particles, point, k_reach * spacing);
    const VecX weights = linear_weights(particles, chosen, point, k_reach * spacing);
    out.add(chosen, std::span(weights.data(), to_size(weights.size())));
  }
  return out;
}

}  // namespace exemplar::peridynamics
