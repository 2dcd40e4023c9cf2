#include <gtest/gtest.h>

#include <random>

#include "core/base/parallel.h"
#include "core/math/angles.h"
#include "core/math/rigid_fit.h"
#include "core/rig/skinning.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

// A random skin: `points` points, `bones` bones, `examples` examples (0 is rest).
struct RandomSkin {
  Points rest, centres;
  MatX weights;
  std::vector<BonePose> examples;

  RandomSkin(int points, int bones, int example_count, unsigned seed, double largest_angle = 120 * k_degree) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(-1, 1);
    auto vector = [&] { return Vec3(any(random), any(random), any(random)); };
    rest = Points::NullaryExpr(points, 3, [&] { return any(random); });
    centres = Points::NullaryExpr(bones, 3, [&] { return any(random); });
    weights = MatX::NullaryExpr(points, bones, [&] { return std::max(0.0, any(random)); });
    for (Eigen::Index i = 0; i < points; ++i) {
      weights(i, i % bones) += 0.1;
      weights.row(i) /= weights.row(i).sum();
    }
    examples.push_back(BonePose(static_cast<std::size_t>(bones)));
    for (int e = 1; e < example_count; ++e) {
      BonePose pose;
      for (int b = 0; b < bones; ++b) {
        const double angle = largest_angle * any(random);
        pose.push_back({vector(), Quat(Eigen::AngleAxisd(angle, vector().normalized()))});
      }
      examples.push_back(pose);
    }
  }
  Skin skin() const { return {rest, centres, sparse_weights(weights), examples}; }
};

ExampleWeights random_barycentric(Eigen::Index rows, int examples, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> part(1.0);
  ExampleWeights e = ExampleWeights::NullaryExpr(rows, examples, [&] { return part(random); });
  for (Eigen::Index i = 0; i < rows; ++i) e.row(i) /= e.row(i).sum();
  return e;
}

std::span<const double> row_of(const ExampleWeights& e, Eigen::Index row) {
  return {e.row(row).data(), static_cast<std::size_t>(e.cols())};
}

TEST(Skinning, FullWeightOnAnExampleReproducesItsPose) {
  const RandomSkin random(40, 5, 4, 1);
  const Skin skinned = random.skin();
  for (int example = 0; example < 4; ++example) {
    ExampleWeights e = ExampleWeights::Zero(40, 4);
    e.col(example).setOnes();
    // Eq. 1 written out with rotation matrices.
    for (Eigen::Index i = 0; i < 40; ++i) {
      Vec3 expected = Vec3::Zero();
      for (int b = 0; b < 5; ++b) {
        const BoneTransform& t =
            random.examples[static_cast<std::size_t>(example)][static_cast<std::size_t>(b)];
        const Vec3 centre = random.centres.row(b);
        const Vec3 arm = random.rest.row(i).transpose() - centre;
        expected += random.weights(i, b) * (centre + t.translation + t.rotation.toRotationMatrix() * arm);
      }
      EXPECT_LT((skinned.position(i, row_of(e, i)) - expected).norm(), 1e-14);
    }
    const Points all = skin(random.rest, random.centres, skinned.weights(),
                            random.examples[static_cast<std::size_t>(example)]);
    EXPECT_LT((skinned.positions(e) - all).cwiseAbs().maxCoeff(), 1e-14);
  }
}

TEST(Skinning, RestWeightLeavesThePointsWhereTheyAre) {
  const RandomSkin random(30, 6, 3, 2);
  ExampleWeights e = ExampleWeights::Zero(30, 3);
  e.col(0).setOnes();
  EXPECT_LT((random.skin().positions(e) - random.rest).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Skinning, ABlendOfTwoTurnsAboutOneAxisIsTheTurnBetweenThem) {
  // Normalised blending of two quaternions half and half is exact: the middle of the arc.
  const Points rest = (Points(1, 3) << 1, 0, 0).finished();
  const Points centre = Points::Zero(1, 3);
  const BonePose turned{{Vec3(0, 0, 2), Quat(Eigen::AngleAxisd(90 * k_degree, Vec3::UnitZ()))}};
  const Skin one(rest, centre, sparse_weights(MatX::Ones(1, 1)), {BonePose(1), turned});
  const double half[] = {0.5, 0.5};
  const Vec3 expected(std::cos(45 * k_degree), std::sin(45 * k_degree), 1);
  EXPECT_LT((one.position(0, half) - expected).norm(), 1e-15);
}

TEST(Skinning, TheSignOfAQuaternionDoesNotMatter) {
  RandomSkin random(30, 4, 4, 3);
  const ExampleWeights e = random_barycentric(30, 4, 4);
  const Points before = random.skin().positions(e);
  for (std::size_t k = 1; k < 4; ++k) {
    for (std::size_t b = k % 2; b < 4; b += 2) random.examples[k][b].rotation.coeffs() *= -1;
  }
  EXPECT_EQ((random.skin().positions(e) - before).cwiseAbs().maxCoeff(), 0);
}

TEST(Skinning, MovingTheCoordinatesMovesTheResultAlike) {
  const RandomSkin random(30, 4, 3, 5);
  const ExampleWeights e = random_barycentric(30, 3, 6);
  const Points before = random.skin().positions(e);
  const RigidTransform motion{Quat(Eigen::AngleAxisd(1.1, Vec3(1, 2, -1).normalized())).toRotationMatrix(),
                              Vec3(3, -4, 5)};
  RandomSkin moved = random;
  moved.rest = transform(motion, random.rest);
  moved.centres = transform(motion, random.centres);
  const Quat turn(motion.rotation);
  for (BonePose& pose : moved.examples) {
    for (BoneTransform& t : pose) t = {turn * t.translation, turn * t.rotation * turn.conjugate()};
  }
  EXPECT_LT((moved.skin().positions(e) - transform(motion, before)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Skinning, TheJacobianIsTheDerivativeByTheExampleWeights) {
  const RandomSkin random(12, 5, 4, 7);
  const Skin skinned = random.skin();
  const ExampleWeights e = random_barycentric(12, 4, 8);
  for (Eigen::Index i = 0; i < 12; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto value = [&](const VecX& w) {
        return skinned.position(i, {w.data(), static_cast<std::size_t>(w.size())})[axis];
      };
      const auto gradient = [&](const VecX& w) -> VecX {
        return skinned.jacobian(i, {w.data(), static_cast<std::size_t>(w.size())}).row(axis).transpose();
      };
      const auto report = testing::check_gradient(value, gradient, e.row(i).transpose());
      EXPECT_TRUE(report.ok) << report.message;
    }
  }
}

TEST(Skinning, TheSameBitsForAnyNumberOfThreads) {
  const RandomSkin random(2000, 8, 4, 9);
  const Skin skinned = random.skin();
  const ExampleWeights e = random_barycentric(2000, 4, 10);
  set_thread_count(1);
  const Points once = skinned.positions(e);
  for (int threads : {2, 3}) {
    set_thread_count(threads);
    EXPECT_TRUE(skinned.positions(e) == once);
  }
  set_thread_count(0);
}

TEST(Skinning, DroppedWeightsLeaveRowsThatSumToOne) {
  MatX w(2, 3);
  w << 1e-9, 0.25, 0.75 - 1e-9, 0, 1, 0;
  const SkinWeights sparse = sparse_weights(w, 1e-8);
  EXPECT_EQ(sparse.bone, (std::vector<int>{1, 2, 1}));
  const MatX dense = sparse.dense();
  EXPECT_LT((dense.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-15);
  EXPECT_EQ(dense(0, 0), 0);
}

}  // namespace
}  // namespace exemplar
