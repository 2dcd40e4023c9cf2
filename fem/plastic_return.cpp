#include "fem/plastic_return.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>

namespace exemplar::fem {

namespace {

using Mat2 = Eigen::Matrix2d;
using Basis = Eigen::Matrix<double, 3, 2>;

constexpr int k_iterations = 60, k_halvings = 30;
constexpr double k_tolerance = 1e-11;        // of the yield stress
constexpr double k_settled = 1e-6;           // the same, where round-off allows no more
constexpr double k_smallest_stretch = 0.05;  // in the first guess, where logarithms are taken
constexpr double k_doubtful_flow = 1.3;  // stretches of this times τ_y/μ may lie beyond the top of the stress
constexpr double k_smallest_gap = 1e-6;  // between stretches whose difference divides

const Basis& deviatoric() {
  static const Basis q = (Basis() << 1 / std::sqrt(2.0), 1 / std::sqrt(6.0), -1 / std::sqrt(2.0),
                          1 / std::sqrt(6.0), 0, -2 / std::sqrt(6.0))
                             .finished();
  return q;
}

double value_of(const ElasticEnergy& energy, const Vec3& s) {
  return std::visit([&](const auto& psi) { return psi.value(Mat3(s.asDiagonal())); }, energy);
}
Vec3 slopes_of(const ElasticEnergy& energy, const Vec3& s) {
  return std::visit([&](const auto& psi) -> Vec3 { return psi.gradient(Mat3(s.asDiagonal())).diagonal(); },
                    energy);
}
Mat3 curvatures_of(const ElasticEnergy& energy, const Vec3& s) {
  return std::visit([&](const auto& psi) -> Mat3 { return psi.principal(s).a; }, energy);
}

// The minimisation over Δ = Q y.
class Flow {
 public:
  Flow(const ElasticEnergy& energy, const Vec3& s, const YieldLimit& limit)
      : m_energy(energy), m_s(s), m_limit(limit) {}

  static double strain(const Vec2& y) { return std::sqrt(2.0 / 3) * y.norm(); }
  Vec3 elastic(const Vec2& y) const { return m_s.cwiseProduct((-(deviatoric() * y)).array().exp().matrix()); }
  double value(const Vec2& y) const { return value_of(m_energy, elastic(y)) + m_limit.work(strain(y)); }
  Vec2 gradient(const Vec2& y) const {
    const Vec3 e = elastic(y);
    return -deviatoric().transpose() * e.cwiseProduct(slopes_of(m_energy, e)) +
           std::sqrt(2.0 / 3) * m_limit.stress(strain(y)) * y.normalized();
  }
  Mat2 hessian(const Vec2& y) const {
    const Vec3 e = elastic(y);
    Mat3 c = e.asDiagonal() * curvatures_of(m_energy, e) * e.asDiagonal();
    c.diagonal() += e.cwiseProduct(slopes_of(m_energy, e));
    const Vec2 n = y.normalized();
    const Mat2 along = n * n.transpose();
    return deviatoric().transpose() * c * deviatoric() +
           std::sqrt(2.0 / 3) * m_limit.stress(strain(y)) / y.norm() * (Mat2::Identity() - along) +
           2.0 / 3 * m_limit.slope(strain(y)) * along;
  }
  // Where logarithmic energies have their minimum; none: they would not flow.
  std::optional<Vec2> logarithmic_guess(double mu) const {
    const Vec2 d =
        deviatoric().transpose() * m_s.cwiseAbs().cwiseMax(k_smallest_stretch).array().log().matrix();
    const double most = std::sqrt(2.0 / 3) * m_limit.stress(0) / (2 * mu);
    if (!(d.norm() > 1.0001 * most)) return std::nullopt;
    return d * (1 - most / d.norm());
  }
  // A first step along the stress; none: it is below the yield stress.
  std::optional<Vec2> guess_along_stress(double mu) const {
    const double yield = std::sqrt(2.0 / 3) * m_limit.stress(0);
    const Vec2 t = deviatoric().transpose() * m_s.cwiseProduct(slopes_of(m_energy, m_s));
    if (!(t.norm() > yield)) return std::nullopt;
    return t.normalized() * (t.norm() - yield) / (2 * mu);
  }

