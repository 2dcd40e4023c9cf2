#include <gtest/gtest.h>

#include <random>

#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/handles.h"
#include "rigidplastic/lbs/checks/igl_bbw.h"

namespace exemplar {
namespace {

TetMesh jittered_box() {
  TetMesh mesh = box_tets(Vec3(2, 1, 1), {8, 4, 4}, Split::six);
  std::mt19937 random(8);
  std::uniform_real_distribution<double> any(-0.02, 0.02);
  for (Eigen::Index i = 0; i < mesh.vertices.size(); ++i) mesh.vertices.data()[i] += any(random);
  return mesh;
}

FixedRows six_handles(const TetMesh& mesh) {
  HandleRequest request;
  request.automatic = 6;
  return place_handles(mesh, request).fixed;
}

TEST(WeightsBesideIgl, TheBiharmonicMatrixIsTheSame) {
  const TetMesh mesh = jittered_box();
  const SparseMatrix own = biharmonic_matrix(mesh), peer = igl_biharmonic_matrix(mesh);
  EXPECT_LT((own - peer).norm() / peer.norm(), 1e-12);
}

TEST(WeightsBesideIgl, ItsProblemHasTheSameSolution) {
  const TetMesh mesh = jittered_box();
  const FixedRows fixed = six_handles(mesh);
  BbwOptions options;
  options.partition_of_unity = false;
  options.tolerance = 1e-9;
  const BbwResult own = bounded_biharmonic_weights(mesh, fixed, options);
  const MatX peer = igl_bounded_biharmonic_weights(mesh, fixed);
  const SparseMatrix q = biharmonic_matrix(mesh);
  EXPECT_TRUE(own.converged);
  EXPECT_LT(own.objective / biharmonic_energy(q, peer) - 1, 1e-9);
  EXPECT_LT((own.weights - peer).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(WeightsBesideIgl, RowsThatSumToOneCostLessThanNormalisingAfterwards) {
  const TetMesh mesh = jittered_box();
  const FixedRows fixed = six_handles(mesh);
  const MatX peer = igl_bounded_biharmonic_weights(mesh, fixed);
  const MatX normalised = peer.array().colwise() / peer.rowwise().sum().array();
  EXPECT_LT(bounded_biharmonic_weights(mesh, fixed).objective,
            biharmonic_energy(biharmonic_matrix(mesh), normalised));
}

}  // namespace
}  // namespace exemplar
