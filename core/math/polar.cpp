#include "core/math/polar.h"

#include <Eigen/Eigenvalues>

#include "core/math/svd3.h"

namespace exemplar {

Mat3 polar_rotation(const Mat3& f) {
  const Svd3 svd = signed_svd(f);
  return svd.u * svd.v.transpose();
}

Mat3 symmetric_root(const Mat3& c, double floor) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(c);
  const Vec3 roots = eigen.eigenvalues().cwiseMax(floor).cwiseSqrt();
  return eigen.eigenvectors() * roots.asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace exemplar
