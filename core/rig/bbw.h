// Bounded biharmonic weights (Jacobson et al. 2011) on a tet mesh, for all handles at once:
//
//     min Σ_h ½ w_hᵀ Q w_h ,  Q = L M⁻¹ L        0 ≤ w ≤ 1, rows sum to 1, given rows at the handles
//
// L: cotangent Laplacian [m], M: lumped volumes [m³]. All handles share Q, and a row of W only has to lie on
// the simplex: ADMM splits the two, so that one factorisation of Q + P serves every handle and iteration,
//
//     w = argmin ½ wᵀQw + ½‖w − s‖²_P ,   z = Π(2w − s) ,   s ← s + z − w ,
//
// with P a diagonal penalty and Π the projection of every row on the simplex. z is feasible exactly and is what is
// returned. ADMM alone takes thousands of iterations; with Anderson acceleration of s it takes 150 to 500. P balances
// the stiffest mode (the mesh's spacing) and the softest free one (the handles' spacing); measured: three times more or
// less of it costs a third more iterations.
// `igl::bbw` instead refactorises for every handle and every change of its active set and ignores that rows
// should sum to one.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"
#include "core/sparse/scalar_cholesky.h"

namespace exemplar {

struct BbwOptions {
  // False: igl::bbw's problem, every column by itself with 0 ≤ w ≤ 1 only. For comparison with it.
  bool partition_of_unity = true;
  double tolerance = 1e-6;  // on the KKT residual
  int max_iterations = 3000;
};

struct BbwResult {
  MatX weights;  // one row per vertex, one column per handle
  double objective = 0;
  double residual = 0;  // see kkt_residual
  int iterations = 0;
  bool converged = false;
};

// Vertices whose rows are known: handles, points along bones and cages.
struct FixedRows {
  std::vector<int> vertices;  // no duplicates
  MatX values;                // one row each, one column per handle, on the simplex
};

BbwResult bounded_biharmonic_weights(const TetMesh& mesh, const FixedRows& fixed,
                                     const BbwOptions& options = {});

// Q = L M⁻¹ L of the whole mesh.
SparseMatrix biharmonic_matrix(const TetMesh& mesh);

// Σ_h ½ w_hᵀ Q w_h.
double biharmonic_energy(const SparseMatrix& q, const MatX& weights);

// How far feasible weights are from being optimal: the largest entry of the gradient Qw that no multiplier of the
// bounds and sums balances, over the largest entry of Qw anywhere, which is a multiplier too (at the fixed vertices: the
// handles' reactions). 0: optimal.
double kkt_residual(const SparseMatrix& q, const MatX& weights, const FixedRows& fixed,
                    bool partition_of_unity = true);

}  // namespace exemplar
