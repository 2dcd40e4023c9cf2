#include "core/rig/laplacian.h"

#include <Eigen/LU>

namespace exemplar {

TetGradients tet_gradients(const TetMesh& mesh) {
  TetGradients result{std::vector<Eigen::Matrix<double, 4, 3>>(static_cast<std::size_t>(mesh.tets.rows())),
                      VecX(mesh.tets.rows())};
  for (Eigen::Index e = 0; e < mesh.tets.rows(); ++e) {
    const Mat3 edges = tet_edges(mesh.vertices, mesh.tets, e);
    const Mat3 inverse = edges.inverse();  // rows: gradients of the last three shape functions
    result.gradient[static_cast<std::size_t>(e)] << -inverse.colwise().sum(), inverse;
    result.volume[e] = edges.determinant() / 6;
  }
  return result;
}

SparseMatrix laplacian(const Tets& tets, const TetGradients& gradients, Eigen::Index vertices) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(16 * static_cast<std::size_t>(tets.rows()));
  for (Eigen::Index e = 0; e < tets.rows(); ++e) {
    const auto& g = gradients.gradient[static_cast<std::size_t>(e)];
    const Eigen::Matrix4d block = gradients.volume[e] * g * g.transpose();
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) entries.emplace_back(tets(e, a), tets(e, b), block(a, b));
    }
  }
  SparseMatrix l(vertices, vertices);
  l.setFromTriplets(entries.begin(), entries.end());
  return l;
}

VecX lumped_volumes(const Tets& tets, const VecX& volumes, Eigen::Index vertices) {
  VecX share = VecX::Zero(vertices);
  for (Eigen::Index e = 0; e < tets.rows(); ++e) {
    for (int k = 0; k < 4; ++k) share[tets(e, k)] += volumes[e] / 4;
  }
  return share;
}

}  // namespace exemplar
