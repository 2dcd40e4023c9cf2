#include "compare/coupons/ring_down.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numbers>

namespace exemplar::coupons {

namespace {

struct LinearFit {
  Eigen::Vector3d shares;  // a, b, c
  double residual = 0;     // sum of squares
};

struct Samples {
  Eigen::VectorXd times, values;
};

// The best a, b, c for a frequency f (Hz) and a damping ratio ζ.
LinearFit fit_linear(const Samples& s, double f, double zeta) {
  const double omega = 2 * std::numbers::pi * f, damped = omega * std::sqrt(1 - zeta * zeta);
  const Eigen::ArrayXd decay = (-zeta * omega * s.times.array()).exp();
  Eigen::MatrixXd a(s.times.size(), 3);
  a.col(0).setOnes();
  a.col(1) = decay * (damped * s.times.array()).cos();
  a.col(2) = decay * (damped * s.times.array()).sin();
  LinearFit fit;
  fit.shares = a.colPivHouseholderQr().solve(s.values);
  fit.residual = (a * fit.shares - s.values).squaredNorm();
  return fit;
}

struct Place {
  double f = 0, zeta = 0, residual = std::numeric_limits<double>::infinity();
};

void try_place(const Samples& s, double f, double zeta, Place& best) {
  const double residual = fit_linear(s, f, zeta).residual;
  if (residual < best.residual) best = {f, zeta, residual};
}

// A grid around what is known, halved again and again.
Place find_place(const Samples& s, double frequency) {
  Place best;
  for (double f = frequency / 4; f < frequency * 4; f *= 1.03) {
    for (const double zeta : {0.0, 0.02, 0.06, 0.15, 0.35, 0.7}) try_place(s, f, zeta, best);
  }
  double factor = 1.03, reach = 0.1;
  for (int k = 0; k < 40; ++k) {
    const Place middle = best;
    for (const double f : {middle.f / factor, middle.f, middle.f * factor}) {
      for (const double zeta : {middle.zeta - reach, middle.zeta, middle.zeta + reach})
        try_place(s, f, std::clamp(zeta, -0.5, 0.98), best);
    }
    if (best.residual >= middle.residual) {
      factor = std::sqrt(factor);
      reach /= 2;
    }
  }
  return best;
}

}  // namespace

RingDown fit_ring_down(const std::vector<double>& times, const std::vector<double>& values,
                       double frequency) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (values.size() < 6) return {unknown, unknown, unknown};
  const Samples s{Eigen::Map<const Eigen::VectorXd>(times.data(), static_cast<Eigen::Index>(times.size())),
                  Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()))};
  const Place place = find_place(s, frequency);
  const LinearFit fit = fit_linear(s, place.f, place.zeta);
  const double swing = s.values.maxCoeff() - s.values.minCoeff();
  const double left = std::sqrt(place.residual / static_cast<double>(values.size()));
  const bool swings = swing > 0 && left < 0.2 * swing && place.zeta < 0.6;
  if (!swings) return {s.values.tail(s.values.size() / 3).mean(), unknown, unknown};
  return {fit.shares[0], place.f, place.zeta};
}

}  // namespace exemplar::coupons
