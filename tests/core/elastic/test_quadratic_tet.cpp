// Quadratic tets: shape, derivatives of the assembled energy, mass, and that they are linear ones where
// nothing is curved.
#include "core/elastic/quadratic_tet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/elastic/tet_elements.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/volume/tet_box.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

struct Quadratic {
  TetMesh mesh;
  Midsides midsides;
  explicit Quadratic(TetMesh linear) : mesh(std::move(linear)), midsides(midsides_of(mesh)) {
    mesh.vertices = with_midsides(mesh.vertices, midsides);
  }
  TetElements elements() const { return TetElements(mesh, 0, {}, midsides); }
  Points noisy(double amount, std::uint64_t seed) const {
    Points x = mesh.vertices;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x.data()[i] += amount * normal_random(seed, static_cast<std::uint64_t>(i));
    return x;
  }
};

TEST(Midsides, EveryEdgeHasOneNodeInItsMiddle) {
  const Quadratic q(tet_box({1, 2, 3}, {3, 3, 4}));
  EXPECT_EQ(q.mesh.vertices.rows(), q.midsides.node_count());
  for (Eigen::Index t = 0; t < q.mesh.tets.rows(); ++t) {
    for (std::size_t e = 0; e < 6; ++e) {
      const int a = q.mesh.tets(t, k_tet_edges[e][0]), b = q.mesh.tets(t, k_tet_edges[e][1]);
      const Vec3 middle = 0.5 * (q.mesh.vertices.row(a) + q.mesh.vertices.row(b)).transpose();
      EXPECT_EQ(Vec3(q.mesh.vertices.row(q.midsides.of_tet(t, to_row(e)))), middle);
    }
  }
}

TEST(Midsides, PartsOfATetFillItAndStandUpright) {
  const Quadratic q(tet_box({1, 2, 3}, {3, 3, 4}));
  const VecX whole = tet_volumes(q.mesh.vertices, q.mesh.tets);
  const VecX parts = tet_volumes(q.mesh.vertices, subdivided(q.mesh.tets, q.midsides));
  for (Eigen::Index t = 0; t < whole.size(); ++t) {
    for (int k = 0; k < 8; ++k) EXPECT_NEAR(parts[8 * t + k], whole[t] / 8, 1e-14);
  }
}

// An embedded point follows any quadratic motion exactly.
TEST(Midsides, EmbeddedPointsFollowAQuadraticMotion) {
  const Quadratic q(tet_box({1, 1, 1}, {3, 3, 3}));
  Points points(50, 3);
  for (Eigen::Index i = 0; i < points.size(); ++i)
    points.data()[i] = 0.98 * (uniform_random(9, static_cast<std::uint64_t>(i)) - 0.5);
  const auto motion = [](const Vec3& p) {
    return Vec3(p.x() * p.y() + p.z(), 1 - 2 * p.z() * p.z() + p.x(),
                p.y() + p.x() * p.z() + 3 * p.x() * p.x());
  };
  Points moved = q.mesh.vertices;
  for (Eigen::Index i = 0; i < moved.rows(); ++i) moved.row(i) = motion(moved.row(i)).transpose();
  const TetMesh linear{q.mesh.vertices.topRows(q.midsides.corners), q.mesh.tets};
  const Points found = embedded(embed(points, linear), q.mesh.tets, q.midsides).apply(moved);
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    EXPECT_LT((Vec3(found.row(i)) - motion(points.row(i))).norm(), 1e-13);
}

// F at every integration point of a quadratic motion, by hand.
TEST(QuadraticTet, DeformationOfAQuadraticMotionIsExact) {
  const Quadratic q(tet_box({1, 1.3, 0.8}, {3, 3, 3}));
  const TetElements elements = q.elements();
  Points x = q.mesh.vertices;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 p = x.row(i);
    x.row(i) = Vec3(p.x() + p.x() * p.y(), p.y() + p.z() * p.z(), 2 * p.z() + p.x() * p.z()).transpose();
  }
  const double a = (5 + 3 * std::sqrt(5.0)) / 20, b = (5 - std::sqrt(5.0)) / 20;
  for (std::size_t e = 0; e < elements.count(); ++e) {
    Vec3 p = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
      p += (static_cast<int>(e % 4) == k ? a : b) *
           q.mesh.vertices.row(q.mesh.tets(to_row(elements.tet_of(e)), k)).transpose();
    Mat3 f;
    f << 1 + p.y(), p.x(), 0, 0, 1, 2 * p.z(), p.z(), 0, 2 + p.x();
    EXPECT_LT((elements.deformation(x, e) - f).norm(), 1e-12);
  }
}

