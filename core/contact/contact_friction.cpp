#include "core/contact/contact_friction.h"

#include <algorithm>

#include <cmath>
#include <utility>

#include "core/base/parallel.h"
#include "core/contact/primitive_distance.h"

namespace exemplar {

namespace {

Eigen::Matrix<double, 3, 2> tangents_of(const Vec3& normal) {
  int smallest = 0;
  normal.cwiseAbs().minCoeff(&smallest);
  const Vec3 first = normal.cross(Vec3::Unit(smallest)).normalized();
  Eigen::Matrix<double, 3, 2> t;
  t << first, normal.cross(first);
  return t;
}

// Where two sides touch: surface points with weights that sum to one (or the obstacle) and the place.
struct Touch {
  std::array<std::vector<std::pair<int, double>>, 2> sides;
  std::array<Vec3, 2> places;
  std::array<int, 2> owners;  // obstacle; −1: the surface
  Vec3 normal;
};

Touch touch_of(const ContactPoints& all, const ContactPair& pair, const Points& positions, const VecX& q) {
  Touch touch;
  touch.owners = {all[pair.points[0]].owner, pair.shape};
  if (pair.kind == ContactPairKind::point_shape) {
    touch.places[0] = positions.row(pair.points[0]);
    const SignedDistance d =
        all.obstacle(pair.shape)
            .distance(moved(all.start(pair.shape), q.segment<6>(6 * pair.shape)), touch.places[0]);
    touch.normal = d.gradient;
    touch.places[1] = touch.places[0] - d.value * touch.normal;
    touch.sides[0] = {{pair.points[0], 1.0}};
    return touch;
  }
  const auto points = all.corners(pair, positions);
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const Nearest nearest = edges ? nearest_edges(points) : nearest_point_triangle(points);
  touch.normal = nearest.normal;
  touch.places = {Vec3::Zero(), Vec3::Zero()};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t side = k < (edges ? 2 : 1) ? 0 : 1;
    const double weight = std::abs(nearest.weights[to_row(k)]);
    if (weight == 0) continue;
    touch.sides[side].emplace_back(pair.points[k], weight);
    touch.places[side] += weight * points[k];
  }
  touch.owners[1] = all[pair.points[3]].owner;
  return touch;
}

}  // namespace

void ContactFriction::update(const std::vector<ContactPair>& pairs, const PointsRef& x, const VecX& q,
                             const Points& start_nodes, double dt) {
  clear();
  m_range = m_points->options().sticking_speed * dt;
  if (pairs.empty()) return;
  const ContactPoints::Placed at = m_points->placed(x, q);
  for (const ContactPair& pair : pairs) {
    const double g = m_points->gap(pair, at);
    if (!(g > 0) || g >= pair.reach) continue;
    double force = -contact_barrier(g, pair.reach, pair.stiffness * pair.area).slope;
    if (pair.kind == ContactPairKind::edge_edge)
      force *= parallel_edge_factor(m_points->corners(pair, at.points), pair.parallel, false).value;
    const double limit = m_points->friction_of(pair) * force;
    if (limit > 0) m_contacts.push_back(make_contact(pair, at.points, q, limit, start_nodes));
  }
}

ContactFriction::Contact ContactFriction::make_contact(const ContactPair& pair, const Points& positions,
                                                       const VecX& q, double limit,
                                                       const Points& start_nodes) const {
  const Touch touch = touch_of(*m_points, pair, positions, q);
  const std::array<int, 2>& owners = touch.owners;
  const bool both_rigid = owners[0] >= 0 && owners[1] >= 0;
  const Vec3 shared = both_rigid      ? Vec3(0.5 * (touch.places[0] + touch.places[1]))
                      : owners[0] < 0 ? touch.places[0]
                                      : touch.places[1];
  Contact contact;
  contact.limit = limit;
  contact.tangents = tangents_of(touch.normal);
  const auto add = [&](const ContactPointRef& ref, double weight) {
    contact.weights[contact.stencil.count] = weight;
    contact.stencil.add(ref);
  };
  for (std::size_t side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1 : -1;
    if (owners[side] >= 0) {
      const ContactPoints::Pose p = m_points->pose(owners[side], q);
      add({-1, owners[side], p.rotation.transpose() * (shared - p.position)}, sign);
      continue;
    }
    for (const auto& [point, weight] : touch.sides[side]) add(reference(*m_points, point), sign * weight);
  }
  const VecX rest = VecX::Zero(q.size());
  for (int k = 0; k < contact.stencil.count; ++k)
    contact.start +=
        contact.weights[k] * place(*m_points, contact.stencil.points[to_size(k)], start_nodes, rest);
  return contact;
}

