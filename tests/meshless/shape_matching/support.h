// Bodies and motions that several shape-matching tests use.
#pragma once

#include <Eigen/Geometry>

#include "core/base/random.h"
#include "meshless/shape_matching/body.h"
#include "meshless/shape_matching/rotation.h"

namespace exemplar::shape_matching::test {

inline Points random_points(int count, std::uint64_t seed, double scale = 1.0) {
  Points out(count, 3);
  for (Eigen::Index i = 0; i < out.size(); ++i) out.data()[i] = scale * normal_random(seed, i);
  return out;
}

inline VecX random_masses(int count, std::uint64_t seed) {
  VecX out(count);
  for (int i = 0; i < count; ++i) out(i) = 0.5 + uniform_random(seed, 1000 + i);
  return out;
}

inline Mat3 random_rotation(std::uint64_t seed) {
  const Quat q(normal_random(seed, 1), normal_random(seed, 2), normal_random(seed, 3),
               normal_random(seed, 4));
  return q.normalized().toRotationMatrix();
}

inline Mat3 random_matrix(std::uint64_t seed) {
  Mat3 out;
  for (int i = 0; i < 9; ++i) out.data()[i] = normal_random(seed, 20 + i);
  return out;
}

inline Points moved(const Points& points, const Mat3& linear, const Vec3& shift) {
  return (points * linear.transpose()).rowwise() + shift.transpose();
}

inline Points goals_of(CellSet& cells, const Points& positions) {
  Points goals;
  cells.match(positions, positions.colwise().mean().transpose(), goals);
  return goals;
}

inline BodyOptions stiff_options(double beta = 0.0) {
  BodyOptions options;
  options.match.beta = beta;
  options.stiffness.frequency = 1e4;  // α = 1 at every step used here
  options.stiffness.iterations = 1;
  options.stiffness.damping_ratio = 0.5;
  return options;
}

inline BodyOptions undamped(BodyOptions options) {
  options.stiffness.damping_ratio = 0.0;
  return options;
}

inline Vec3 linear_momentum(const ShapeMatchingBody& body) {
  return (body.masses().transpose() * body.velocities).transpose();
}

inline Vec3 angular_momentum(const ShapeMatchingBody& body) {
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
    sum += body.masses()(i) * Vec3(body.positions.row(i)).cross(Vec3(body.velocities.row(i)));
  return sum;
}

// Largest distance of the particles from the rest shape after the best rigid motion, by singular values of
// its own.
inline double shape_error(const Points& rest, const Points& positions, const VecX& masses) {
  const Mat3 r = body_rotation(rest, positions, masses, Mat3::Identity());
  const Eigen::RowVector3d c0 = masses.transpose() * rest / masses.sum(),
                           c = masses.transpose() * positions / masses.sum();
  return ((positions.rowwise() - c) - (rest.rowwise() - c0) * r.transpose()).rowwise().norm().maxCoeff();
}

}  // namespace exemplar::shape_matching::test
