#include "core/contact/contact_blocks.h"

#include <cmath>

#include "core/contact/barrier.h"
#include "core/contact/primitive_distance.h"
#include "core/math/psd.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

using Vec9 = Eigen::Matrix<double, 9, 1>;
using Mat9 = Eigen::Matrix<double, 9, 9>;

// φ(R₀ᵀ exp(−[θ]×)(x − p₀ − u)) over (x, u, θ).
struct ShapeGap {
  double value;
  Vec9 gradient;
  Mat9 hessian;
};

ShapeGap shape_gap(const ShapeGeometry& shape, const ObstacleState& start, const Vec6& q, const Vec3& x,
                   bool second) {
  const Mat3 r0 = start.orientation.toRotationMatrix();
  const Vec3 z = x - start.position - q.head<3>(), theta = -q.tail<3>();
  const RotatedVector turned = rotate(theta, z);
  const SignedDistance d = shape.distance(r0.transpose() * turned.value);
  const Vec3 g = r0 * d.gradient;
  const Mat3 m = exp_rotation(theta);
  ShapeGap out;
  out.value = d.value;
  const Vec3 gz = m.transpose() * g, gt = -turned.jacobian.transpose() * g;
  out.gradient.segment<3>(0) = gz;
  out.gradient.segment<3>(3) = -gz;
  out.gradient.segment<3>(6) = gt;
  if (!second) return out;
  const Mat3 h = r0 * d.hessian * r0.transpose();
  const Mat3 zz = m.transpose() * h * m;
  Mat3 zt = -m.transpose() * h * turned.jacobian;
  // ∂²(g·exp(−[θ]×)z)/∂z_j∂θ: the rotated vector is linear in z.
  for (int j = 0; j < 3; ++j) zt.row(j) -= g.transpose() * rotate(theta, Vec3::Unit(j)).jacobian;
  Mat3 tt = turned.jacobian.transpose() * h * turned.jacobian;
  for (int i = 0; i < 3; ++i) tt += g[i] * turned.second[i];
  out.hessian << zz, -zz, zt, -zz, zz, -zt, zt.transpose(), -zt.transpose(), tt;
  return out;
}

// Where the stencil's points and shape stand among the block's coordinates; −1: they are no unknowns.
struct Layout {
  std::array<int, 4> point_first{-1, -1, -1, -1};
  int shape_first = -1;
  int size = 0;
};

Layout set_members(const ContactPoints& points, const ContactStencil& stencil, ContactBlock& block) {
  Layout layout;
  for (std::size_t i = 0; i < to_size(stencil.count); ++i) {
    if (stencil.points[i].point < 0) continue;
    layout.point_first[i] = layout.size;
    block.points[to_size(block.point_count++)] = stencil.points[i].point;
    layout.size += 3;
  }
  const auto first_of = [&](int obstacle) {
    if (obstacle < 0 || !points.obstacle(obstacle).dynamic()) return -1;
    const int k = block.obstacles[0] < 0 || block.obstacles[0] == obstacle ? 0 : 1;
    if (block.obstacles[to_size(k)] < 0) {
      block.obstacles[to_size(k)] = obstacle;
      layout.size += 6;
    }
    return block.obstacle_first(k);
  };
  for (std::size_t i = 0; i < to_size(stencil.count); ++i) {
    if (stencil.points[i].point < 0) layout.point_first[i] = first_of(stencil.points[i].obstacle);
  }
  layout.shape_first = first_of(stencil.shape);
  return layout;
}

// Of four free points: what moves all of them alike changes nothing, so the projection is done in the nine other
// directions, in less than half the time.
Mat12 project_four_points(const Mat12& h) {
  static const Eigen::Matrix<double, 4, 3> basis = [] {
    Eigen::Matrix<double, 4, 3> b;
    b << 1, 1, 1, -1, 1, 1, 0, -2, 1, 0, 0, -3;
    b.colwise().normalize();
    return b;
  }();
  Eigen::Matrix<double, 12, 9> wide = Eigen::Matrix<double, 12, 9>::Zero();
  for (int i = 0; i < 4; ++i) {
    for (int a = 0; a < 3; ++a) wide.block<3, 3>(3 * i, 3 * a).diagonal().setConstant(basis(i, a));
  }
  const Mat9 reduced = wide.transpose() * h * wide;
  return wide * project_psd(reduced) * wide.transpose();
}

void finish_hessian(ContactMatrix h, Derivatives derivatives, ContactBlock& block) {
  h = (0.5 * (h + h.transpose())).eval();
  if (derivatives == Derivatives::projected_hessian && h.size() > 0) {
    if (block.between && block.point_count == 4) {
      h = project_four_points(h);
    } else {
      h = project_psd(h);
    }
    h = (0.5 * (h + h.transpose())).eval();
  }
  block.hessian = h;
}

// Without dynamic obstacles the block is a selection of the inputs.
void select(const ContactStencil& stencil, const Layout& layout, const ContactVector& gradient,
            const ContactMatrix& hessian, Derivatives derivatives, ContactBlock& block) {
  block.gradient.resize(layout.size);
  ContactMatrix h(layout.size, layout.size);
  for (int i = 0; i < stencil.count; ++i) {
    const int to = layout.point_first[to_size(i)];
    if (to < 0) continue;
    block.gradient.segment<3>(to) = gradient.segment<3>(3 * i);
    if (derivatives == Derivatives::gradient) continue;
    for (int j = 0; j < stencil.count; ++j) {
      const int beside = layout.point_first[to_size(j)];
      if (beside >= 0) h.block<3, 3>(to, beside) = hessian.block<3, 3>(3 * i, 3 * j);
    }
  }
  if (derivatives != Derivatives::gradient) finish_hessian(h, derivatives, block);
}

}  // namespace

