#include "core/contact/contact.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/contact/barrier.h"
#include "core/contact/primitive_distance.h"
#include "core/mesh/topology.h"
#include "core/world/rotation.h"

namespace exemplar {

ContactOptions default_contact_options(double size, double young) {
  return {1e-3 * size, 0.1 * young, 1e-3 * size};
}

ContactPotential::ContactPotential(ContactSurface surface, const std::vector<ObstacleBody>& obstacles,
                                   const ContactOptions& options)
    : m_surface(std::move(surface)), m_obstacles(&obstacles), m_options(options) {
  add_surface();
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    add_obstacle(static_cast<int>(i));
    m_start.push_back(obstacles[i].initial_state());
  }
}

void ContactPotential::add_surface() {
  m_points.resize(static_cast<std::size_t>(m_surface.map.size()));
  for (std::size_t i = 0; i < m_points.size(); ++i)
    m_points[i].radius = m_surface.radius_of(static_cast<Eigen::Index>(i));
  Group group;
  group.triangles = m_surface.triangles;
  group.edges = unique_edges(m_surface.triangles);
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    const auto corner = [&](int k) { return Vec3(m_surface.rest.row(m_surface.triangles(t, k))); };
    const double third = (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm() / 6;
    for (int k = 0; k < 3; ++k) m_points[m_surface.triangles(t, k)].area += third;
  }
  for (int i = 0; i < m_surface.map.size(); ++i) {
    if (m_points[i].area > 0) group.points.push_back(i);
  }
  m_groups.push_back(std::move(group));
}

void ContactPotential::add_obstacle(int index) {
  const ShapeGeometry& shape = (*m_obstacles)[index].shape();
  const ShapeFeatures& features = shape.features();
  const int first = static_cast<int>(m_points.size());
  Group group;
  group.owner = index;
  // Among obstacles a feature stands for a patch of a tenth of the obstacle's size.
  const double patch = std::isfinite(shape.bounding_radius()) ? 0.2 * shape.bounding_radius() : 0;
  for (Eigen::Index i = 0; i < features.points.rows(); ++i) {
    group.points.push_back(static_cast<int>(m_points.size()));
    m_points.push_back({index, features.points.row(i).transpose(), features.radius, patch * patch});
  }
  group.edges = features.edges.array() + first;
  group.triangles = features.triangles.array() + first;
  m_groups.push_back(std::move(group));
}

void ContactPotential::begin_step(const std::vector<ObstacleState>& states, const PointsRef& nodes) {
  assert(states.size() == m_obstacles->size());
  m_start = states;
  m_start_nodes = nodes;
  m_frictions.clear();
  m_stiffened.clear();
  m_impacts.clear();
}

ContactPotential::Pose ContactPotential::pose(int obstacle, const VecX& q) const {
  const ObstacleState& start = m_start[obstacle];
  return {start.position + q.segment<3>(6 * obstacle),
          exp_rotation(q.segment<3>(6 * obstacle + 3)) * start.orientation.toRotationMatrix()};
}

std::vector<ContactPotential::Pose> ContactPotential::poses(const VecX& q) const {
  std::vector<Pose> all;
  for (int i = 0; i < static_cast<int>(m_obstacles->size()); ++i) all.push_back(pose(i, q));
  return all;
}

Points ContactPotential::place(const PointsRef& x, const VecX& q) const {
  const std::vector<Pose> all = poses(q);
  Points positions(static_cast<Eigen::Index>(m_points.size()), 3);
  positions.topRows(m_surface.map.size()) = m_surface.map.apply(x);
  for (std::size_t i = static_cast<std::size_t>(m_surface.map.size()); i < m_points.size(); ++i) {
    const Pose& p = all[m_points[i].owner];
    positions.row(static_cast<Eigen::Index>(i)) = (p.position + p.rotation * m_points[i].local).transpose();
  }
  return positions;
}

Vec3 ContactPotential::place(const PointRef& ref, const PointsRef& x, const VecX& q) const {
  if (ref.point < 0) {
    const Pose p = pose(ref.obstacle, q);
    return p.position + p.rotation * ref.local;
  }
  Vec3 sum = Vec3::Zero();
  const PointMap& map = m_surface.map;
  for (int k = map.offsets[ref.point]; k < map.offsets[ref.point + 1]; ++k)
    sum += map.weights[k] * x.row(map.nodes[k]).transpose();
  return sum;
}

ContactPotential::PointRef ContactPotential::reference(int point) const {
  const FeaturePoint& p = m_points[point];
  return p.owner < 0 ? PointRef{point, -1, Vec3::Zero()} : PointRef{-1, p.owner, p.local};
}

std::array<Vec3, 4> ContactPotential::corners(const ContactPair& pair, const Points& positions) const {
  std::array<Vec3, 4> out;
  for (int k = 0; k < 4; ++k) out[k] = positions.row(pair.points[k]);
  return out;
}

