// What a peridynamic body is made of and which of the published variants of the model is computed.
//
// Levine et al. 2014, eqs. 2–7; the switches also cover LAMMPS `pair_style peri/pmb` (Parks et al. 2008), so
// that the solver can be compared with it to round-off (lammps_rules()).
//
//   K   bulk modulus [Pa]              G  fracture energy [J/m²]      ρ  density [kg/m³]
//   λ   particle spacing [m]           δ  horizon, radius of the bonds [m]
//   k   bond stiffness [N/m⁶]          τ  strain at which a bond breaks
//   ε   bond strain = |x_i − x_j| / r0 − 1, r0 the bond's rest length
//
// The force density k ε (eq. 3) is per volume squared: the force between two particles is k β V_i V_j ε along
// the bond. The paper does not say so, but without the volumes K would not be the bulk modulus.
#pragma once

#include <cstdint>

namespace exemplar::peridynamics {

// paper:      k = 18 K / (π δ⁴) (eq. 4).
// taper:      the same with a partial volume β at the horizon's edge, as in LAMMPS.
// calibrated: k_ij = mean of k_i = 18 K / Σ_j V_j β r0, which gives the bulk modulus exactly and removes most
// of the
//             softening near surfaces; τ_i from the discrete cut energy.
enum class StiffnessMode { paper, taper, calibrated };

enum class BreakRule { max, min };  // of the two particles' τ; levine2014: max, LAMMPS: min
enum class BreakOrder {
  before_force,
  after_force
};                                              // does a bond still pull in the pass in which it breaks?
enum class ContactModel { none, levine, emu };  // eq. 6 | min(0.9 r0, 1.35 λ) and 15 k (LAMMPS)

struct Material {
  double density = 2200;
  double bulk_modulus = 2.94e9;
  double fracture_energy = 0;  // used when critical_strain is 0; both 0: the body cannot break
  double critical_strain = 0;  // τ given directly
};

struct Rules {
  StiffnessMode stiffness = StiffnessMode::calibrated;
  BreakRule break_rule = BreakRule::max;
  BreakOrder break_order = BreakOrder::before_force;
  ContactModel contact = ContactModel::levine;
  double contact_range = 0.9;       // d_c/λ of eq. 6; the paper's 0.5 lets lattices pass through each other
  double contact_stiffness = 0;     // K_c of eq. 6 [N/m⁵]; 0: from the bonds' stiffness, see contact.h
  double strengthening = 0.25;      // α of eq. 5
  bool clamp_strengthening = true;  // eq. 5: only compression strengthens; LAMMPS also weakens under tension
  bool break_in_first_pass = true;  // LAMMPS: nothing breaks in the pass of its first step
  double strength_spread = 0.02;    // standard deviation of τ_i over τ
  double weak_factor = 1;           // weakened bonds break at this fraction of the threshold
  std::uint64_t seed = 1;
};

// The switches with which LAMMPS' peri/pmb is reproduced.
inline Rules lammps_rules() {
  Rules rules;
  rules.stiffness = StiffnessMode::taper;
  rules.break_rule = BreakRule::min;
  rules.break_order = BreakOrder::after_force;
  rules.contact = ContactModel::emu;
  rules.clamp_strengthening = false;
  rules.break_in_first_pass = false;
  rules.strength_spread = 0;
  return rules;
}

}  // namespace exemplar::peridynamics