 private:
  const ElasticEnergy& m_energy;
  const Vec3& m_s;
  const YieldLimit& m_limit;
};

// Downhill also where the Hessian is not positive definite.
Vec2 newton_step(Mat2 h, const Vec2& g) {
  const double mean = 0.5 * h.trace(), spread = std::hypot(0.5 * (h(0, 0) - h(1, 1)), h(0, 1));
  const double size = std::abs(mean) + spread, smallest = mean - spread;
  if (smallest < 1e-8 * size) h.diagonal().array() += 0.1 * size - smallest;
  return -h.inverse() * g;
}

// From y to the minimum near it.
Vec2 descend(const Flow& flow, Vec2 y, double tolerance) {
  double value = flow.value(y);
  for (int k = 0; k < k_iterations; ++k) {
    const Vec2 g = flow.gradient(y);
    if (g.norm() <= tolerance) break;
    const Vec2 step = newton_step(flow.hessian(y), g);
    double length = 1;
    for (int h = 0;; ++h, length *= 0.5) {
      if (h == k_halvings) return y;
      const Vec2 next = y + length * step;
      if (next.dot(y) <= 0) continue;  // across no flow at all, where the function has a corner
      const double there = flow.value(next);
      // Near the minimum values say nothing any more; slopes still do.
      const bool better =
          there <= value + 1e-4 * length * g.dot(step) || flow.gradient(next).norm() < 0.5 * g.norm();
      if (!better) continue;
      y = next;
      value = there;
      break;
    }
  }
  return y;
}

}  // namespace

bool may_flow(double squared_stress, double squared_stretch, double volume, double mu,
              const YieldLimit& limit) {
  const double yield = limit.stress(0);
  if (squared_stress > yield * yield) return true;
  const double most = k_doubtful_flow * yield / mu, bound = 3 + most * most;
  return squared_stretch * squared_stretch * squared_stretch > bound * bound * bound * volume * volume;
}

PlasticReturn return_to_yield(const ElasticEnergy& energy, const Vec3& s, const YieldLimit& limit) {
  const Flow flow(energy, s, limit);
  const double mu = small_strain_parameters(energy).mu, tolerance = k_tolerance * limit.stress(0);
  PlasticReturn best;
  best.elastic = s;
  double least = value_of(energy, s);
  for (const std::optional<Vec2>& guess : {flow.logarithmic_guess(mu), flow.guess_along_stress(mu)}) {
    if (best.flowed() || !guess || !guess->allFinite()) continue;
    const Vec2 y = descend(flow, *guess, tolerance);
    const double there = flow.value(y);
    // Towards no flow at all the way ends at a corner, which is no minimum of this kind.
    if (!(there < least) || flow.gradient(y).norm() > k_settled * limit.stress(0)) continue;
    least = there;
    best = {deviatoric() * y, flow.elastic(y), Flow::strain(y)};
  }
  return best;
}

double value_after(const ElasticEnergy& energy, const PlasticReturn& after, const YieldLimit& limit) {
  return value_of(energy, after.elastic) + limit.work(after.strain);
}

Vec3 slopes_after(const ElasticEnergy& energy, const PlasticReturn& after) {
  return (-after.flow).array().exp().matrix().cwiseProduct(slopes_of(energy, after.elastic));
}

PrincipalHessian hessian_after(const ElasticEnergy& energy, const Vec3& s, const PlasticReturn& after,
                               const YieldLimit& limit) {
  const Vec3 scale = (-after.flow).array().exp().matrix();
  const Vec3& e = after.elastic;
  const Vec3 slope = slopes_of(energy, e);
  const Mat3 curvature = curvatures_of(energy, e);
  Mat3 r = curvature * e.asDiagonal();
  r.diagonal() += slope;
  const Basis rq = r * deviatoric();
  const Mat2 h = Flow(energy, s, limit).hessian(deviatoric().transpose() * after.flow);
  PrincipalHessian result;
  result.a = scale.asDiagonal() * Mat3(curvature - rq * h.inverse() * rq.transpose()) * scale.asDiagonal();
  const Vec3 p = scale.cwiseProduct(slope);
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double gap = s[i] - s[j], size = std::abs(s[i]) + std::abs(s[j]);
    result.flip[k] = std::abs(gap) > k_smallest_gap * size
                         ? (p[i] - p[j]) / gap
                         : 0.5 * (result.a(i, i) + result.a(j, j)) - result.a(i, j);
    result.twist[k] = (p[i] + p[j]) / std::max(s[i] + s[j], k_smallest_gap);
  }
  return result;
}

}  // namespace exemplar::fem
