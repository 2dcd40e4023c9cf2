// Derivatives of contact pairs: distances → barrier → positions → nodes and obstacle increments.
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "core/contact/barrier.h"
#include "core/contact/contact.h"
#include "core/contact/primitive_distance.h"
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

void project_to_psd(MatX& h) {
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(h);
  if (eigen.eigenvalues()[0] >= 0) return;
  h = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() *
      eigen.eigenvectors().transpose();
  h = 0.5 * (h + h.transpose()).eval();
}

}  // namespace

ContactBlock ContactPotential::pair_block(const ContactPair& pair, const Points& positions, const VecX& q,
                                          Derivatives derivatives) const {
  const bool second = derivatives != Derivatives::gradient;
  const double scale = m_options.stiffness * pair.area;
  if (pair.kind == ContactPairKind::point_shape) {
    const ShapeGap d =
        shape_gap((*m_obstacles)[pair.shape].shape(), m_start[pair.shape], q.segment<6>(6 * pair.shape),
                  positions.row(pair.points[0]).transpose(), second);
    const Barrier b = contact_barrier(d.value - pair.radius, m_options.reach, scale);
    MatX hessian;
    if (second) hessian = b.slope * d.hessian + b.curvature * d.gradient * d.gradient.transpose();
    ContactBlock block =
        assemble({reference(pair.points[0])}, pair.shape, b.slope * d.gradient, hessian, q, derivatives);
    block.value = b.value;
    return block;
  }
  const auto points = corners(pair, positions);
  const bool edges = pair.kind == ContactPairKind::edge_edge;
  const Nearest nearest = edges ? nearest_edges(points) : nearest_point_triangle(points);
  const Barrier b = contact_barrier(nearest.value - pair.radius, m_options.reach, scale);
  const Vec12 dg = distance_gradient(nearest);
  VecX gradient = b.slope * dg;
  MatX hessian;
  if (second) hessian = b.slope * distance_hessian(nearest, points) + b.curvature * dg * dg.transpose();
  double value = b.value;
  if (edges) {
    const EdgeFactor factor = parallel_edge_factor(points, pair.parallel, true);
    if (second) {
      hessian = (factor.value * hessian + b.value * factor.hessian + factor.gradient * gradient.transpose() +
                 gradient * factor.gradient.transpose())
                    .eval();
    }
    gradient = (factor.value * gradient + b.value * factor.gradient).eval();
    value *= factor.value;
  }
  std::vector<PointRef> refs;
  for (const int p : pair.points) refs.push_back(reference(p));
  ContactBlock block = assemble(refs, -1, gradient, hessian, q, derivatives);
  block.value = value;
  return block;
}

// Local coordinates are three for every surface point and six for every dynamic obstacle; in the block, nodes
// come first and are shared by the points that hang on them.
struct ContactPotential::Layout {
  struct Target {
    std::vector<std::pair<int, double>> rows;  // (first row in the block, weight)
    int first = 0;                             // local coordinate
    int size = 3;
  };
  std::vector<Target> targets;
  std::vector<int> nodes;
  std::array<int, 2> obstacles{-1, -1};
  std::array<int, 2> obstacle_first{-1, -1};  // local coordinates
  int local_size = 0, block_size = 0;

  int slot_of(int obstacle) const {
    for (int k = 0; k < 2; ++k) {
      if (obstacle >= 0 && obstacles[k] == obstacle) return obstacle_first[k];
    }
    return -1;
  }
};

ContactPotential::Layout ContactPotential::make_layout(const std::vector<PointRef>& points, int shape) const {
  Layout layout;
  const PointMap& map = m_surface.map;
  for (const PointRef& p : points) {
    if (p.point < 0) continue;
    Layout::Target target;
    target.first = layout.local_size;
    for (int k = map.offsets[p.point]; k < map.offsets[p.point + 1]; ++k) {
      const auto found = std::find(layout.nodes.begin(), layout.nodes.end(), map.nodes[k]);
      target.rows.emplace_back(3 * static_cast<int>(found - layout.nodes.begin()), map.weights[k]);
      if (found == layout.nodes.end()) layout.nodes.push_back(map.nodes[k]);
    }
    layout.targets.push_back(std::move(target));
    layout.local_size += 3;
  }
  layout.block_size = 3 * static_cast<int>(layout.nodes.size());
  const auto add_obstacle = [&](int obstacle) {
    if (obstacle < 0 || !(*m_obstacles)[obstacle].dynamic() || layout.slot_of(obstacle) >= 0) return;
    const int k = layout.obstacles[0] < 0 ? 0 : 1;
    layout.obstacles[k] = obstacle;
    layout.obstacle_first[k] = layout.local_size;
    layout.targets.push_back({{{layout.block_size, 1.0}}, layout.local_size, 6});
    layout.local_size += 6;
    layout.block_size += 6;
  };
  for (const PointRef& p : points) add_obstacle(p.obstacle);
  add_obstacle(shape);
  return layout;
}

ContactBlock ContactPotential::assemble(const std::vector<PointRef>& points, int shape, const VecX& gradient,
                                        const MatX& hessian, const VecX& q, Derivatives derivatives) const {
  const Layout layout = make_layout(points, shape);
  const bool second = derivatives != Derivatives::gradient;
  const int inputs = static_cast<int>(gradient.size());
  // Jacobian of the inputs with respect to the local coordinates, and what the curvature of obstacle arcs
  // adds.
  MatX jacobian = MatX::Zero(inputs, layout.local_size),
       bent = MatX::Zero(layout.local_size, layout.local_size);
  int surface_slot = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const int row = 3 * static_cast<int>(i), obstacle = points[i].obstacle;
    const int first = obstacle < 0 ? surface_slot : layout.slot_of(obstacle);
    if (first < 0) continue;
    jacobian.block<3, 3>(row, first).setIdentity();
    if (obstacle < 0) {
      surface_slot += 3;
      continue;
    }
    const RotatedVector arm =
        rotate(q.segment<3>(6 * obstacle + 3), m_start[obstacle].orientation * points[i].local);
    jacobian.block<3, 3>(row, first + 3) = arm.jacobian;
    for (int k = 0; k < 3; ++k) bent.block<3, 3>(first + 3, first + 3) += gradient[row + k] * arm.second[k];
  }
  if (layout.slot_of(shape) >= 0) jacobian.block<6, 6>(inputs - 6, layout.slot_of(shape)).setIdentity();

  ContactBlock block;
  block.nodes = layout.nodes;
  block.obstacles = layout.obstacles;
  block.gradient = VecX::Zero(layout.block_size);
  const VecX local = jacobian.transpose() * gradient;
  for (const Layout::Target& t : layout.targets) {
    for (const auto& [row, weight] : t.rows)
      block.gradient.segment(row, t.size) += weight * local.segment(t.first, t.size);
  }
  if (!second) return block;
  MatX local_hessian = jacobian.transpose() * hessian * jacobian + bent;
  local_hessian = (0.5 * (local_hessian + local_hessian.transpose())).eval();
  if (derivatives == Derivatives::projected_hessian && layout.local_size > 0) project_to_psd(local_hessian);
  block.hessian = MatX::Zero(layout.block_size, layout.block_size);
  for (const Layout::Target& s : layout.targets) {
    for (const Layout::Target& t : layout.targets) {
      const auto part = local_hessian.block(s.first, t.first, s.size, t.size);
      for (const auto& [row, wr] : s.rows) {
        for (const auto& [column, wc] : t.rows)
          block.hessian.block(row, column, s.size, t.size) += wr * wc * part;
      }
    }
  }
  return block;
}

}  // namespace exemplar
