#include "tests/support/derivatives.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace exemplar::testing {

namespace {

constexpr std::array<double, 3> k_steps{4e-4, 2e-4, 1e-4};

// Relative errors at three steps → best error, observed order, verdict. Where the errors are already at the
// round-off floor of a difference quotient the order means nothing and is not asked for.
void judge(DerivativeReport& report, const std::array<double, 3>& errors, double tolerance) {
  report.best_error = *std::min_element(errors.begin(), errors.end());
  report.observed_order = std::log2(std::max(errors[0], 1e-300) / std::max(errors[1], 1e-300));
  const bool above_floor = errors[1] > 1e-9;
  if (!(report.norm > 0)) {
    report.message = "the analytic derivative is zero: nothing was checked";
  } else if (!(report.best_error <= tolerance) &&
             !(above_floor && report.observed_order > 1.9 && errors[2] < 1e-4)) {
    report.message = "derivative disagrees with differences";
  } else if (above_floor && report.observed_order < 1.7 && report.best_error > 1e-8) {
    report.message = "the error does not fall like the square of the step";
  }
  report.ok = report.message.empty();
}

}  // namespace

DerivativeReport check_gradient(const ValueFunction& value, const GradientFunction& gradient, const VecX& x,
                                double scale, double tolerance) {
  DerivativeReport report;
  const VecX exact = gradient(x);
  report.norm = exact.norm();
  std::array<double, 3> errors{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double step = k_steps[k] * scale;
    VecX difference(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      VecX plus = x, minus = x;
      plus[i] += step;
      minus[i] -= step;
      difference[i] = (value(plus) - value(minus)) / (plus[i] - minus[i]);
    }
    errors[k] = (difference - exact).norm() / report.norm;
  }
  judge(report, errors, tolerance);
  return report;
}

DerivativeReport check_hessian(const GradientFunction& gradient, const HessianFunction& hessian,
                               const VecX& x, double scale, double tolerance) {
  DerivativeReport report;
  const MatX exact = hessian(x);
  report.norm = exact.norm();
  report.asymmetry = (exact - exact.transpose()).norm() / std::max(report.norm, 1e-300);
  std::array<double, 3> errors{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double step = k_steps[k] * scale;
    MatX difference(x.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      VecX plus = x, minus = x;
      plus[i] += step;
      minus[i] -= step;
      difference.col(i) = (gradient(plus) - gradient(minus)) / (plus[i] - minus[i]);
    }
    errors[k] = (difference - exact).norm() / report.norm;
  }
  judge(report, errors, tolerance);
  if (report.ok && report.asymmetry > 1e-12) {
    report.ok = false;
    report.message = "the Hessian is not symmetric";
  }
  return report;
}

}  // namespace exemplar::testing
