#include "core/math/svd3.h"

#include <cmath>
#include <utility>

namespace exemplar {

namespace {

// Rotates columns p and q of b (and of v) so that the columns of b become orthogonal; false if they already
// are.
bool orthogonalise(Mat3& b, Mat3& v, int p, int q) {
  const double alpha = b.col(p).squaredNorm();
  const double beta = b.col(q).squaredNorm();
  const double gamma = b.col(p).dot(b.col(q));
  if (std::abs(gamma) <= 1e-16 * std::sqrt(alpha * beta) || gamma == 0) return false;
  const double zeta = (beta - alpha) / (2 * gamma);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double c = 1 / std::sqrt(1 + t * t);
  const double s = c * t;
  for (Mat3* m : {&b, &v}) {
    const Vec3 old = m->col(p);
    m->col(p) = c * old - s * m->col(q);
    m->col(q) = s * old + c * m->col(q);
  }
  return true;
}

// Swaps two columns of b and v; one sign changes so that v stays a rotation.
void swap_columns(Mat3& b, Mat3& v, int p, int q) {
  for (Mat3* m : {&b, &v}) {
    const Vec3 old = m->col(p);
    m->col(p) = m->col(q);
    m->col(q) = -old;
  }
}

void sort_columns(Mat3& b, Mat3& v, Vec3& norms) {
  for (const auto& [p, q] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    if (norms[p] >= norms[q]) continue;
    swap_columns(b, v, p, q);
    std::swap(norms[p], norms[q]);
  }
}

}  // namespace

Svd3 signed_svd(const Mat3& f) {
  const double scale = f.cwiseAbs().maxCoeff();
  if (!(scale > 0) || !std::isfinite(scale))
    return {Mat3::Identity(), Vec3::Constant(scale), Mat3::Identity()};
  Mat3 b = f / scale;
  Mat3 v = Mat3::Identity();
  for (int sweep = 0; sweep < 30; ++sweep) {
    const bool first = orthogonalise(b, v, 0, 1);
    const bool second = orthogonalise(b, v, 0, 2);
    const bool third = orthogonalise(b, v, 1, 2);
    if (!first && !second && !third) break;
  }
  Vec3 norms = b.colwise().norm().transpose();
  sort_columns(b, v, norms);

  Svd3 result;
  result.v = v;
  const Vec3 u0 = b.col(0) / norms[0];
  // A (nearly) vanishing second column says nothing about its direction: any unit vector across the first
  // will do.
  Vec3 u1 = norms[1] > 1e-150 ? Vec3(b.col(1) / norms[1]) : u0.unitOrthogonal();
  u1 = (u1 - u0 * u0.dot(u1)).normalized();
  const Vec3 u2 = u0.cross(u1);
  result.u << u0, u1, u2;
  result.s = scale * Vec3(norms[0], norms[1], u2.dot(b.col(2)));
  return result;
}

}  // namespace exemplar
