// The proper rotation R that is nearest to a 3×3 matrix A, i.e. that maximises tr(RᵀA): the rotational part
// of bugbear2009 eq. 2.18. Four matrices at a time, warm-started with the rotation of the last step.
//
// Müller, Bender, Chentanez, Macklin 2016 ("A robust method to extract the rotational part of deformations")
// turn R by ω = a / |tr S| with S = RᵀA and a the axial vector of S − Sᵀ; that converges linearly. Here ω =
// B⁻¹ a with B = tr(S) I − sym(S), which is Newton's step for the same function and converges quadratically
// (two rounds from a warm start instead of a handful); their step is taken where B is not positive definite.
// B positive definite at the end also proves that R is the maximum: an exact half turn, where a = 0 as well,
// is told apart by it.
#pragma once

#include "meshless/shape_matching/cell_lanes.h"

namespace exemplar::shape_matching {

// Nearest proper rotation of one matrix by singular values. Where it is not unique (rank ≤ 1, or a reflected
// matrix with two equal smallest singular values) `last` is returned: the thesis falls back to the last valid
// transformation.
Mat3 nearest_rotation(const Mat3& a, const Mat3& last);

// Turns the unit quaternions `q` into the nearest rotations of the matrices `a` and returns them as matrices
// too.
lanes::LaneMat extract_rotations(const lanes::LaneMat& a, lanes::LaneQuat& q);

}  // namespace exemplar::shape_matching
