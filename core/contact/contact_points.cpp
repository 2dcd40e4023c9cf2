#include "core/contact/contact_points.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/contact/primitive_distance.h"
#include "core/mesh/topology.h"
#include "core/world/rotation.h"

namespace exemplar {

ContactOptions default_contact_options(double size, double young) {
  return {1e-3 * size, 0.1 * young, 1e-3 * size};
}

ContactPoints::ContactPoints(ContactSurface surface, const std::vector<ObstacleBody>& obstacles,
                             const ContactOptions& options)
    : m_surface(std::move(surface)),
      m_obstacles(&obstacles),
      m_options(options),
      m_largest_reach(options.reach),
      m_smallest_reach(options.reach) {
  for (const ContactBody& body : m_surface.bodies) {
    m_largest_reach = std::max(m_largest_reach, body.reach);
    m_smallest_reach = std::min(m_smallest_reach, body.reach);
  }
  if (m_surface.between) {  // sheets feel each other within their thickness only
    for (const double radius : m_surface.radius) {
      if (radius > 0) m_smallest_reach = std::min(m_smallest_reach, 2 * radius);
    }
  }
  add_surface();
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    add_obstacle(to_int(i));
    m_start.push_back(obstacles[i].initial_state());
  }
}

void ContactPoints::add_surface() {
  m_features.resize(to_size(m_surface.map.size()));
  for (std::size_t i = 0; i < m_features.size(); ++i) m_features[i].radius = m_surface.radius_of(to_row(i));
  Group group;
  group.triangles = m_surface.triangles;
  group.edges = unique_edges(m_surface.triangles);
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    const auto corner = [&](int k) { return Vec3(m_surface.rest.row(m_surface.triangles(t, k))); };
    const double third = (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm() / 6;
    for (int k = 0; k < 3; ++k) m_features[to_size(m_surface.triangles(t, k))].area += third;
  }
  for (int i = 0; i < m_surface.map.size(); ++i) {
    if (m_features[to_size(i)].area > 0) group.points.push_back(i);
  }
  m_groups.push_back(std::move(group));
}

void ContactPoints::add_obstacle(int index) {
  const ShapeGeometry& shape = obstacle(index).shape();
  const ShapeFeatures& features = shape.features();
  const int first = size();
  Group group;
  group.owner = index;
  // Among obstacles a feature stands for a patch of a tenth of the obstacle's size.
  const double patch = std::isfinite(shape.bounding_radius()) ? 0.2 * shape.bounding_radius() : 0;
  for (Eigen::Index i = 0; i < features.points.rows(); ++i) {
    group.points.push_back(size());
    m_features.push_back({index, features.points.row(i).transpose(), features.radius, patch * patch});
  }
  group.edges = features.edges.array() + first;
  group.triangles = features.triangles.array() + first;
  m_groups.push_back(std::move(group));
}

const ContactBody* ContactPoints::body_of(int point) const {
  if ((*this)[point].owner >= 0 || m_surface.bodies.empty()) return nullptr;
  return &m_surface.bodies[to_size(m_surface.body.empty() ? 0 : m_surface.body[to_size(point)])];
}

double ContactPoints::reach_at(int point) const {
  const ContactBody* body = body_of(point);
  return body ? body->reach : m_options.reach;
}

void ContactPoints::set_start(const std::vector<ObstacleState>& states) {
  assert(states.size() == m_obstacles->size());
  m_start = states;
}

ContactPoints::Pose ContactPoints::pose(int obstacle, const VecX& q) const {
  const ObstacleState& from = start(obstacle);
  return {from.position + q.segment<3>(6 * obstacle),
          exp_rotation(q.segment<3>(6 * obstacle + 3)) * from.orientation.toRotationMatrix()};
}

std::vector<ContactPoints::Pose> ContactPoints::poses(const VecX& q) const {
  std::vector<Pose> all;
  all.reserve(m_obstacles->size());
  for (int i = 0; i < to_int(m_obstacles->size()); ++i) all.push_back(pose(i, q));
  return all;
}

Points ContactPoints::place(const PointsRef& x, const VecX& q) const {
  const std::vector<Pose> all = poses(q);
  Points positions(size(), 3);
  positions.topRows(m_surface.map.size()) = m_surface.map.apply(x);
  for (int i = m_surface.map.size(); i < size(); ++i) {
    const Pose& p = all[to_size((*this)[i].owner)];
    positions.row(i) = (p.position + p.rotation * (*this)[i].local).transpose();
  }
  return positions;
}

std::array<Vec3, 4> ContactPoints::corners(const ContactPair& pair, const Points& points) const {
  std::array<Vec3, 4> out;
  for (std::size_t k = 0; k < 4; ++k) out[k] = points.row(pair.points[k]);
  return out;
}

