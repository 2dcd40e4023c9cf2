#include "compare/coupons/plastic_theory.h"

#include <cmath>
#include <numbers>

namespace exemplar::coupons {

double limit_load(const PlasticBar& bar) {
  return bar.yield_stress * bar.width * bar.height * bar.height / (4 * bar.length);
}

double yield_deflection(const PlasticBar& bar) {
  return 2.0 / 3 * bar.yield_stress / bar.young * bar.length * bar.length / bar.height;
}

double load_behind(const PlasticBar& bar, double rate) {
  const double angle = (3 - 20.0 / 9) * yield_deflection(bar) / bar.length;
  const double inertia = bar.density * bar.width * bar.height * std::pow(bar.length, 3) / 3;
  const double time = std::cbrt(6 * inertia * angle / (rate * bar.length));
  return rate * time / limit_load(bar);
}

double taylor_length(double density, double speed, double yield_stress) {
  constexpr double still = 0.12;
  return still + (1 - still) * std::exp(-density * speed * speed / (2 * yield_stress));
}

double dent_depth(double energy, double yield_stress, double radius) {
  const double volume = energy / (3 * yield_stress);
  double h = std::sqrt(volume / (std::numbers::pi * radius));
  for (int k = 0; k < 50; ++k) h = std::sqrt(volume / (std::numbers::pi * (radius - h / 3)));
  return h;
}

}  // namespace exemplar::coupons
