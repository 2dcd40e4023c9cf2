// The rigid bones that minimise a quadratic of the skinned shape, with Ceres.
//
// Skinned points are linear in the stacked bone matrices T (4 rows per bone: R_bᵀ and t_bᵀ),
//
//     x = M T + o ,   M_i = [ … w_ib (u_i − c_b)ᵀ  w_ib … ] ,   o_i = Σ_b w_ib c_b ,
//
// so the distance to a target shape and the as-rigid-as-possible energy with given rotations are both
// ½⟨T, H T⟩ − ⟨T, G⟩ with H of 4B × 4B and G of 4B × 3: the size of the mesh does not matter any more.
#pragma once

#include <vector>

#include "core/rig/rig.h"

namespace exemplar {

struct BoneQuadratic {
  MatX h;
  MatX g;
};

// M as a sparse matrix and o.
struct SkinningMatrix {
  Eigen::SparseMatrix<double, Eigen::RowMajor> m;
  Points offset;
};
SkinningMatrix skinning_matrix(const Points& rest, const Points& centres, const SkinWeights& weights);

// Which bones may not change.
struct HeldBones {
  std::vector<char> translation, rotation;  // empty: none
};

// Minimises the quadratic from `start`. The best bones are found for any start near them; rotations that no
// point feels stay as they are.
BonePose minimise_over_bones(const BoneQuadratic& quadratic, BonePose start, const HeldBones& held = {},
                             int max_iterations = 100);

struct BoneFit {
  BonePose pose;
  Points fitted;  // the skinned points
  double rms = 0, max = 0;
  Eigen::Index worst = 0;  // the point with the largest distance
};

// The bones whose skinned shape is nearest to `target` (same points as `rest`), in the least-squares sense.
BoneFit fit_bones(const Points& rest, const Points& centres, const SkinWeights& weights,
                  const Points& target);

}  // namespace exemplar