double ContactPoints::gap(const ContactPair& pair, const Placed& at) const {
  if (pair.kind == ContactPairKind::point_shape) {
    const Pose& p = at.poses[to_size(pair.shape)];
    const Vec3 local = p.rotation.transpose() * (at.points.row(pair.points[0]).transpose() - p.position);
    return obstacle(pair.shape).shape().value(local) - pair.radius;
  }
  const auto points = corners(pair, at.points);
  const Nearest nearest =
      pair.kind == ContactPairKind::edge_edge ? nearest_edges(points) : nearest_point_triangle(points);
  return nearest.value - pair.radius;
}

Vec3 ContactPoints::opening(const ContactPair& pair, const Placed& at) const {
  if (pair.kind == ContactPairKind::point_shape) {
    const Pose& p = at.poses[to_size(pair.shape)];
    const Vec3 local = p.rotation.transpose() * (at.points.row(pair.points[0]).transpose() - p.position);
    return p.rotation * obstacle(pair.shape).shape().distance(local).gradient;
  }
  const auto points = corners(pair, at.points);
  return pair.kind == ContactPairKind::edge_edge ? nearest_edges(points).normal
                                                 : nearest_point_triangle(points).normal;
}

ContactSide ContactPoints::side_of(const ContactPair& pair, int side) const {
  ContactSide out;
  if (pair.kind == ContactPairKind::point_shape && side == 1) {
    out.obstacle = pair.shape;
    return out;
  }
  const std::size_t split = pair.kind == ContactPairKind::edge_edge ? 2 : 1;
  const std::size_t last = pair.kind == ContactPairKind::point_shape ? 1 : 4;
  for (std::size_t k = side == 0 ? 0 : split; k < (side == 0 ? split : last); ++k) {
    const int point = pair.points[k];
    out.obstacle = (*this)[point].owner;
    if (out.obstacle >= 0) return out;
    const std::span<const int> nodes = m_surface.map.nodes_of(point);
    out.nodes.insert(out.nodes.end(), nodes.begin(), nodes.end());
  }
  return out;
}

std::array<int, 2> ContactPoints::obstacles_of(const ContactPair& pair) const {
  std::array<int, 2> out{pair.shape, -1};
  for (const int point : pair.points) {
    const int owner = point < 0 ? -1 : (*this)[point].owner;
    if (owner < 0 || owner == out[0] || owner == out[1]) continue;
    out[out[0] < 0 ? 0 : 1] = owner;
  }
  return out;
}

namespace {

// The first surface points of a pair's two sides; −1: the side is an obstacle's.
std::array<int, 2> surface_sides(const ContactPoints& points, const ContactPair& pair) {
  const std::size_t split = pair.kind == ContactPairKind::edge_edge ? 2 : 1;
  const int second = pair.kind == ContactPairKind::point_shape ? -1 : pair.points[split];
  const auto of_surface = [&](int point) { return point >= 0 && points[point].owner < 0 ? point : -1; };
  return {of_surface(pair.points[0]), of_surface(second)};
}

}  // namespace

std::array<int, 2> ContactPoints::bodies_of(const ContactPair& pair) const {
  const std::array<int, 2> sides = surface_sides(*this, pair);
  if (sides[0] < 0 || sides[1] < 0) return {-1, -1};
  return {m_surface.body_of(sides[0]), m_surface.body_of(sides[1])};
}

double ContactPoints::friction_of(const ContactPair& pair) const {
  const std::array<int, 2> sides = surface_sides(*this, pair), owners = obstacles_of(pair);
  if (owners[0] >= 0 && owners[1] >= 0)
    return std::sqrt(obstacle(owners[0]).description().friction * obstacle(owners[1]).description().friction);
  if (owners[0] < 0) {
    const ContactBody *a = body_of(sides[0]), *b = body_of(sides[1]);
    return a && b ? std::sqrt(a->friction * b->friction) : 0;
  }
  const Obstacle& description = obstacle(owners[0]).description();
  const ContactBody* body = body_of(std::max(sides[0], sides[1]));
  return body ? description.friction_with(body->friction) : description.friction;
}

void ContactPoints::set_law(ContactPair& pair) const {
  pair.reach = m_options.reach;
  pair.stiffness = m_options.stiffness;
  bool first = true;
  for (const int point : surface_sides(*this, pair)) {
    const ContactBody* body = point < 0 ? nullptr : body_of(point);
    if (!body) continue;
    pair.reach = first ? body->reach : std::min(pair.reach, body->reach);
    pair.stiffness = first ? body->stiffness : std::min(pair.stiffness, body->stiffness);
    first = false;
  }
}

}  // namespace exemplar
