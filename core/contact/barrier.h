// The contact barrier of Li et al. 2020 (IPC, eq. 6) on a gap g > 0 with reach d̂, scaled so that its
// stiffness κ is a pressure: an area A that keeps the gap g has the energy
//   E(g) = κ A d̂ β(g/d̂),   β(s) = −(s − 1)² ln s for s < 1, else 0,
// and the pressure −E'(g)/A = −κ β'(g/d̂). Twice continuously differentiable at g = d̂; infinite at g ≤ 0.
// Departure: IPC uses squared distances; plain ones keep κ's meaning and allow round features (distance minus
// radius).
#pragma once

#include <cmath>
#include <limits>

namespace exemplar {

struct Barrier {
  double value = 0, slope = 0, curvature = 0;  // J, N, N/m
};

// `scale` = κ A (N), `reach` = d̂ (m).
inline Barrier contact_barrier(double gap, double reach, double scale) {
  if (gap >= reach) return {};
  if (!(gap > 0)) return {std::numeric_limits<double>::infinity(), 0, 0};
  const double s = gap / reach, l = std::log(s), t = s - 1;
  return {-scale * reach * t * t * l, -scale * t * (2 * l + t / s),
          scale / reach * (-2 * l - 4 * t / s + t * t / (s * s))};
}

// Smooth Coulomb friction (IPC eq. 12–14): f₀ is the dissipated length for a slip y ≥ 0 with the sticking
// range ε.
struct FrictionCurve {
  double value = 0;         // f₀(y), m
  double slope_over_y = 0;  // f₀'(y)/y, 1/m
  double curvature = 0;     // f₀''(y), 1/m
};

inline FrictionCurve friction_curve(double y, double epsilon) {
  if (y >= epsilon) return {y, 1 / y, 0};
  const double s = y / epsilon;
  return {epsilon * (s * s * (1 - s / 3) + 1.0 / 3), (2 - s) / epsilon, 2 * (1 - s) / epsilon};
}

// The parabola that f₀ has at rest, above it everywhere.
inline FrictionCurve held_curve(double y, double epsilon) {
  return {y * y / epsilon + epsilon / 3, 2 / epsilon, 2 / epsilon};
}

}  // namespace exemplar
