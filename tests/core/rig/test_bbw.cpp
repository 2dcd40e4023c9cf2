#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "core/base/parallel.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/bbw.h"
#include "core/rig/handles.h"

namespace exemplar {
namespace {

TetMesh uneven_box(const Eigen::Vector3i& cells, const Vec3& size = Vec3(2, 1, 1)) {
  TetMesh mesh = box_tets(size, cells, Split::six);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-0.1, 0.1);
  for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
    for (int k = 0; k < 3; ++k) mesh.vertices(v, k) += any(random) * size[k] / cells[k];
  }
  return mesh;
}

PlacedHandles automatic_handles(const TetMesh& mesh, int count) {
  HandleRequest request;
  request.automatic = count;
  return place_handles(mesh, request);
}

void expect_partition_of_unity(const MatX& w) {
  EXPECT_GE(w.minCoeff(), 0);
  EXPECT_LE(w.maxCoeff(), 1);
  EXPECT_LT((w.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
}

// The oracle: cyclic exact minimisation over pairs of weights of one vertex (moving t from one handle to
// another keeps the sum), thousands of sweeps. Slow, simple, and sure to converge for a convex problem.
MatX weights_by_pair_moves(const MatX& q, const FixedRows& fixed, int sweeps) {
  const Eigen::Index n = q.rows(), handles = fixed.values.cols();
  std::vector<char> is_fixed(static_cast<std::size_t>(n), 0);
  MatX w = MatX::Constant(n, handles, 1.0 / static_cast<double>(handles));
  for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
    w.row(fixed.vertices[k]) = fixed.values.row(static_cast<Eigen::Index>(k));
    is_fixed[static_cast<std::size_t>(fixed.vertices[k])] = 1;
  }
  for (int s = 0; s < sweeps; ++s) {
    for (Eigen::Index i = 0; i < n; ++i) {
      if (is_fixed[static_cast<std::size_t>(i)]) continue;
      Eigen::RowVectorXd g = q.row(i) * w;
      for (Eigen::Index a = 0; a < handles; ++a) {
        for (Eigen::Index b = 0; b < a; ++b) {
          const double wanted = (g[a] - g[b]) / (2 * q(i, i));
          const double moved = std::clamp(wanted, -w(i, b), w(i, a));  // from a to b
          w(i, a) -= moved;
          w(i, b) += moved;
          g[a] -= q(i, i) * moved;
          g[b] += q(i, i) * moved;
        }
      }
    }
  }
  return w;
}

TEST(BoundedBiharmonicWeights, EqualTheBruteForceSolutionOnASmallMesh) {
  const TetMesh mesh = uneven_box({4, 2, 2});
  const PlacedHandles placed = automatic_handles(mesh, 4);
  BbwOptions options;
  options.tolerance = 1e-10;
  const BbwResult result = bounded_biharmonic_weights(mesh, placed.fixed, options);
  EXPECT_TRUE(result.converged);
  const MatX expected = weights_by_pair_moves(MatX(biharmonic_matrix(mesh)), placed.fixed, 20000);
  EXPECT_LT((result.weights - expected).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_GT((expected.array() == 0).count(), 0) << "no bound is active: the case tests nothing";
}

TEST(BoundedBiharmonicWeights, OnABarBetweenTwoHandlesAreTheDiscreteMinimisersOfBending) {
  // With both end faces given and nothing active, w minimises ½ wᵀQw: one linear solve.
  const TetMesh mesh = box_tets(Vec3(1, 0.1, 0.1), {20, 2, 2}, Split::six);
  FixedRows fixed;
  std::vector<int> free;
  for (int v = 0; v < mesh.vertices.rows(); ++v) {
    const double x = mesh.vertices(v, 0);
    (std::abs(x) > 0.499 ? fixed.vertices : free).push_back(v);
  }
  fixed.values = MatX::Zero(static_cast<Eigen::Index>(fixed.vertices.size()), 2);
  for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
    fixed.values(static_cast<Eigen::Index>(k), mesh.vertices(fixed.vertices[k], 0) < 0 ? 0 : 1) = 1;
  }
  BbwOptions options;
  options.tolerance = 1e-9;
  const MatX w = bounded_biharmonic_weights(mesh, fixed, options).weights;
  // Held values at both ends, free slopes: the minimiser of ∫ w″² is the straight line. The last rows of a
  // discrete bar see the handles' own curvature, so that only the middle is straight.
  for (const int v : free) {
    const double x = mesh.vertices(v, 0);
    if (std::abs(x) < 0.3) {
      EXPECT_NEAR(w(v, 1) + w(v, 0), 1, 1e-14);
    }
  }
  const MatX q(biharmonic_matrix(mesh));
  const auto n = static_cast<Eigen::Index>(free.size());
  MatX reduced(n, n);
  VecX rhs = VecX::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      reduced(i, j) = q(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
    }
    for (std::size_t k = 0; k < fixed.vertices.size(); ++k) {
      rhs[i] -= q(free[static_cast<std::size_t>(i)], fixed.vertices[k]) *
                fixed.values(static_cast<Eigen::Index>(k), 0);
    }
  }
  const VecX exact = reduced.partialPivLu().solve(rhs);
  ASSERT_GT(exact.minCoeff(), 0);
  ASSERT_LT(exact.maxCoeff(), 1);
  for (Eigen::Index i = 0; i < n; ++i) EXPECT_NEAR(w(free[static_cast<std::size_t>(i)], 0), exact[i], 1e-8);
}

