#include <gtest/gtest.h>

#include <cmath>

#include "core/world/pull.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using testing::check_gradient;
using testing::check_hessian;

void expect_derivatives(const PullSpring& spring, const Vec3& x) {
  const auto value = [&](const VecX& z) { return spring.energy(Vec3(z)); };
  const auto gradient = [&](const VecX& z) { return VecX(spring.gradient(Vec3(z))); };
  const auto hessian = [&](const VecX& z) { return MatX(spring.hessian(Vec3(z))); };
  const auto first = check_gradient(value, gradient, x, 0.01);
  EXPECT_TRUE(first.ok) << first.message;
  const auto second = check_hessian(gradient, hessian, x, 0.01);
  EXPECT_TRUE(second.ok) << second.message;
}

TEST(Pull, DerivativesFitBelowAndAboveTheLargestForce) {
  const PullSpring spring{Vec3(0.1, -0.2, 0.3), 250, 40};
  expect_derivatives(spring, Vec3(0.15, -0.17, 0.28));
  expect_derivatives(spring, Vec3(0.9, 0.2, -0.5));
}

TEST(Pull, IsNeverStrongerThanItsLargestForce) {
  const PullSpring spring{Vec3::Zero(), 100, 5};  // d₀ = 0.05 m
  EXPECT_DOUBLE_EQ(spring.gradient(Vec3(0.04, 0, 0)).norm(), 4);
  EXPECT_DOUBLE_EQ(spring.gradient(Vec3(0, 3, 4)).norm(), 5);
  EXPECT_NEAR(spring.energy(Vec3(0.05, 0, 0)), 0.125, 1e-15);
  EXPECT_NEAR(spring.energy(Vec3(0, 0, 1.05)), 0.125 + 5, 1e-14);  // force times the rest of the distance
}

TEST(Pull, ItsImpulseIsThatOfTheForceAtTheStepsEnd) {
  const PullSpring spring{Vec3(1, 2, 3), 1e6, std::numeric_limits<double>::infinity()};
  const Vec3 x(0.5, 2, 3.2), v(3, -1, 0);
  Mat3 inverse_mass;
  inverse_mass << 2, 0.1, 0, 0.1, 1, 0.3, 0, 0.3, 4;
  const double h = 0.01;
  const Vec3 impulse = spring.impulse(x, v, inverse_mass, h);
  const Vec3 end = x + h * (v + inverse_mass * impulse);
  EXPECT_LT((impulse + h * spring.gradient(end)).norm(), 1e-9 * impulse.norm());
  EXPECT_LT((end - spring.target).norm(),
            (x - spring.target).norm());  // however stiff: it does not overshoot
  const PullSpring weak{spring.target, 1e6, 7};
  EXPECT_NEAR(weak.impulse(x, v, inverse_mass, h).norm(), 7 * h, 1e-12);
}

TEST(Pull, ActsWithinItsWindowTowardsAMovingTarget) {
  Pull pull;
  pull.body = "plank";
  pull.target = {{0, Vec3::Zero(), Vec3::Zero()}, {2, Vec3(0, 4, 0), Vec3::Zero()}};
  pull.interpolation = Interpolation::linear;
  pull.stiffness = 10;
  pull.max_force = 30;
  pull.window = {0.5, 1.5, 0.5, 0};
  const PullSet pulls({pull}, "plank");
  EXPECT_TRUE(PullSet({pull}, "other").empty());
  EXPECT_TRUE(pulls.active(0.25, 0.5).empty());
  EXPECT_TRUE(pulls.active(1.5, 1.6).empty());
  const std::vector<ActivePull> ramped = pulls.active(0.5, 1);
  ASSERT_EQ(ramped.size(), 1u);
  EXPECT_DOUBLE_EQ(ramped[0].spring.stiffness, 5);  // the mean of a ramp from 0 to 1
  EXPECT_DOUBLE_EQ(ramped[0].spring.max_force, 15);
  EXPECT_EQ(ramped[0].spring.target, Vec3(0, 2, 0));
  EXPECT_DOUBLE_EQ(pulls.active(1, 1.25)[0].spring.stiffness, 10);
}

TEST(Pull, TakesTheNearestPointOfTheSurface) {
  Points vertices(4, 3);
  vertices << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5;
  Triangles triangles(2, 3);
  triangles << 0, 3, 1, 0, 1, 2;
  const PulledPoint point = nearest_surface_point(vertices, triangles, Vec3(0.25, 0.5, -1));
  EXPECT_LT((point.of(vertices) - Vec3(0.25, 0.5, 0)).norm(), 1e-15);
  EXPECT_NEAR(point.weights.sum(), 1, 1e-15);
  vertices.rowwise() += Eigen::RowVector3d(0, 0, 2);
  EXPECT_LT((point.of(vertices) - Vec3(0.25, 0.5, 2)).norm(), 1e-15);
}

}  // namespace
}  // namespace exemplar
