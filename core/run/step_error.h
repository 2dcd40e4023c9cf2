// What one time step of an implicit method is off by, from quantities that the step has at hand: the estimates that
// error-controlled steps (time.steps_per_frame "auto") follow.
//
//   implicit Euler   e = h/2 (v₁ − v₀)                                  against the trapezoidal rule
//   bdf2             e = C h³ d³x/dt³ from divided differences of v₁, v₀, v₋₁
//   tr_bdf2          e = 2kh (v₀/γ − v_γ/(γ(1 − γ)) + v₁/(1 − γ)),  k = (−3γ² + 4γ − 2)/(12(2 − γ))   Bank et al. 1985
//
// h step (s), v velocities at its start, at γh and at its end (m/s), e what is missing from the displacements (m), of order h², h³, h³.
#pragma once

#include "core/implicit/implicit_solver.h"

namespace exemplar {

// Displacements (m) of the step of length dt from `start` to `end`, both with the histories that their integrator keeps.
Points local_error(Integrator integrator, const ImplicitState& start, const ImplicitState& end, double dt);

// The power of h with which the error of one step falls.
int order_of_local_error(Integrator integrator);

// Root mean square over some rows, by mass (kg).
double weighted_rms(const Points& rows, const VecX& masses, int first, int count);

}  // namespace exemplar
