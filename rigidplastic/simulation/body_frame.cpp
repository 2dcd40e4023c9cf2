#include "rigidplastic/simulation/body_frame.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

namespace exemplar::rigid {

BodyFrame principal_frame(const MassProperties& mass) {
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(mass.inertia);
  BodyFrame frame;
  frame.centre = mass.centre;
  frame.axes = principal.eigenvectors();
  if (frame.axes.determinant() < 0) frame.axes.col(0) *= -1;
  frame.inertia = principal.eigenvalues();
  return frame;
}

BodyFrame principal_frame(const MassProperties& mass, const Mat3& near) {
  const BodyFrame sorted = principal_frame(mass);
  const Mat3 overlap = (near.transpose() * sorted.axes).cwiseAbs();
  std::array<int, 3> order{0, 1, 2}, best{0, 1, 2};
  double most = -1;
  do {
    const double sum = overlap(0, order[0]) + overlap(1, order[1]) + overlap(2, order[2]);
    if (sum > most) {
      most = sum;
      best = order;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  BodyFrame frame = sorted;
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = sorted.axes.col(best[static_cast<std::size_t>(k)]);
    frame.axes.col(k) = axis.dot(near.col(k)) < 0 ? Vec3(-axis) : axis;
    frame.inertia[k] = sorted.inertia[best[static_cast<std::size_t>(k)]];
  }
  if (frame.axes.determinant() < 0) {
    Eigen::Index least = 0;
    (near.transpose() * frame.axes).diagonal().minCoeff(&least);
    frame.axes.col(least) *= -1;
  }
  return frame;
}

RigidState carried_over(const RigidState& state, double mass, const BodyFrame& from, const BodyFrame& to) {
  const Vec3 shift = state.orientation * Vec3(from.axes.transpose() * (to.centre - from.centre));  // δ
  RigidState now = state;
  now.position += shift;
  now.orientation = (state.orientation * Quat(Mat3(from.axes.transpose() * to.axes))).normalized();
  const Vec3 spin = spin_momentum(state, from.inertia) - shift.cross(mass * state.velocity);
  const Vec3 local = now.orientation.conjugate() * spin;
  now.angular_velocity = now.orientation * Vec3(local.cwiseQuotient(to.inertia));
  return now;
}

Vec3 spin_momentum(const RigidState& state, const Vec3& principal_inertia) {
  const Vec3 local = state.orientation.conjugate() * state.angular_velocity;
  return state.orientation * Vec3(principal_inertia.cwiseProduct(local));
}

}  // namespace exemplar::rigid
