#include "core/mesh/embedding.h"

#include <gtest/gtest.h>

#include "core/mesh/point_map.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

// A cube from −1 to 1 as six tets around the diagonal.
TetMesh cube() {
  TetMesh mesh;
  mesh.vertices = testing::box_surface(-Vec3::Ones(), Vec3::Ones()).vertices;
  mesh.tets.resize(6, 4);
  mesh.tets << 0, 1, 3, 7, 0, 3, 2, 7, 0, 2, 6, 7, 0, 6, 4, 7, 0, 4, 5, 7, 0, 5, 1, 7;
  return mesh;
}

TEST(Embedding, PointsInsideLieInTheirTet) {
  const TetMesh mesh = cube();
  const Points points = testing::random_points(500, 1, 1);
  const Embedding embedding = embed(points, mesh);
  EXPECT_GE(embedding.weights.minCoeff(), -1e-9);
  EXPECT_LT((embedding.weights.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-14);
  EXPECT_LT((apply(embedding, mesh.tets, mesh.vertices) - points).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Embedding, AffineMotionsAreReproducedAlsoOutside) {
  const TetMesh mesh = cube();
  const Points points = testing::random_points(500, 1.3, 2);
  const Embedding embedding = embed(points, mesh);
  Mat3 map;
  map << 1.2, 0.3, 0, -0.1, 0.8, 0.4, 0.2, 0, 1.5;
  const Eigen::RowVector3d shift(3, -2, 1);
  const Points moved = (mesh.vertices * map).rowwise() + shift;
  const Points expected = (points * map).rowwise() + shift;
  EXPECT_LT((apply(embedding, mesh.tets, moved) - expected).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Embedding, DistributeIsTheTranspose) {
  const TetMesh mesh = cube();
  const Points points = testing::random_points(60, 1.2, 3);
  const Points forces = testing::random_points(60, 1, 4);
  const Points motion = testing::random_points(8, 1, 5);
  const Embedding embedding = embed(points, mesh);
  const Points shared = PointMap::embedded(embedding, mesh.tets).spread(forces, mesh.vertices.rows());
  const double work = apply(embedding, mesh.tets, motion).cwiseProduct(forces).sum();
  EXPECT_NEAR(shared.cwiseProduct(motion).sum(), work, 1e-13);
  EXPECT_LT((shared.colwise().sum() - forces.colwise().sum()).norm(), 1e-13);
  Vec3 moment = Vec3::Zero();
  for (int i = 0; i < 60; ++i) moment += Vec3(points.row(i)).cross(Vec3(forces.row(i)));
  for (int i = 0; i < 8; ++i) moment -= Vec3(mesh.vertices.row(i)).cross(Vec3(shared.row(i)));
  EXPECT_LT(moment.norm(), 1e-12);
}

}  // namespace
}  // namespace exemplar
