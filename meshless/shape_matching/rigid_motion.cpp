#include "meshless/shape_matching/rigid_motion.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "meshless/shape_matching/rotation.h"

namespace exemplar::shape_matching {

using namespace lanes;

namespace {

struct MotionSums {
  double mass = 0.0;
  Lane first{}, second[3]{};  // Σ m x, rows of Σ m x xᵀ
  MomentumSum momentum;
  MotionSums& operator+=(const MotionSums& other) {
    mass += other.mass;
    first += other.first;
    for (int axis = 0; axis < 3; ++axis) second[axis] += other.second[axis];
    momentum += other.momentum;
    return *this;
  }
};

void add_motion(const double* x, const double* v, const double* m, Lane near, std::size_t begin,
                std::size_t end, MotionSums& sums) {
  MotionSums s;
  for (std::size_t i = begin; i < end; ++i) {
    const Lane p = load_three(x + 3 * i) - near, weighted = m[i] * p;
    s.mass += m[i];
    s.first += weighted;
    for (int axis = 0; axis < 3; ++axis) s.second[axis] += p[axis] * weighted;
    s.momentum.add(m[i], p, load_three(v + 3 * i));
  }
  sums = s;
}

Vec3 vec(Lane a) {
  return {a[0], a[1], a[2]};
}

}  // namespace

Vec3 solve_inertia(const Mat3& inertia, const Vec3& angular_momentum) {
  // Away from rods and points the inverse will do; eigenvalues take as long as a few hundred particles.
  const double mean = inertia.trace() / 3.0;
  if (inertia.determinant() > 1e-3 * mean * mean * mean) return inertia.inverse() * angular_momentum;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
  const Vec3& values = solver.eigenvalues();
  Vec3 local = solver.eigenvectors().transpose() * angular_momentum;
  for (int i = 0; i < 3; ++i) local(i) = values(i) > 1e-10 * values(2) ? local(i) / values(i) : 0.0;
  return solver.eigenvectors() * local;
}

MomentumSum momentum_of(const Points& positions, const Points& velocities, const VecX& masses,
                        const Vec3& about) {
  const Lane centre{about.x(), about.y(), about.z(), 0.0};
  const double *x = positions.data(), *v = velocities.data();
  return ordered_sum<MomentumSum>(static_cast<std::size_t>(positions.rows()),
                                  [&](std::size_t begin, std::size_t end, MomentumSum& part) {
                                    MomentumSum sum;
                                    for (std::size_t i = begin; i < end; ++i)
                                      sum.add(masses(static_cast<Eigen::Index>(i)),
                                              load_three(x + 3 * i) - centre, load_three(v + 3 * i));
                                    part = sum;
                                  });
}

CloudMotion cloud_motion(const Points& positions, const Points& velocities, const VecX& masses,
                         const Vec3& near) {
  const Lane from{near.x(), near.y(), near.z(), 0.0};
  const auto s = ordered_sum<MotionSums>(
      static_cast<std::size_t>(positions.rows()), [&](std::size_t begin, std::size_t end, MotionSums& sums) {
        add_motion(positions.data(), velocities.data(), masses.data(), from, begin, end, sums);
      });
  CloudMotion out;
  out.mass = s.mass;
  const Vec3 offset = vec(s.first) / s.mass;
  out.centre = near + offset;
  out.velocity = s.momentum.momentum() / s.mass;
  out.angular_momentum = s.momentum.angular_momentum() - s.mass * offset.cross(out.velocity);
  Mat3 second;
  for (int axis = 0; axis < 3; ++axis) second.row(axis) = vec(s.second[axis]).transpose();
  second -= s.mass * offset * offset.transpose();
  out.inertia = second.trace() * Mat3::Identity() - second;
  out.spin = solve_inertia(out.inertia, out.angular_momentum);
  return out;
}

Mat3 body_rotation(const Points& rest, const Points& positions, const VecX& masses, const Mat3& last) {
  const double mass = masses.sum();
  const Eigen::RowVector3d c0 = masses.transpose() * rest / mass, c = masses.transpose() * positions / mass;
  const Mat3 a = (positions.rowwise() - c).transpose() * masses.asDiagonal() * (rest.rowwise() - c0);
  return nearest_rotation(a, last);
}

}  // namespace exemplar::shape_matching
