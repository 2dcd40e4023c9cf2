// Polar decomposition F = R S with a proper rotation R (det R = +1) also for inverted or flat F: the rotation
// that is closest to F in the Frobenius norm.
#pragma once

#include "core/math/types.h"

namespace exemplar {

Mat3 polar_rotation(const Mat3& f);

// Symmetric root of a symmetric positive semi-definite matrix; eigenvalues below `floor` are raised to it.
Mat3 symmetric_root(const Mat3& c, double floor = 0);

}  // namespace exemplar
