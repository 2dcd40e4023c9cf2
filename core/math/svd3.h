// Singular value decomposition of 3×3 matrices with proper rotations: F = U diag(s) Vᵀ, det U = det V = 1,
// s₁ ≥ s₂ ≥ |s₃|, and s₃ < 0 exactly when det F < 0 (the convention of Irving et al. 2004 for inverted
// elements). One-sided Jacobi: accurate for small singular values, no iteration limit is ever met in
// practice.
#pragma once

#include "core/math/types.h"

namespace exemplar {

struct Svd3 {
  Mat3 u;
  Vec3 s;
  Mat3 v;
};

Svd3 signed_svd(const Mat3& f);

}  // namespace exemplar
