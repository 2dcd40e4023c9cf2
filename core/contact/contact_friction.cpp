// Lagged smooth Coulomb friction: D = μ λ f₀(|Tᵀ δ|), with the normal force λ, the tangents T and the contact
// points fixed and δ the relative displacement of the two sides since the step's start (IPC §5).
//
// Departure: an obstacle's contact point is the place of the surface's nearest point, fixed to the obstacle,
// instead of the obstacle's own nearest point; both sides then feel opposite forces at the same place, and no
// moment is made. It also lets a ball roll: the point turns with it.
#include <cmath>

#include "core/base/parallel.h"
#include "core/contact/barrier.h"
#include "core/contact/contact.h"
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

}  // namespace

double ContactPotential::friction_coefficient(const ContactPair& pair) const {
  int a = m_points[pair.points[0]].owner;
  int b = pair.shape;
  for (int k = 1; b < 0 && pair.kind != ContactPairKind::point_shape && k < 4; ++k) {
    if (m_points[pair.points[k]].owner != a)
      b = m_points[pair.points[k]].owner >= 0 ? m_points[pair.points[k]].owner : a;
  }
  if (a < 0) return b < 0 ? 0 : (*m_obstacles)[b].description().friction;
  if (b < 0 || b == a) return (*m_obstacles)[a].description().friction;
  return std::sqrt((*m_obstacles)[a].description().friction * (*m_obstacles)[b].description().friction);
}

void ContactPotential::update_friction(const PointsRef& x, const VecX& q, double dt) {
  m_frictions.clear();
  m_friction_dt = dt;
  const Points positions = place(x, q);
  const std::vector<Pose> all = poses(q);
  for (const ContactPair& pair : m_pairs) {
    const double g = gap(pair, positions, all);
    if (!(g > 0) || g >= m_options.reach) continue;
    double force = -contact_barrier(g, m_options.reach, m_options.stiffness * pair.area).slope;
    if (pair.kind == ContactPairKind::edge_edge)
      force *= parallel_edge_factor(corners(pair, positions), pair.parallel, false).value;
    const double limit = friction_coefficient(pair) * force;
    if (limit > 0) m_frictions.push_back(make_friction(pair, positions, q, limit));
  }
}

ContactPotential::Friction ContactPotential::make_friction(const ContactPair& pair, const Points& positions,
                                                           const VecX& q, double limit) const {
  // Sides: points with weights that sum to one, and the place where they touch.
  std::array<std::vector<std::pair<int, double>>, 2> sides;
  std::array<Vec3, 2> places;
  Vec3 normal;
  std::array<int, 2> owners{m_points[pair.points[0]].owner, pair.shape};
  if (pair.kind == ContactPairKind::point_shape) {
    places[0] = positions.row(pair.points[0]);
    const SignedDistance d = (*m_obstacles)[pair.shape].distance(
        moved(m_start[pair.shape], q.segment<6>(6 * pair.shape)), places[0]);
    normal = d.gradient;
    places[1] = places[0] - d.value * normal;
    sides[0] = {{pair.points[0], 1.0}};
  } else {
    const auto points = corners(pair, positions);
    const bool edges = pair.kind == ContactPairKind::edge_edge;
    const Nearest nearest = edges ? nearest_edges(points) : nearest_point_triangle(points);
    normal = nearest.normal;
    places = {Vec3::Zero(), Vec3::Zero()};
    for (int k = 0; k < 4; ++k) {
      const int side = k < (edges ? 2 : 1) ? 0 : 1;
      const double weight = std::abs(nearest.weights[k]);
      if (weight == 0) continue;
      sides[side].emplace_back(pair.points[k], weight);
      places[side] += weight * points[k];
    }
    owners[1] = m_points[pair.points[3]].owner;
  }
  const bool both_rigid = owners[0] >= 0 && owners[1] >= 0;
  const Vec3 shared = both_rigid      ? Vec3(0.5 * (places[0] + places[1]))
                      : owners[0] < 0 ? places[0]
                                      : places[1];
  Friction f;
  f.limit = limit;
  f.tangents = tangents_of(normal);
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1 : -1;
    if (owners[side] >= 0) {
      const Pose p = pose(owners[side], q);
      f.points.push_back({-1, owners[side], p.rotation.transpose() * (shared - p.position)});
      f.weights.push_back(sign);
      continue;
    }
    for (const auto& [point, weight] : sides[side]) {
      f.points.push_back(reference(point));
      f.weights.push_back(sign * weight);
    }
  }
  const VecX rest = VecX::Zero(q.size());
  for (std::size_t k = 0; k < f.points.size(); ++k)
    f.start += f.weights[k] * place(f.points[k], m_start_nodes, rest);
  return f;
}

double ContactPotential::friction_value(const PointsRef& x, const VecX& q) const {
  const double epsilon = m_options.sticking_speed * m_friction_dt;
  double sum = 0;
  for (const Friction& f : m_frictions) {
    sum += f.limit * friction_curve(slip_of(f, x, q).norm(), epsilon).value;
  }
  return sum;
}

double ContactPotential::friction_work(const PointsRef& x, const VecX& q) const {
  const double epsilon = m_options.sticking_speed * m_friction_dt;
  double sum = 0;
  for (const Friction& f : m_frictions) {
    const double y = slip_of(f, x, q).norm();
    sum += f.limit * friction_curve(y, epsilon).slope_over_y * y * y;
  }
  return sum;
}

Vec2 ContactPotential::slip_of(const Friction& f, const PointsRef& x, const VecX& q) const {
  Vec3 delta = -f.start;
  for (std::size_t k = 0; k < f.points.size(); ++k) delta += f.weights[k] * place(f.points[k], x, q);
  return f.tangents.transpose() * delta;
}

std::vector<ContactBlock> ContactPotential::friction_blocks(const PointsRef& x, const VecX& q,
                                                            Derivatives derivatives) const {
  std::vector<ContactBlock> out(m_frictions.size());
  parallel_for(
      m_frictions.size(), [&](std::size_t i) { out[i] = friction_block(m_frictions[i], x, q, derivatives); },
      16);
  return out;
}

ContactBlock ContactPotential::friction_block(const Friction& f, const PointsRef& x, const VecX& q,
                                              Derivatives derivatives) const {
  const Vec2 slip = slip_of(f, x, q);
  const double y = slip.norm();
  const FrictionCurve curve = friction_curve(y, m_options.sticking_speed * m_friction_dt);
  const Vec3 force = f.limit * curve.slope_over_y * f.tangents * slip;
  Eigen::Matrix2d plane = curve.slope_over_y * Eigen::Matrix2d::Identity();
  if (y > 0) plane += (curve.curvature - curve.slope_over_y) / (y * y) * slip * slip.transpose();
  const Mat3 stiffness = f.limit * f.tangents * plane * f.tangents.transpose();
  const int n = static_cast<int>(f.points.size());
  VecX gradient(3 * n);
  MatX hessian(3 * n, 3 * n);
  for (int i = 0; i < n; ++i) {
    gradient.segment<3>(3 * i) = f.weights[i] * force;
    for (int j = 0; j < n; ++j) hessian.block<3, 3>(3 * i, 3 * j) = f.weights[i] * f.weights[j] * stiffness;
  }
  ContactBlock block = assemble(f.points, -1, gradient, hessian, q, derivatives);
  block.value = f.limit * curve.value;
  return block;
}

}  // namespace exemplar
