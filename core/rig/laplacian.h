// Linear tets: gradients of their shape functions, volumes, and the cotangent Laplacian made of them.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"
#include "core/sparse/scalar_cholesky.h"

namespace exemplar {

struct TetGradients {
  std::vector<Eigen::Matrix<double, 4, 3>> gradient;  // one row per corner [1/m]
  VecX volume;                                        // m³
};
TetGradients tet_gradients(const TetMesh& mesh);

// L_ij = Σ_tets V ∇φ_i·∇φ_j [m]: positive semi-definite, rows sum to 0.
SparseMatrix laplacian(const Tets& tets, const TetGradients& gradients, Eigen::Index vertices);

// Each vertex' share of the volume [m³].
VecX lumped_volumes(const Tets& tets, const VecX& volumes, Eigen::Index vertices);

// Edges 01, 02, 03 of one tet as columns.
inline Mat3 tet_edges(const Points& x, const Tets& tets, Eigen::Index e) {
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = (x.row(tets(e, k + 1)) - x.row(tets(e, 0))).transpose();
  return edges;
}

}  // namespace exemplar
