// Closed forms of a clamped bar of length L, height h (m) in the plane of bending, Young's modulus E, Poisson's ratio ν,
// density ρ, under its own weight g. Bending after Timoshenko: with shear, whose coefficient for a rectangle is
// κ = 10 (1 + ν) / (12 + 11 ν) (Cowper 1966), and in the frequency with the cross-section's own inertia.
#pragma once

namespace exemplar::coupons {

struct BeamMaterial {
  double density = 1000;  // kg/m³
  double young = 1e6;     // Pa
  double poisson = 0.3;
};

inline constexpr double k_gravity = 9.81;  // m/s²

// ρ g L² / 2E.
double hanging_elongation(const BeamMaterial& m, double length);

// 3 ρ g L⁴ / (2 E h²) + ρ g L² / (2 κ G): bending and shear.
double cantilever_sag(const BeamMaterial& m, double length, double height);

// Hz. Bending alone: (1.8751²/2π) √(E h² / (12 ρ L⁴)). Shear after Dunkerley (1/ω² adds up), inertia of the
// cross-section after Rayleigh: both slow it by a few per cent in a thick bar.
double cantilever_frequency(const BeamMaterial& m, double length, double height);

// ζ = β ω / 2 of damping in proportion to stiffness, β in s.
double damping_ratio(double beta, double frequency);

}  // namespace exemplar::coupons