void ContactFriction::find_reversals(const PointsRef& x0, const VecX& q0, const PointsRef& x1,
                                     const VecX& q1) {
  m_reversals.clear();
  for (std::size_t i = 0; i < m_contacts.size(); ++i) {
    // What sticks is stiff enough as it is, and the direction of a slip that is nothing means nothing.
    const Vec2 before = slip_of(m_contacts[i], x0, q0), after = slip_of(m_contacts[i], x1, q1);
    if (before.norm() > 0.5 * m_range && after.norm() > m_range && after.dot(before) < 0)
      m_reversals.push_back(i);
  }
}

void ContactFriction::hold_reversals() {
  for (const std::size_t i : m_reversals) m_contacts[i].held = true;
  m_reversals.clear();
}

void ContactFriction::release() {
  m_reversals.clear();
  for (Contact& contact : m_contacts) contact.held = false;
}

double ContactFriction::value(const PointsRef& x, const VecX& q) const {
  double sum = 0;
  for (const Contact& c : m_contacts) sum += c.limit * curve_of(c, slip_of(c, x, q).norm()).value;
  return sum;
}

double ContactFriction::work(const PointsRef& x, const VecX& q) const {
  double sum = 0;
  for (const Contact& c : m_contacts) {
    const double y = slip_of(c, x, q).norm();
    sum += c.limit * curve_of(c, y).slope_over_y * y * y;
  }
  return sum;
}

Vec2 ContactFriction::slip_of(const Contact& c, const PointsRef& x, const VecX& q) const {
  Vec3 delta = -c.start;
  for (int k = 0; k < c.stencil.count; ++k)
    delta += c.weights[k] * place(*m_points, c.stencil.points[to_size(k)], x, q);
  return c.tangents.transpose() * delta;
}

std::vector<ContactBlock> ContactFriction::blocks(const PointsRef& x, const VecX& q,
                                                  Derivatives derivatives) const {
  std::vector<ContactBlock> out(m_contacts.size());
  parallel_for(
      m_contacts.size(), [&](std::size_t i) { out[i] = block_of(m_contacts[i], x, q, derivatives); }, 16);
  return out;
}

ContactBlock ContactFriction::block_of(const Contact& c, const PointsRef& x, const VecX& q,
                                       Derivatives derivatives) const {
  const Vec2 slip = slip_of(c, x, q);
  const double y = slip.norm();
  const FrictionCurve curve = curve_of(c, y);
  const Vec3 force = c.limit * curve.slope_over_y * c.tangents * slip;
  const int n = c.stencil.count;
  ContactVector gradient(3 * n);
  ContactMatrix hessian;
  for (int i = 0; i < n; ++i) gradient.segment<3>(3 * i) = c.weights[i] * force;
  if (derivatives != Derivatives::gradient) {
    Eigen::Matrix2d plane = curve.slope_over_y * Eigen::Matrix2d::Identity();
    if (y > 0) plane += (curve.curvature - curve.slope_over_y) / (y * y) * slip * slip.transpose();
    const Mat3 stiffness = c.limit * c.tangents * plane * c.tangents.transpose();
    hessian.resize(3 * n, 3 * n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) hessian.block<3, 3>(3 * i, 3 * j) = c.weights[i] * c.weights[j] * stiffness;
    }
  }
  // Slope and curvature of the curve are never negative: without turning obstacles there is nothing to project.
  const bool turning = std::any_of(
      c.stencil.points.begin(), c.stencil.points.begin() + n,
      [&](const auto& ref) { return ref.obstacle >= 0 && m_points->obstacle(ref.obstacle).dynamic(); });
  if (derivatives == Derivatives::projected_hessian && !turning) derivatives = Derivatives::hessian;
  ContactBlock block = make_block(*m_points, c.stencil, gradient, hessian, q, derivatives);
  block.value = c.limit * curve.value;
  return block;
}

void ContactFriction::append_links(std::vector<ContactLink>& links) const {
  const PointMap& map = m_points->surface().map;
  for (const Contact& c : m_contacts) {
    ContactLink& link = links.emplace_back();
    for (int k = 0; k < c.stencil.count; ++k) {
      const ContactPointRef& p = c.stencil.points[to_size(k)];
      if (p.obstacle >= 0) link.obstacles.push_back(p.obstacle);
      if (p.point < 0) continue;
      const std::span<const int> nodes = map.nodes_of(p.point);
      link.nodes.insert(link.nodes.end(), nodes.begin(), nodes.end());
    }
  }
}

}  // namespace exemplar