ContactPointRef reference(const ContactPoints& points, int point) {
  const ContactPoints::Feature& p = points[point];
  return p.owner < 0 ? ContactPointRef{point, -1, Vec3::Zero()} : ContactPointRef{-1, p.owner, p.local};
}

Vec3 place(const ContactPoints& points, const ContactPointRef& ref, const ContactPoints::PointsRef& x,
           const VecX& q) {
  if (ref.point >= 0) return points.surface().map.at(ref.point, x);
  const ContactPoints::Pose p = points.pose(ref.obstacle, q);
  return p.position + p.rotation * ref.local;
}

ContactBlock make_block(const ContactPoints& points, const ContactStencil& stencil,
                        const ContactVector& gradient, const ContactMatrix& hessian, const VecX& q,
                        Derivatives derivatives) {
  ContactBlock block;
  const Layout layout = set_members(points, stencil, block);
  block.between = stencil.shape < 0 && block.point_count == stencil.count;
  if (block.obstacles[0] < 0) {
    select(stencil, layout, gradient, hessian, derivatives, block);
    return block;
  }
  // Jacobian of the inputs with respect to the block's coordinates, and what the curvature of obstacle arcs
  // adds.
  const Eigen::Index inputs = gradient.size();
  ContactMatrix jacobian = ContactMatrix::Zero(inputs, layout.size),
                bent = ContactMatrix::Zero(layout.size, layout.size);
  for (int i = 0; i < stencil.count; ++i) {
    const int row = 3 * i, first = layout.point_first[to_size(i)];
    const ContactPointRef& ref = stencil.points[to_size(i)];
    if (first < 0) continue;
    jacobian.block<3, 3>(row, first).setIdentity();
    if (ref.point >= 0) continue;
    const RotatedVector arm =
        rotate(q.segment<3>(6 * ref.obstacle + 3), points.start(ref.obstacle).orientation * ref.local);
    jacobian.block<3, 3>(row, first + 3) = arm.jacobian;
    for (int k = 0; k < 3; ++k) bent.block<3, 3>(first + 3, first + 3) += gradient[row + k] * arm.second[k];
  }
  if (layout.shape_first >= 0) jacobian.block<6, 6>(inputs - 6, layout.shape_first).setIdentity();
  block.gradient = jacobian.transpose() * gradient;
  if (derivatives == Derivatives::gradient) return block;
  finish_hessian(jacobian.transpose() * hessian * jacobian + bent, derivatives, block);
  return block;
}

double pair_value(const ContactPoints& points, const ContactPair& pair, const ContactPoints::Placed& at) {
  const double g = points.gap(pair, at);
  const double energy = contact_barrier(g, pair.reach, pair.stiffness * pair.area).value;
  if (energy == 0 || pair.kind != ContactPairKind::edge_edge || !std::isfinite(energy)) return energy;
  return energy * parallel_edge_factor(points.corners(pair, at.points), pair.parallel, false).value;
}

namespace {

ContactBlock shape_block(const ContactPoints& points, const ContactPair& pair, const Points& positions,
                         const VecX& q, Derivatives derivatives) {
  const bool second = derivatives != Derivatives::gradient;
  const ShapeGap d =
      shape_gap(points.obstacle(pair.shape).shape(), points.start(pair.shape), q.segment<6>(6 * pair.shape),
                positions.row(pair.points[0]).transpose(), second);
  const Barrier b = contact_barrier(d.value - pair.radius, pair.reach, pair.stiffness * pair.area);
  ContactMatrix hessian;
  if (second) hessian = b.slope * d.hessian + b.curvature * d.gradient * d.gradient.transpose();
  ContactStencil stencil;
  stencil.add(reference(points, pair.points[0]));
  stencil.shape = pair.shape;
  ContactBlock block = make_block(points, stencil, b.slope * d.gradient, hessian, q, derivatives);
  block.value = b.value;
  return block;
}

}  // namespace

ContactBlock pair_block(const ContactPoints& points, const ContactPair& pair, const Points& positions,
                        const VecX& q, Derivatives derivatives) {
  if (pair.kind == ContactPairKind::point_shape) return shape_block(points, pair, positions, q, derivatives);
  const bool second = derivatives != Derivatives::gradient;
  const auto corners = points.corners(pair, positions);
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const Nearest nearest = edges ? nearest_edges(corners) : nearest_point_triangle(corners);
  const Barrier b = contact_barrier(nearest.value - pair.radius, pair.reach, pair.stiffness * pair.area);
  const Vec12 dg = distance_gradient(nearest);
  Vec12 gradient = b.slope * dg;
  Mat12 hessian;
  if (second) hessian = b.slope * distance_hessian(nearest, corners) + b.curvature * dg * dg.transpose();
  double value = b.value;
  if (edges) {
    const EdgeFactor factor = parallel_edge_factor(corners, pair.parallel, true);
    if (second) {
      hessian = (factor.value * hessian + b.value * factor.hessian + factor.gradient * gradient.transpose() +
                 gradient * factor.gradient.transpose())
                    .eval();
    }
    gradient = (factor.value * gradient + b.value * factor.gradient).eval();
    value *= factor.value;
  }
  ContactStencil stencil;
  for (const int p : pair.points) stencil.add(reference(points, p));
  ContactBlock block = make_block(points, stencil, gradient,
                                  second ? ContactMatrix(hessian) : ContactMatrix(), q, derivatives);
  block.value = value;
  return block;
}

}  // namespace exemplar
