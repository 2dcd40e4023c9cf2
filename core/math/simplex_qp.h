// Exact minimiser of a small strictly convex quadratic  ½ wᵀA w + bᵀw  over a product of simplices: for each
// group w_i ≥ 0 and Σ w_i ≤ total, mostly 1 (the weight of example 0 is 1 − Σ w_i); variables outside every group are free.
// Primal active-set method (Nocedal and Wright, Algorithm 16.3): ends after finitely many steps, meant for up
// to ~50 unknowns. Used for example weights in Newton steps and for the projection of strains on examples.
#pragma once

#include <span>

#include "core/math/types.h"

namespace exemplar {

struct SimplexGroup {
  int begin = 0;
  int count = 0;
  double total = 1;  // above 0
};

// `start` must satisfy the constraints. A must be symmetric positive definite (see make_positive in psd.h).
VecX minimise_on_simplices(const MatX& a, const VecX& b, const VecX& start,
                           std::span<const SimplexGroup> groups);

// One group over all variables, A only semi-definite: min ‖Σ w_i columns_i − target‖ over w_i ≥ 0, Σ w_i ≤ 1.
VecX project_on_simplex_hull(const MatX& columns, const VecX& target);

// Euclidean projection of w on w_i ≥ 0, Σ w_i ≤ 1.
VecX clamp_to_simplex(const VecX& w);

}  // namespace exemplar
