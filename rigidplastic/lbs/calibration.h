// α, β and γ of a body from its material, its size and the impulses of a dry run of the rigid simulation; the
// paper tunes them by hand with the same run ("recording the maximum impulses", jones2016 §4).
//
//   γ = 0.35 D                       D: diagonal of the body's bounding box
//   V_γ = min(V, 0.42 γ³)            what yields: φ over half a ball of radius γ, ½·(4π/3)γ³·⅕, of the volume V
//   β = max(σ_y √(m V_γ/E), 3 m g t) an impact yields when its energy j²/2m exceeds the elastic energy
//                                    σ_y²V_γ/2E; never in resting contact
//   α = w/‖Δx‖ , w = min(1, (j²/2m) / (σ_y ε V_γ))   for the dry run's largest impulse j, with Δx of eq. 4:
//                                    the largest impact does the plastic work of the example's strain ε
//
// A material that never yields never deforms. Units: m, kg, s, N s, Pa, J.
#pragma once

#include <span>
#include <vector>

#include "core/rig/skinning.h"
#include "core/scene/scene.h"
#include "rigidplastic/lbs/deformable.h"
#include "rigidplastic/lbs/settings.h"

namespace exemplar::lbs {

struct Calibration {
  double alpha = 0, beta = 0, gamma = 0;
  double largest_impulse = 0;  // of the dry run; 0: there was none
};

// What the rules look at.
struct BodyFacts {
  double mass = 0, volume = 0, diagonal = 0;  // kg, m³, m
  double strain = 0;                          // typical strain of the examples
  double gravity = 0;                         // m/s²
  Material material;
};
BodyFacts facts_of(const Body& body, double gravity, const Skin& skin, const Edges& edges);

double chosen_gamma(const BodyFacts& facts);
double chosen_beta(const BodyFacts& facts, double gamma, double reference_time);
// For `normalised`; other projections scale it by the examples' typical displacement.
double chosen_alpha(const BodyFacts& facts, double gamma, double beta, double largest_impulse,
                    double reference_time);

// The largest patch impulse (N s) on every body of the scene while the bodies stay rigid (convex hulls, which
// is quick and hits about as hard). `reach`: see contact_patches, one per body.
std::vector<double> largest_impulses(const Scene& scene, std::span<const double> reach, double seconds);

// One entry per body of the scene; without a skin the body never yields.
struct CalibrationInput {
  const Skin* skin = nullptr;
  BodyFacts facts;
};
// What the settings give, and the rest chosen. Bodies that are alike take the largest impulse of any of them, so that
// they stay alike. `patch_reach`: of γ, see contact_patches.
std::vector<Calibration> calibrated(const Scene& scene, const std::vector<CalibrationInput>& inputs,
                                    const Settings& settings, double patch_reach);

// RMS over edges of |length/rest − 1|, the largest of any example; and the RMS displacement.
double example_strain(const Skin& skin, const Edges& edges);
double example_displacement(const Skin& skin);

}  // namespace exemplar::lbs
