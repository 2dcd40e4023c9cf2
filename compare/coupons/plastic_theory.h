// Closed forms of bodies that flow. E: Young's modulus, σ_y: yield stress (Pa), ρ: density (kg/m³), L, b, h: length, width
// and height of a bar (m).
#pragma once

namespace exemplar::coupons {

// Without hardening.
struct PlasticBar {
  double length = 0.6, width = 0.1, height = 0.1;
  double density = 50;  // light: inertia holds the bar up for a moment when it flows
  double young = 1e7;
  double yield_stress = 1e5;
};

// N, at the tip: P = M_p/L, M_p = σ_y b h²/4, the whole section of a clamped bar flows.
double limit_load(const PlasticBar& bar);
// m, of the tip when its first fibre yields: P_y = ⅔ P, P_y L³/3EI.
double yield_deflection(const PlasticBar& bar);
// Share of the limit load that a load of constant rate (N/s) has grown by when the tip, from the place where the section
// flows (20/9 of the yield deflection), has gone on to three of them: a rigid bar on a hinge, Iθ'' = Ṗ t L.
double load_behind(const PlasticBar& bar, double rate);

// L/L₀ of a rod that flies against a rigid wall at speed v: s + (1 − s) e^(−ρv²/2σ_y), s = 0.12 (Wilkins and Guinan 1973).
double taylor_length(double density, double speed, double yield_stress);

// m. An energy presses a ball of radius R into 3σ_y (Tabor 1951): energy = 3σ_y π h² (R − h/3).
double dent_depth(double energy, double yield_stress, double radius);

}  // namespace exemplar::coupons
