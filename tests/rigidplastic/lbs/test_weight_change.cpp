#include "rigidplastic/lbs/weight_change.h"

#include <gtest/gtest.h>

#include "rigidplastic/lbs/patches.h"
#include "rigidplastic/lbs/restitution.h"

namespace exemplar::lbs {

namespace {

Eigen::Matrix3Xd two_columns() {
  Eigen::Matrix3Xd columns(3, 2);
  columns << 0.2, 0, 0, 0.5, 0, 0;
  return columns;
}

rigid::Contact contact_at(int a, int b, const Vec3& point, const Vec3& impulse) {
  rigid::Contact c;
  c.a = a;
  c.b = b;
  c.point_a = c.point_b = point;
  c.impulse = impulse;
  return c;
}

}  // namespace

TEST(WeightChange, NothingMovesBelowTheThreshold) {
  EXPECT_EQ(asked_displacement(Vec3(0, 3, 4), 5, 2, 0.004), Vec3::Zero());
  EXPECT_LT((asked_displacement(Vec3(0, 6, 8), 5, 2, 0.004) - Vec3(0, 0.006, 0.008)).norm(), 1e-17);
}

TEST(WeightChange, NormalisedStepHasLengthAlphaTimesTheDisplacementWhateverTheExample) {
  const VecX along =
      weight_change(Projection::normalised, two_columns(), VecX::Zero(2), Vec3(0.01, 0, 0), 30);
  EXPECT_NEAR(along[0], 0.3, 1e-15);
  EXPECT_EQ(along[1], 0);
  const VecX orthogonal =
      weight_change(Projection::normalised, two_columns(), VecX::Zero(2), Vec3(0, 0, 1), 30);
  EXPECT_EQ(orthogonal, VecX::Zero(2));
}

TEST(WeightChange, PseudoInverseSolvesAndGradientDoesNot) {
  const Vec3 displacement(0.02, 0.1, 0.3);
  const VecX inverse =
      weight_change(Projection::pseudo_inverse, two_columns(), VecX::Zero(2), displacement, 1);
  EXPECT_NEAR(inverse[0], 0.1, 1e-15);
  EXPECT_NEAR(inverse[1], 0.2, 1e-15);
  const VecX gradient = weight_change(Projection::gradient, two_columns(), VecX::Zero(2), displacement, 1);
  EXPECT_NEAR(gradient[0], 0.004, 1e-17);
  EXPECT_NEAR(gradient[1], 0.05, 1e-16);
}

TEST(WeightChange, ConstrainedStepStaysOnTheSimplex) {
  const VecX start = Vec2(0.6, 0.3);
  const VecX change = weight_change(Projection::constrained, two_columns(), start, Vec3(1, 1, 0), 1);
  const VecX end = start + change;
  EXPECT_GE(end.minCoeff(), -1e-12);
  EXPECT_NEAR(end.sum(), 1, 1e-12);
  // On w1 + w2 = 1 the nearest point to (0.2 w1 + 1, 0.5 w2 + 1 further out): minimise by hand over w1.
  const Vec3 target = two_columns() * start + Vec3(1, 1, 0);
  auto distance = [&](double w) { return (two_columns() * Vec2(w, 1 - w) - target).norm(); };
  double best = 0;
  for (int k = 0; k <= 100000; ++k) best = distance(k / 1e5) < distance(best) ? k / 1e5 : best;
  EXPECT_NEAR(end[0], best, 1e-5);
}

TEST(WeightChange, FalloffIsOneAtTheImpactAndFlatAtBothEnds) {
  EXPECT_EQ(falloff(0), 1);
  EXPECT_EQ(falloff(0.5), 0.5);
  EXPECT_EQ(falloff(1), 0);
  EXPECT_EQ(falloff(7), 0);
  EXPECT_NEAR((falloff(1e-4) - 1) / 1e-4, 0, 4e-4);
}

TEST(Patches, PointsCloseTogetherCountAsOneImpact) {
  const std::vector<rigid::Contact> contacts{
      contact_at(0, 3, {0, 0, 0}, {0, 1, 0}), contact_at(0, 3, {0.1, 0, 0}, {0, 3, 0}),
      contact_at(0, 3, {2, 0, 0}, {0, 5, 0}), contact_at(1, 3, {0, 0, 0}, {0, 7, 0})};
  const std::vector<Patch> patches = contact_patches(contacts, [](int, int) { return 0.2; });
  ASSERT_EQ(patches.size(), 3u);
  EXPECT_EQ(patches[0].impulse, Vec3(0, 4, 0));
  EXPECT_NEAR(patches[0].point_a.x(), 0.075, 1e-15);
  EXPECT_EQ(patches[1].impulse, Vec3(0, 5, 0));
  EXPECT_EQ(patches[2].a, 1);
  EXPECT_EQ(contact_patches(contacts, [](int, int) { return -1.0; }).size(), 4u);
}

TEST(Restitution, FallsAtOnceWhileDeformingAndComesBackSlowly) {
  const double hit = next_restitution_factor(1, 0.4, 0.5, 2, 3, 0.004);
  EXPECT_NEAR(hit, std::exp(-1.5), 1e-15);
  EXPECT_NEAR(next_restitution_factor(hit, 0.4, 0, 2, 3, 0.004), hit + 2 * 0.004 / 0.4, 1e-15);
  EXPECT_EQ(next_restitution_factor(0.999, 0.4, 0, 2, 3, 0.004), 1);
}

}  // namespace exemplar::lbs
