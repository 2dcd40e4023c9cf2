// Distances between a point and a triangle and between two edges, with exact gradients and Hessians.
//
// The offset between the nearest points is r = Σ w_i p_i over the four points, with Σ w_i = 0 and w affine in
// the free parameters t of the nearest features (two inside a face, one on an edge, none at a corner). From f
// = min_t |r|²:
//   ½ ∂f/∂p_i = w_i r,   ½ f_pp = w w^T ⊗ I − Q (DᵀD)⁻¹ Qᵀ,   D = ∂r/∂t,   Q_i = w_i D + r ∂w_i/∂t
// and d = √f:  ∇d_i = w_i n,  ∇²d = (½ f_pp − ∇d ∇dᵀ)/d.
#pragma once

#include <array>

#include "core/math/types.h"

namespace exemplar {

using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat12 = Eigen::Matrix<double, 12, 12>;

// Nearest points: offset Σ w_i p_i of length `value`, direction `normal` from the second primitive to the
// first.
struct Nearest {
  double value = 0;
  Vec4 weights = Vec4::Zero();
  Vec3 normal = Vec3::UnitY();
  int parameters = 0;  // free parameters of the nearest features
  Eigen::Matrix<double, 4, 2> directions = Eigen::Matrix<double, 4, 2>::Zero();  // ∂w/∂t, one column each
};

// Points (p; a, b, c): weights (1, −β_a, −β_b, −β_c).
Nearest nearest_point_triangle(const std::array<Vec3, 4>& points);
// Points (a₀, a₁; b₀, b₁): weights (1 − s, s, −(1 − t), −t).
Nearest nearest_edges(const std::array<Vec3, 4>& points);

// Gradient and Hessian of Nearest::value (which must be positive).
Vec12 distance_gradient(const Nearest& nearest);
Mat12 distance_hessian(const Nearest& nearest, const std::array<Vec3, 4>& points);

// The factor m(c) that takes the barrier of nearly parallel edges to zero (IPC eq. 24–25), c = |e_a × e_b|²;
// at parallel edges their distance is not differentiable, and the points' pairs hold them apart.
struct EdgeFactor {
  double value = 1;
  Vec12 gradient = Vec12::Zero();
  Mat12 hessian = Mat12::Zero();
};
EdgeFactor parallel_edge_factor(const std::array<Vec3, 4>& points, double threshold, bool derivatives);

}  // namespace exemplar
