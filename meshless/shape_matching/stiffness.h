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
// = 2ζ/(ωh), which damps every mode as a damping proportional to stiffness of β = θ h does. Modes with eigenvalues λ ≤ 1 of
// matching are stable where α λ (1 + 2 θ) < 4; θ stays below (3 − α)/2α. θ = 0 is Müller's undamped scheme, θ = 1 with α = 1 stops all deformation within two steps.
//
// ω from the material: for wavelengths longer than cells the mean goal is g − x = (1 − β) s² ∂²u, s² the
// variance of a cell's particles along one axis, so waves travel with c² = α (1 − β) s² / h² and c = √(E/ρ)
// asks for ω = c/(s √(1−β)); s² is the mean over cubes and regions, for tets that of the body as a whole
// (below). What α ≤ 1 cannot carry goes into iterations or into coarser cells, whose s² is larger; what remains
// is given up (`reached` < 1: the body is softer than its material, as every real-time method makes metals).
//
// Flow that presses cells flat takes s² down along that direction and with it what they carry: α, iterations and
// sub-steps are then chosen for the smaller s² (`softness`), as if the cells had always been so flat.
//
// Settling: a body that lies on something and swings slower than it would if it had just been put there, g/ω₁,
// is to come to rest: its slowest swing ω₁ = π c/2L is damped with ratio 0.35, by a look-ahead of 0.7/(ω₁h), as
// far as the scheme is stable (α θ ≤ 1.4); what is missing is taken from the velocity of the deformation at the rate
// 2 · 0.35 ω₁, for thin bodies less by their thickness over L, as much slower as their bending is than their stretching. Free swings and impacts keep the ratio asked for.
//
//   L largest extent of the body [m], g gravity [m/s²]
//   h step [s], E Young's modulus [Pa], ρ density [kg/m³], β share of the linear part, s [m]
//
// s² of tets. Cubes are all alike, so that the variance of one of them says what all carry. Tets differ in size and
// shape, the small and the flat ones give way first, and a body of them has 0.6 (cubes split into six) to 0.9 of the
// stiffness that the mean of their s² stands for. So it is measured: the body at rest is pulled by a uniform stress
// along each axis, which strains a uniform material of Poisson's ratio 0 uniformly, by 1/E.
//
//   μ_i     m_i / n_i, n_i the number of tets that hold particle i [kg]
//   K u     Σ_c μ_i (u_i − rigid motion of c that fits u best): matching for small u, over α/h² [kg m]
//   f_i     Σ_c V_c ∇N_i·e e, N_i the linear shape functions: stress 1 along e [m²]
//   s²      E/(ρ α/h²) = V² / (M mean_e fᵀ K⁻¹ f), V and M volume and mass of the body [m²]
//
// The mean counts axes with the square of the body's extent along them: coarse meshes of bars and plates are not alike in
// all directions, and it is along the long ones that stretching and bending show.
//
// K⁻¹ f by conjugate gradients on M⁻¹ K, whose eigenvalues are at most 1, from the uniform strain that does best; every
// step adds to fᵀ K⁻¹ f.
#pragma once

#include <span>
#include <vector>

#include "meshless/shape_matching/cells.h"

namespace exemplar::shape_matching {

struct StiffnessRequest {
  double wave_speed = 0.0;      // √(E/ρ) [m/s]; used unless frequency is given
  double frequency = 0.0;       // ω of a finest cell [rad/s], given instead of a material
  double damping_ratio = 0.05;  // ζ of a finest cell
  double damping_time = 0.0;    // β of the material: adds β ω/2 to ζ, of a single cell up to 1 in all [s]
  double beta = 0.0;
  bool is_single_cell = false;
  int iterations = 0;  // 0: as many as the material asks for, at most max_iterations
  int max_iterations = 8;
  // Passes that the material asks for are rounded up: where 1.05 of them would do, two are nearly twice as stiff. Trimmed,
  // the last one goes only as far as it is needed.
  bool trims_passes = false;
  double dt = 1e-3;
  std::vector<double> mean_square_radii;  // s² of each level, finest first [m²]
  double extent = 0.0;                    // L; 0: does not settle [m]
  double thinness = 1.0;                  // smallest extent over L
  double softness = 1.0;                  // by how much flow has made s² smaller along what is pressed flat
};

struct StiffnessPlan {
  std::vector<double> alphas;  // one per level, finest first
  int iterations = 1;          // passes over the finest cells
  double last_pass = 1.0;      // how much of the way to its goals the last of several passes goes
  double lookahead = 0.0;      // θ
  double damped = 1.0;         // share of the material's damping time that the look-ahead has
  double reached = 1.0;        // squared wave speed that the plan has over the one asked for
  double by_finest = 1.0;      // the same of the finest cells alone
  double settling = 0.0;       // θ of a body that lies and is slow
  double calming = 0.0;        // rate at which its deformation slows down besides [1/s]
  double slowest = 0.0;        // ω₁ [rad/s]
};

StiffnessPlan plan_stiffness(const StiffnessRequest& request);

// s² of cells of cubes: the mean of each axis, weighted with the square of the body's extent along it, so that plates of flat
// cells and bars of long ones stretch as their material along what is long.
double cube_square_radius(const CellModel& model);

// `volumes`: of the cells of `model`, which are tets, as far as they are filled [m³].
double tet_square_radius(const CellModel& model, const VecX& volumes);

}  // namespace exemplar::shape_matching