TEST(QuadraticTet, AssembledDerivativesAgreeWithDifferences) {
  const Quadratic q(tet_box({1, 1, 1}, {2, 2, 2}));
  TetElements elements = q.elements();
  const NodeColumns columns(q.mesh.vertices.rows(), {});
  const BlockPattern pattern(columns.count(), elements.nodes, 10);
  elements.connect(pattern, columns.of_nodes());
  const Points x = q.noisy(0.05, 1);
  const auto points = [&](const VecX& z) { return Points(Eigen::Map<const Points>(z.data(), x.rows(), 3)); };
  for (const ElasticEnergy& energy :
       {ElasticEnergy(ModifiedStVK{1, 2}), ElasticEnergy(StVK{1, 1.5}), ElasticEnergy(FixedCorotated{1, 2}),
        ElasticEnergy(StableNeoHookean{1, 2})}) {
    const auto gradient = [&](const VecX& z) {
      Points g = Points::Zero(x.rows(), 3);
      add_elastic_gradient(energy, elements, points(z), g);
      return VecX(flat(g));
    };
    const auto g = testing::check_gradient(
        [&](const VecX& z) { return elastic_energy(energy, elements, points(z)); }, gradient, flat(x));
    EXPECT_TRUE(g.ok) << g.message;
    const auto hessian = [&](const VecX& z, bool project) {
      BlockMatrix a(pattern);
      add_elastic_hessian(energy, elements, points(z), project, a);
      return a.to_dense();
    };
    const auto h = testing::check_hessian(
        gradient, [&](const VecX& z) { return hessian(z, false); }, flat(x));
    EXPECT_TRUE(h.ok) << h.message;
    // The projected one has no negative eigenvalue and is the same where there is none to remove.
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(hessian(flat(q.noisy(0.3, 2)), true));
    EXPECT_GT(eigen.eigenvalues().minCoeff(), -1e-10 * eigen.eigenvalues().maxCoeff());
    const MatX rest = hessian(flat(q.mesh.vertices), false);
    EXPECT_LT((hessian(flat(q.mesh.vertices), true) - rest).norm(), 1e-9 * rest.norm());
  }
}

TEST(QuadraticTet, SixMotionsCostNothingAtRest) {
  const Quadratic q(tet_box({1, 1, 1}, {2, 2, 2}));
  TetElements elements = q.elements();
  const NodeColumns columns(q.mesh.vertices.rows(), {});
  const BlockPattern pattern(columns.count(), elements.nodes, 10);
  elements.connect(pattern, columns.of_nodes());
  BlockMatrix a(pattern);
  add_elastic_hessian(StVK{1, 1}, elements, q.mesh.vertices, false, a);
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(a.to_dense()).eigenvalues();
  EXPECT_LT(values.head(6).cwiseAbs().maxCoeff(), 1e-12 * values.maxCoeff());
  EXPECT_GT(values[6], 1e-4 * values.maxCoeff());
}

TEST(QuadraticTet, MassIsPositiveAndWhole) {
  const Quadratic q(tet_box({1, 2, 3}, {3, 4, 5}));
  const VecX mass = lumped_mass(q.elements(), 7, q.mesh.vertices.rows());
  EXPECT_GT(mass.minCoeff(), 0);
  EXPECT_NEAR(mass.sum(), 42, 1e-12);
  EXPECT_LT((q.mesh.vertices.transpose() * mass).norm(), 1e-12);  // about the middle
}

TEST(QuadraticTet, InvertedOnesAreCountedOnce) {
  const Quadratic q(tet_box({1, 1, 1}, {2, 2, 2}));
  const TetElements elements = q.elements();
  EXPECT_EQ(count_inverted(elements, q.mesh.vertices), 0);
  Points mirrored = q.mesh.vertices;
  mirrored.col(0) *= -1;
  EXPECT_EQ(count_inverted(elements, mirrored), q.mesh.tets.rows());
  EXPECT_LT(way_without_inversion(elements, q.mesh.vertices, mirrored), 0.5);
}

TEST(QuadraticTet, SameBitsForAnyNumberOfThreads) {
  const Quadratic q(tet_box({1, 1, 2}, {5, 5, 9}));
  TetElements elements = q.elements();
  const NodeColumns columns(q.mesh.vertices.rows(), {});
  const BlockPattern pattern(columns.count(), elements.nodes, 10);
  elements.connect(pattern, columns.of_nodes());
  const Points x = q.noisy(0.01, 4);
  std::vector<Points> gradients;
  std::vector<std::vector<double>> hessians;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Points g = Points::Zero(x.rows(), 3);
    add_elastic_gradient(ModifiedStVK{1, 2}, elements, x, g);
    BlockMatrix a(pattern);
    add_elastic_hessian(ModifiedStVK{1, 2}, elements, x, false, a);
    gradients.push_back(g);
    hessians.emplace_back(a.values().begin(), a.values().end());
  }
  set_thread_count(0);
  for (std::size_t k : {1, 2}) {
    EXPECT_EQ(gradients[k], gradients[0]);
    EXPECT_EQ(hessians[k], hessians[0]);
  }
}

}  // namespace
}  // namespace exemplar
