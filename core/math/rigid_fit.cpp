#include "core/math/rigid_fit.h"

#include <cassert>

#include "core/math/polar.h"

namespace exemplar {

RigidTransform fit_rigid(const Points& from, const Points& to, const VecX& weights) {
  assert(from.rows() == to.rows() && (weights.size() == 0 || weights.size() == from.rows()));
  if (from.rows() == 0) return {};
  const VecX w = weights.size() > 0 ? weights : VecX::Ones(from.rows());
  const double total = w.sum();
  const Vec3 from_centre = from.transpose() * w / total;
  const Vec3 to_centre = to.transpose() * w / total;
  Mat3 covariance = Mat3::Zero();
  for (Eigen::Index i = 0; i < from.rows(); ++i) {
    covariance +=
        w[i] * (to.row(i).transpose() - to_centre) * (from.row(i).transpose() - from_centre).transpose();
  }
  RigidTransform motion;
  motion.rotation = polar_rotation(covariance);
  motion.translation = to_centre - motion.rotation * from_centre;
  return motion;
}

Points transform(const RigidTransform& motion, const Points& points) {
  return (points * motion.rotation.transpose()).rowwise() + motion.translation.transpose();
}

}  // namespace exemplar
