// From a material to what shape matching has: α for every level of cells, iterations, and how far velocities
// look ahead.
//
// A cell that pulls its particles by α/h (g − x) every step (bugbear2009 eq. 2.21) is an oscillator. With
// positions x̂ = x + θ h v as its input, one step multiplies (x, v) by a matrix with determinant 1 − αθ and
// trace 2 − α − αθ; a damped oscillator of angular frequency ω and damping ratio ζ sampled at step h has E²
// and 2 E cos(ω_d h), E = exp(−ζωh). So
//     α = 1 + E² − 2 E cos(ω_d h),   θ = (1 − E²)/α
// gives the same motion at any h until α reaches 1. That is what a body of one cell gets. A body of many
// cells has slower modes that matter more: they are alike at any h with the limit of small steps, α = ω²h², θ
// = 2ζ/(ωh). θ = 0 is Müller's undamped scheme, θ = 1 with α = 1 stops all deformation within two steps.
//
// ω from the material: for wavelengths longer than cells the mean goal is g − x = (1 − β) s² ∂²u, s² the
// variance of a cell's particles along one axis, so waves travel with c² = α (1 − β) s² / h² and c = √(E/ρ)
// asks for ω = c/(s √(1−β)). What α ≤ 1 cannot carry goes into iterations or into coarser cells, whose s² is
// larger; what remains is given up
// (`reached` < 1: the body is softer than its material, as every real-time method makes metals).
//
// Flow that presses cells flat takes s² down along that direction and with it what they carry: α, iterations and
// sub-steps are then chosen for the smaller s² (`softness`), as if the cells had always been so flat.
//
// Settling: a body that lies on something and swings slower than it would if it had just been put there, g/ω₁,
// is to come to rest: its slowest swing ω₁ = π c/2L is damped with ratio 0.35, by a look-ahead of 0.7/(ω₁h), as
// far as the scheme is stable (α θ ≤ 1.4). Free swings and impacts keep the ratio asked for.
//
//   L largest extent of the body [m], g gravity [m/s²]
//   h step [s], E Young's modulus [Pa], ρ density [kg/m³], β share of the linear part, s [m]
#pragma once

#include <span>
#include <vector>

namespace exemplar::shape_matching {

struct StiffnessRequest {
  double wave_speed = 0.0;      // √(E/ρ) [m/s]; used unless frequency is given
  double frequency = 0.0;       // ω of a finest cell [rad/s], given instead of a material
  double damping_ratio = 0.05;  // ζ of a finest cell
  double damping_time = 0.0;    // β of the material: adds β ω/2 to ζ, up to 1 in all [s]
  double beta = 0.0;
  bool is_single_cell = false;
  int iterations = 0;  // 0: as many as the material asks for, at most max_iterations
  int max_iterations = 8;
  double dt = 1e-3;
  std::vector<double> mean_square_radii;  // s² of each level, finest first [m²]
  double extent = 0.0;                    // L; 0: does not settle [m]
  double softness = 1.0;                  // by how much flow has made s² smaller along what is pressed flat
};

struct StiffnessPlan {
  std::vector<double> alphas;  // one per level, finest first
  int iterations = 1;          // passes over the finest cells
  double lookahead = 0.0;      // θ
  double reached = 1.0;        // squared wave speed that the plan has over the one asked for
  double settling = 0.0;       // θ of a body that lies and is slow
  double slowest = 0.0;        // ω₁ [rad/s]
};

StiffnessPlan plan_stiffness(const StiffnessRequest& request);

}  // namespace exemplar::shape_matching