double ContactPotential::gap(const ContactPair& pair, const Points& positions,
                             const std::vector<Pose>& all) const {
  if (pair.kind == ContactPairKind::point_shape) {
    const Pose& p = all[pair.shape];
    const Vec3 local = p.rotation.transpose() * (positions.row(pair.points[0]).transpose() - p.position);
    return (*m_obstacles)[pair.shape].shape().value(local) - pair.radius;
  }
  const auto points = corners(pair, positions);
  const Nearest nearest =
      pair.kind == ContactPairKind::edge_edge ? nearest_edges(points) : nearest_point_triangle(points);
  return nearest.value - pair.radius;
}

double ContactPotential::pair_value(const ContactPair& pair, const Points& positions,
                                    const std::vector<Pose>& all) const {
  const double g = gap(pair, positions, all);
  const double energy = contact_barrier(g, m_options.reach, m_options.stiffness * pair.area).value;
  if (energy == 0 || pair.kind != ContactPairKind::edge_edge || !std::isfinite(energy)) return energy;
  return energy * parallel_edge_factor(corners(pair, positions), pair.parallel, false).value;
}

double ContactPotential::value(const PointsRef& x, const VecX& q) const {
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  std::vector<double> values(m_pairs.size());
  parallel_for(m_pairs.size(), [&](std::size_t i) { values[i] = pair_value(m_pairs[i], positions, all); });
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

double ContactPotential::added_by_stiffening(const PointsRef& x, const VecX& q) const {
  if (m_impacts.empty()) return 0;
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  double sum = 0;
  for (const ContactPair& pair : m_pairs) {
    if (pair.factor > 1) sum += (1 - 1 / pair.factor) * pair_value(pair, positions, all);
  }
  return sum;
}

double ContactPotential::smallest_gap(const PointsRef& x, const VecX& q) const {
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  double smallest = std::numeric_limits<double>::infinity();
  for (const ContactPair& pair : m_pairs) smallest = std::min(smallest, gap(pair, positions, all));
  return smallest;
}

ContactPotential::Closest ContactPotential::closest(const PointsRef& x, const VecX& q) const {
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  Closest best;
  for (const ContactPair& pair : m_pairs) {
    const int first = side_of(pair, 0).obstacle, second = side_of(pair, 1).obstacle;
    const double g = gap(pair, positions, all);
    if ((first >= 0 && second >= 0) || g >= best.gap) continue;
    best.gap = g;
    best.obstacle = std::max(first, second);
    if (pair.kind == ContactPairKind::point_shape) {
      const Pose& p = all[pair.shape];
      const Vec3 local = p.rotation.transpose() * (positions.row(pair.points[0]).transpose() - p.position);
      best.away = p.rotation * (*m_obstacles)[pair.shape].shape().distance(local).gradient;
      continue;
    }
    const auto points = corners(pair, positions);
    const Nearest nearest =
        pair.kind == ContactPairKind::edge_edge ? nearest_edges(points) : nearest_point_triangle(points);
    best.away = first < 0 ? nearest.normal : Vec3(-nearest.normal);
  }
  return best;
}

std::vector<ContactLink> ContactPotential::links(const PointsRef& x, const VecX& q) const {
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  std::vector<ContactLink> out;
  for (const ContactPair& pair : m_pairs) {
    if (gap(pair, positions, all) >= m_options.reach) continue;
    ContactLink& link = out.emplace_back();
    for (int side = 0; side < 2; ++side) {
      const ContactSide part = side_of(pair, side);
      link.nodes.insert(link.nodes.end(), part.nodes.begin(), part.nodes.end());
      if (part.obstacle >= 0) link.obstacles.push_back(part.obstacle);
    }
  }
  const PointMap& map = m_surface.map;
  for (const Friction& friction : m_frictions) {
    ContactLink& link = out.emplace_back();
    for (const PointRef& p : friction.points) {
      if (p.obstacle >= 0) link.obstacles.push_back(p.obstacle);
      if (p.point < 0) continue;
      link.nodes.insert(link.nodes.end(), map.nodes.begin() + map.offsets[p.point],
                        map.nodes.begin() + map.offsets[p.point + 1]);
    }
  }
  return out;
}

std::vector<ContactBlock> ContactPotential::blocks(const PointsRef& x, const VecX& q,
                                                   Derivatives derivatives) const {
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  std::vector<double> gaps(m_pairs.size());
  parallel_for(m_pairs.size(), [&](std::size_t i) { gaps[i] = gap(m_pairs[i], positions, all); });
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < m_pairs.size(); ++i) {
    if (gaps[i] < m_options.reach) active.push_back(i);
  }
  std::vector<ContactBlock> out(active.size());
  parallel_for(
      active.size(),
      [&](std::size_t k) { out[k] = pair_block(m_pairs[active[k]], positions, q, derivatives); }, 16);
  return out;
}

}  // namespace exemplar
