#include "core/world/rotation.h"

#include <cmath>

namespace exemplar {

namespace {

// A coefficient and its first two derivatives with respect to s = |θ|².
struct Coefficient {
  double f, d, dd;
};

struct Coefficients {
  Coefficient c, a, b;
};

// Σ (−s)^k k!-like series of the three functions: cos√s = Σ (−s)^k/(2k)!, a = Σ (−s)^k/(2k+1)!,
// b = Σ (−s)^k/(2k+2)!. `offset` is 0, 1 or 2.
Coefficient series(double s, int offset) {
  Coefficient out{0, 0, 0};
  double factorial = 1;
  for (int k = 2; k <= offset; ++k) factorial *= k;
  double sign_over_factorial = 1 / factorial;
  double p0 = 1, p1 = 0, p2 = 0;  // s^k and its derivatives
  for (int k = 0; k < 14; ++k) {
    out.f += sign_over_factorial * p0;
    out.d += sign_over_factorial * p1;
    out.dd += sign_over_factorial * p2;
    p2 = 2 * p1 + s * p2;
    p1 = p0 + s * p1;
    p0 *= s;
    sign_over_factorial /= -double((2 * k + offset + 1) * (2 * k + offset + 2));
  }
  return out;
}

Coefficients coefficients(double s) {
  if (s < 4.0) return {series(s, 0), series(s, 1), series(s, 2)};
  const double t = std::sqrt(s), sine = std::sin(t), cosine = std::cos(t);
  Coefficients k;
  // c' = −a/2, a' = (c − a)/(2s), b = (1 − c)/s, b' = (a/2 − b)/s, and again.
  k.c.f = cosine;
  k.a.f = sine / t;
  k.b.f = (1 - cosine) / s;
  k.c.d = -0.5 * k.a.f;
  k.a.d = (k.c.f - k.a.f) / (2 * s);
  k.b.d = (0.5 * k.a.f - k.b.f) / s;
  k.c.dd = -0.5 * k.a.d;
  k.a.dd = (k.c.d - 3 * k.a.d) / (2 * s);
  k.b.dd = (0.5 * k.a.d - 2 * k.b.d) / s;
  return k;
}

}  // namespace

Mat3 cross_matrix(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

Mat3 exp_rotation(const Vec3& theta) {
  return exp_quaternion(theta).toRotationMatrix();
}

Quat exp_quaternion(const Vec3& theta) {
  const double half = 0.5 * theta.norm();
  const double factor = half < 1e-4 ? 0.5 * (1 - half * half / 6) : 0.5 * std::sin(half) / half;
  Quat q(std::cos(half), factor * theta.x(), factor * theta.y(), factor * theta.z());
  q.normalize();
  return q;
}

Vec3 log_rotation(const Quat& rotation) {
  const Vec3 v = rotation.w() < 0 ? Vec3(-rotation.vec()) : Vec3(rotation.vec());
  const double sine = v.norm(), cosine = std::abs(rotation.w());
  if (sine < 1e-8) return 2.0 * v / cosine;
  return (2.0 * std::atan2(sine, cosine) / sine) * v;
}

Mat3 left_jacobian(const Vec3& theta) {
  const double s = theta.squaredNorm(), t = std::sqrt(s);
  const Coefficients k = coefficients(s);
  // (t − sin t)/t³ = (1 − a)/s
  const double third = t < 1e-2 ? 1.0 / 6 - s / 120 : (1 - k.a.f) / s;
  const Mat3 x = cross_matrix(theta);
  return Mat3::Identity() + k.b.f * x + third * x * x;
}

RotatedVector rotate(const Vec3& theta, const Vec3& v) {
  const Coefficients k = coefficients(theta.squaredNorm());
  const Vec3 cross = theta.cross(v);
  const double dot = theta.dot(v);
  const Mat3 cross_d = -cross_matrix(v);  // ∂(θ×v)/∂θ
  RotatedVector out;
  out.value = k.c.f * v + k.a.f * cross + k.b.f * dot * theta;
  // Each term is f(s) g(θ): gradient 2f' θ g + f ∇g; Hessian 4f'' θθᵀ g + 2f' I g + 2f'(θ ∇gᵀ + ∇g θᵀ) + f
  // ∇²g.
  const Mat3 theta_theta = theta * theta.transpose();
  for (int i = 0; i < 3; ++i) {
    const Vec3 grad_cross = cross_d.row(i);
    Vec3 grad_outer = theta[i] * v;  // ∇(θ_i (θ·v))
    grad_outer[i] += dot;
    Mat3 hess_outer = Mat3::Zero();
    hess_outer.row(i) += v.transpose();
    hess_outer.col(i) += v;
    const double outer = theta[i] * dot;
    out.jacobian.row(i) = 2 * (k.c.d * v[i] + k.a.d * cross[i] + k.b.d * outer) * theta.transpose() +
                          k.a.f * grad_cross.transpose() + k.b.f * grad_outer.transpose();
    const Vec3 mixed = 2 * (k.a.d * grad_cross + k.b.d * grad_outer);
    out.second[i] = 4 * (k.c.dd * v[i] + k.a.dd * cross[i] + k.b.dd * outer) * theta_theta +
                    2 * (k.c.d * v[i] + k.a.d * cross[i] + k.b.d * outer) * Mat3::Identity() +
                    theta * mixed.transpose() + mixed * theta.transpose() + k.b.f * hess_outer;
  }
  return out;
}

}  // namespace exemplar
