#include "compare/coupons/beam_theory.h"

#include <cmath>
#include <numbers>

namespace exemplar::coupons {

namespace {

constexpr double k_root = 1.8751040687;  // cos x cosh x = −1
constexpr double k_rotary = 4.6478;      // L² ∫ φ'² / ∫ φ² of that mode φ

// κ G, Pa.
double shear_stiffness(const BeamMaterial& m) {
  const double kappa = 10 * (1 + m.poisson) / (12 + 11 * m.poisson);
  return kappa * m.young / (2 * (1 + m.poisson));
}

}  // namespace

double hanging_elongation(const BeamMaterial& m, double length) {
  return m.density * k_gravity * length * length / (2 * m.young);
}

double cantilever_sag(const BeamMaterial& m, double length, double height) {
  const double load = m.density * k_gravity * length * length;
  return 1.5 * load * length * length / (m.young * height * height) + load / (2 * shear_stiffness(m));
}

double cantilever_frequency(const BeamMaterial& m, double length, double height) {
  const double r = height / (std::sqrt(12.0) * length);  // radius of gyration over length
  const double bending = std::pow(k_root, 4), quarter = std::numbers::pi / 2;
  const double shear = bending / (quarter * quarter) * m.young / shear_stiffness(m);
  const double slower = std::sqrt(1 + (k_rotary + shear) * r * r);
  return k_root * k_root * r * std::sqrt(m.young / m.density) / (length * 2 * std::numbers::pi * slower);
}

double damping_ratio(double beta, double frequency) {
  return beta * std::numbers::pi * frequency;
}

}  // namespace exemplar::coupons
