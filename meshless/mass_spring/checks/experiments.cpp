#include "meshless/mass_spring/checks/experiments.h"

#include <cmath>

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar::mass_spring {

double bar_modulus(int n, StiffnessRule rule) {
  NetworkOptions options;
  options.rule = rule;
  options.spring_constant = 2e4;
  const Vec3 size(2.0, 0.5, 0.5);
  SpringOptions dynamics;
  dynamics.damping_ratio = 0.2;
  dynamics.air_drag = 20.0;
  SpringBody body(make_tet_network(box_tets(size, {4 * n, n, n}), {}, options), dynamics);
  // Equal tractions on the end faces: forces by the nodes' share of the face.
  const double force = 1e-3 * options.young * size.y() * size.z();
  Points forces = Points::Zero(body.positions.rows(), 3);
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i) {
    const Eigen::RowVector3d x = body.positions.row(i);
    if (std::abs(std::abs(x(0)) - 1.0) > 1e-9) continue;
    double share = 1.0 / (n * n);
    for (int axis = 1; axis < 3; ++axis)
      if (std::abs(std::abs(x(axis)) - 0.25) < 1e-9) share *= 0.5;
    forces(i, 0) = x(0) > 0.0 ? force * share : -force * share;
  }
  const double dt = body.stable_step();
  for (int k = 0; k < static_cast<int>(1.5 / dt); ++k) {
    body.update_velocities(dt, Vec3::Zero(), forces);
    body.move(dt);
  }
  // Strain between two sections away from the ends.
  double left = 0.0, right = 0.0, count = 0.0;
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i) {
    const double x = body.network().rest_positions(i, 0), moved = body.positions(i, 0) - x;
    if (std::abs(std::abs(x) - 0.5) > 1e-9) continue;
    (x > 0.0 ? right : left) += moved;
    count += 0.5;
  }
  const double strain = (right - left) / count;
  return force / (size.y() * size.z()) / strain;
}

}  // namespace exemplar::mass_spring
