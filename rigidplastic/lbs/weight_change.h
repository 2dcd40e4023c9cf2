// From an impulse at one vertex to a change of its example weights (jones2016 §3.2.1).
//
//   Δx = t/m · max(‖j‖ − β, 0) · j/‖j‖                      (4)    asked displacement [m]
//   Δe = α ‖Δx‖ JᵀΔx/‖JᵀΔx‖ ,  0 if ‖JᵀΔx‖ ≤ ε              (8)    normalised, the default
//   Δe = α J⁺Δx                                             (9)    pseudo-inverse
//   Δe = α JᵀΔx                                             (10)   gradient
//   Δe = argmin ‖J Δe − αΔx‖ with e + Δe on the simplex             constrained: needs no clamping after it
//
// Units: j and β in N s; α in 1/m for (8), a plain number for (9) and the constrained one, 1/m² for (10).
#pragma once

#include <span>

#include "core/math/types.h"

namespace exemplar::lbs {

enum class Projection { normalised, pseudo_inverse, gradient, constrained };

Vec3 asked_displacement(const Vec3& impulse, double threshold, double mass, double time);

// Columns: ∂x/∂weight. Departure from the paper, which keeps a column for the rest shape: by default the
// columns are those of the examples 1 … E−1 with the rest shape giving way (J_k − J_0), so that a step of
// length α‖Δx‖ moves exactly that much weight; with the rest shape's own column part of it is undone by the
// rescaling, the more the more examples there are. `weights`: the present ones, beside the columns
// (constrained only).
VecX weight_change(Projection projection, const Eigen::Matrix3Xd& columns, const VecX& weights,
                   const Vec3& displacement, double alpha);

// J_k − J_0 for k ≥ 1.
Eigen::Matrix3Xd without_rest(const Eigen::Matrix3Xd& jacobian);

// φ(s) = 2s³ − 3s² + 1 for s < 1, else 0 (12).
double falloff(double s);

}  // namespace exemplar::lbs
