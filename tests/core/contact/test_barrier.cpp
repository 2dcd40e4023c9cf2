#include "core/contact/barrier.h"

#include <gtest/gtest.h>

namespace exemplar {
namespace {

TEST(Barrier, DerivativesAgreeWithDifferences) {
  for (const double gap : {1e-2, 0.1, 0.5, 0.9}) {
    const auto b = [&](double g) { return contact_barrier(g, 1.3, 2.5); };
    const double h = 1e-5 * gap;
    EXPECT_NEAR(b(gap).slope, (b(gap + h).value - b(gap - h).value) / (2 * h), 1e-6 * std::abs(b(gap).slope));
    EXPECT_NEAR(b(gap).curvature, (b(gap + h).slope - b(gap - h).slope) / (2 * h), 1e-6 * b(gap).curvature);
  }
  EXPECT_TRUE(std::isinf(contact_barrier(0, 1, 1).value));
  EXPECT_EQ(contact_barrier(1, 1, 1).value, 0);
}

TEST(FrictionCurve, DerivativesAgreeWithDifferencesAndSlidingForceIsConstant) {
  constexpr double epsilon = 0.3;
  for (const double y : {0.01, 0.15, 0.29, 0.31, 2.0}) {
    const auto f = [&](double at) { return friction_curve(at, epsilon); };
    const double h = 1e-5 * y;
    const double slope = (f(y + h).value - f(y - h).value) / (2 * h);
    EXPECT_NEAR(f(y).slope_over_y * y, slope, 1e-8);
    const double force_before = f(y - h).slope_over_y * (y - h),
                 force_after = f(y + h).slope_over_y * (y + h);
    EXPECT_NEAR(f(y).curvature, (force_after - force_before) / (2 * h), 1e-6);
  }
  EXPECT_DOUBLE_EQ(friction_curve(5, epsilon).slope_over_y * 5, 1);
  EXPECT_NEAR(friction_curve(epsilon, epsilon).value, epsilon, 1e-15);  // continuous where sliding begins
}

TEST(FrictionCurve, AHeldContactHasTheParabolaAboveIt) {
  constexpr double epsilon = 0.3;
  EXPECT_DOUBLE_EQ(held_curve(0, epsilon).value, friction_curve(0, epsilon).value);
  EXPECT_DOUBLE_EQ(held_curve(0, epsilon).curvature, friction_curve(0, epsilon).curvature);
  for (const double y : {0.01, 0.15, 0.29, 0.31, 2.0})
    EXPECT_GT(held_curve(y, epsilon).value, friction_curve(y, epsilon).value);
}

}  // namespace
}  // namespace exemplar
