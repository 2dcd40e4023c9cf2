#include "rigidplastic/lbs/weight_change.h"

#include <Eigen/QR>

#include "core/math/simplex_qp.h"

namespace exemplar::lbs {

namespace {

constexpr double k_orthogonal = 1e-8;      // ε of eq. 8
constexpr double k_rank_threshold = 1e-3;  // of the largest pivot; the paper found no good choice either

}  // namespace

Vec3 asked_displacement(const Vec3& impulse, double threshold, double mass, double time) {
  const double size = impulse.norm();
  if (size <= threshold || size == 0) return Vec3::Zero();
  return time / mass * (size - threshold) / size * impulse;
}

VecX weight_change(Projection projection, const Eigen::Matrix3Xd& columns, const VecX& weights,
                   const Vec3& displacement, double alpha) {
  const VecX gradient = columns.transpose() * displacement;
  switch (projection) {
    case Projection::normalised: {
      const double size = gradient.norm();
      if (size <= k_orthogonal) return VecX::Zero(columns.cols());
      return alpha * displacement.norm() / size * gradient;
    }
    case Projection::gradient:
      return alpha * gradient;
    case Projection::pseudo_inverse: {
      Eigen::CompleteOrthogonalDecomposition<MatX> decomposition;
      decomposition.setThreshold(k_rank_threshold);
      decomposition.compute(columns);
      return alpha * decomposition.solve(displacement);
    }
    case Projection::constrained:
      return project_on_simplex_hull(columns, columns * weights + alpha * displacement) - weights;
  }
  return VecX::Zero(columns.cols());
}

Eigen::Matrix3Xd without_rest(const Eigen::Matrix3Xd& jacobian) {
  return jacobian.rightCols(jacobian.cols() - 1).colwise() - jacobian.col(0);
}

double falloff(double s) {
  return s < 1 ? (2 * s - 3) * s * s + 1 : 0;
}

}  // namespace exemplar::lbs
