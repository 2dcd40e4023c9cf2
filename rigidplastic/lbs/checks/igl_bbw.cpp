#include "rigidplastic/lbs/checks/igl_bbw.h"

#include <igl/bbw.h>
#include <igl/harmonic.h>

#include <stdexcept>

namespace exemplar {

MatX igl_bounded_biharmonic_weights(const TetMesh& mesh, const FixedRows& fixed, int max_iterations) {
  const Eigen::MatrixXd vertices = mesh.vertices;
  const Eigen::MatrixXi tets = mesh.tets;
  const Eigen::VectorXi handles = Eigen::Map<const Eigen::VectorXi>(
      fixed.vertices.data(), static_cast<Eigen::Index>(fixed.vertices.size()));
  igl::BBWData data;
  data.active_set_params.max_iter = max_iterations;
  Eigen::MatrixXd weights;
  if (!igl::bbw(vertices, tets, handles, fixed.values, data, weights)) {
    throw std::runtime_error("igl::bbw failed");
  }
  return weights;
}

SparseMatrix igl_biharmonic_matrix(const TetMesh& mesh) {
  const Eigen::MatrixXd vertices = mesh.vertices;
  const Eigen::MatrixXi tets = mesh.tets;
  SparseMatrix q;
  igl::harmonic(vertices, tets, 2, q);
  return q;
}

}  // namespace exemplar
