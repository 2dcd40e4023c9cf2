// How long an elastic ball touches a rigid plane (Hertz 1882), at a speed v far below that of its waves:
//   T = 2.8683 (m² / (R E*² v))^(1/5), E* = E / (1 − ν²), m = 4/3 π R³ ρ.
// R: radius (m), E: Young's modulus (Pa), ν: Poisson's ratio, ρ: density (kg/m³).
#pragma once

namespace exemplar::coupons {

double hertz_time(double young, double poisson, double density, double radius, double speed);

}  // namespace exemplar::coupons
