#include "rigidplastic/dent/dent_distance.h"

#include <algorithm>
#include <cmath>

namespace exemplar::dent {

namespace {

constexpr int k_cells = 48;  // of a gap grid's longer side
constexpr double k_hardness = 3;

// Cells over the part of the plane where both surfaces come closer than `limit` when they touch.
std::pair<std::vector<double>, double> gaps_within(double limit, const Points& front_of_projectile,
                                                   const Triangles& projectile, const Points& front_of_target,
                                                   const Triangles& target) {
  const Rectangle area = area_above(front_of_projectile, projectile, -limit)
                             .intersection(area_above(front_of_target, target, -limit));
  if (area.empty()) return {{}, 0};
  const double side = std::max((area.high - area.low).maxCoeff(), 1e-9);
  const double none = -std::numeric_limits<double>::infinity();
  DepthGrid a = DepthGrid::over(area, side / k_cells, none), b = a;
  rasterise(front_of_projectile, projectile, a);
  rasterise(front_of_target, target, b);
  std::vector<double> gaps;
  for (std::size_t k = 0; k < a.depth.size(); ++k) {
    const double gap = -a.depth[k] - b.depth[k];
    if (gap < limit) gaps.push_back(std::max(gap, 0.0));
  }
  return {std::move(gaps), a.spacing * a.spacing};
}

// Only what faces the projectile: the far side of the target is no front.
Triangles facing(const Points& local, const Triangles& triangles) {
  Triangles result(triangles.rows(), 3);
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 a = local.row(triangles(t, 0)), b = local.row(triangles(t, 1)), c = local.row(triangles(t, 2));
    if ((b - a).cross(c - a).z() < 0) result.row(count++) = triangles.row(t);
  }
  return result.topRows(count);
}

}  // namespace

double effective_mass(const ContactMass& a, const ContactMass& b, const Vec3& normal) {
  double inverse = 0;
  for (const ContactMass* body : {&a, &b}) {
    const Vec3 lever = body->arm.cross(normal);
    inverse += body->inverse_mass + lever.dot(body->inverse_inertia * lever);
  }
  return inverse > 0 ? 1 / inverse : 0;
}

CommonVolume::CommonVolume(std::vector<double> gaps, double cell_area)
    : m_gaps(std::move(gaps)), m_cell_area(cell_area) {
  std::sort(m_gaps.begin(), m_gaps.end());
}

double CommonVolume::at(double depth) const {
  double sum = 0;
  for (const double gap : m_gaps) {
    if (gap >= depth) break;
    sum += depth - gap;
  }
  return sum * m_cell_area;
}

// V is piecewise linear: after the first k gaps it grows by k cells per metre.
double CommonVolume::depth_for(double volume) const {
  double remaining = volume / m_cell_area;
  for (std::size_t k = 0; k < m_gaps.size(); ++k) {
    const double cells = static_cast<double>(k + 1);
    const double next = k + 1 < m_gaps.size() ? m_gaps[k + 1] : std::numeric_limits<double>::infinity();
    const double room = cells * (next - m_gaps[k]);
    if (remaining <= room) return m_gaps[k] + remaining / cells;
    remaining -= room;
  }
  return std::numeric_limits<double>::infinity();
}

double depth_from_energy(double energy, double yield_stress, double limit, const Projectile& projectile,
                         const Points& target, const Triangles& target_triangles, const Impact& impact) {
  const DentFrame frame = dent_frame(impact);
  Points front_of_projectile = frame.to_local(*projectile.points);
  front_of_projectile.rowwise() -= frame.to_local(impact.point_on_projectile).transpose();
  Points front_of_target = frame.to_local(target);
  const Triangles front = facing(front_of_target, target_triangles);
  front_of_target.col(2) *= -1;
  const double volume = energy / (k_hardness * yield_stress);
  double depth = limit, within = limit;
  for (int pass = 0; pass < 4; ++pass) {
    auto [gaps, cell_area] =
        gaps_within(within, front_of_projectile, *projectile.triangles, front_of_target, front);
    const CommonVolume common(std::move(gaps), cell_area);
    if (common.empty()) break;
    depth = std::min(common.depth_for(volume), within);
    if (depth > 0.5 * within) break;
    within = 1.5 * depth;
  }
  return depth;
}

}  // namespace exemplar::dent