TEST(BoundedBiharmonicWeights, LieOnTheSimplexAndAreOptimal) {
  const TetMesh mesh = uneven_box({12, 6, 6});
  const PlacedHandles placed = automatic_handles(mesh, 10);
  const BbwResult result = bounded_biharmonic_weights(mesh, placed.fixed);
  ASSERT_TRUE(result.converged);
  expect_partition_of_unity(result.weights);
  const double residual = kkt_residual(biharmonic_matrix(mesh), result.weights, placed.fixed);
  EXPECT_LE(residual, 1e-6);
  EXPECT_NEAR(residual, result.residual, 1e-9);
  for (std::size_t k = 0; k < placed.fixed.vertices.size(); ++k) {
    EXPECT_EQ(result.weights(placed.fixed.vertices[k], static_cast<Eigen::Index>(k)), 1);
  }
}

TEST(BoundedBiharmonicWeights, DoNotDependOnUnitsOrPlace) {
  TetMesh mesh = uneven_box({6, 3, 3});
  const PlacedHandles placed = automatic_handles(mesh, 5);
  BbwOptions options;
  options.tolerance = 1e-10;
  const MatX w = bounded_biharmonic_weights(mesh, placed.fixed, options).weights;
  mesh.vertices = (mesh.vertices * 1000).rowwise() + Eigen::RowVector3d(5, -7, 11);
  const MatX scaled = bounded_biharmonic_weights(mesh, placed.fixed, options).weights;
  EXPECT_LT((w - scaled).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(BoundedBiharmonicWeights, AreTheSameBitsForAnyNumberOfThreads) {
  const TetMesh mesh = uneven_box({8, 4, 4});
  const PlacedHandles placed = automatic_handles(mesh, 7);
  set_thread_count(1);
  const MatX once = bounded_biharmonic_weights(mesh, placed.fixed).weights;
  for (int threads : {2, 3}) {
    set_thread_count(threads);
    EXPECT_TRUE(bounded_biharmonic_weights(mesh, placed.fixed).weights == once);
  }
  set_thread_count(0);
}

TEST(BoundedBiharmonicWeights, AreFoundWhenNoBoundIsActive) {
  // Four handles at corners of a cube: the plain biharmonic solution stays within the bounds.
  const TetMesh mesh = uneven_box({5, 5, 5}, Vec3(1, 1, 1));
  const PlacedHandles placed = automatic_handles(mesh, 4);
  const BbwResult result = bounded_biharmonic_weights(mesh, placed.fixed);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.residual, 1e-6);
  expect_partition_of_unity(result.weights);
}

TEST(BoundedBiharmonicWeights, OfOneHandleAreOne) {
  const TetMesh mesh = uneven_box({3, 2, 2});
  const BbwResult result = bounded_biharmonic_weights(mesh, automatic_handles(mesh, 1).fixed);
  EXPECT_TRUE(result.converged);
  EXPECT_TRUE((result.weights.array() == 1).all());
}

}  // namespace
}  // namespace exemplar
