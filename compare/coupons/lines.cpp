#include "compare/coupons/lines.h"

#include <Eigen/Dense>
#include <limits>

namespace exemplar::coupons {

namespace {

constexpr double k_no_fit = std::numeric_limits<double>::quiet_NaN();

// Coefficients of 1, t, … t^degree.
Eigen::VectorXd fit_powers(const std::vector<double>& times, const std::vector<double>& values, double from,
                           double until, int degree) {
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (times[k] >= from - 1e-9 && times[k] <= until + 1e-9) chosen.push_back(k);
  }
  const auto count = static_cast<Eigen::Index>(chosen.size());
  if (count <= degree) return Eigen::VectorXd::Constant(degree + 1, k_no_fit);
  Eigen::MatrixXd powers(count, degree + 1);
  Eigen::VectorXd right(count);
  for (Eigen::Index row = 0; row < count; ++row) {
    const std::size_t k = chosen[static_cast<std::size_t>(row)];
    for (int p = 0; p <= degree; ++p) powers(row, p) = std::pow(times[k], p);
    right[row] = values[k];
  }
  return powers.colPivHouseholderQr().solve(right);
}

}  // namespace

Line fit_line(const std::vector<double>& times, const std::vector<double>& values, double from,
              double until) {
  const Eigen::VectorXd c = fit_powers(times, values, from, until, 1);
  return {c[0], c[1]};
}

double fit_acceleration(const std::vector<double>& times, const std::vector<double>& values, double from,
                        double until) {
  return 2 * fit_powers(times, values, from, until, 2)[2];
}

}  // namespace exemplar::coupons
