#include "compare/coupons/impact_theory.h"

#include <cmath>
#include <numbers>

namespace exemplar::coupons {

double hertz_time(double young, double poisson, double density, double radius, double speed) {
  const double mass = density * 4 / 3 * std::numbers::pi * std::pow(radius, 3);
  const double stiffness = young / (1 - poisson * poisson);
  return 2.8683 * std::pow(mass * mass / (radius * stiffness * stiffness * speed), 0.2);
}

}  // namespace exemplar::coupons
