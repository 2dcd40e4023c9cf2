// Derivatives and invariances of the kernels of sheets, at random, flat and nearly folded states.
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "shells/dihedral.h"
#include "shells/triangle_energy.h"
#include "tests/support/derivatives.h"

namespace exemplar::shells {
namespace {

using exemplar::testing::check_gradient;
using exemplar::testing::check_hessian;

Stencil folded(double angle, std::uint64_t seed, double noise) {
  Stencil x;
  x.col(0) = Vec3(0, 0, 0);
  x.col(1) = Vec3(1, 0, 0);
  x.col(2) = Vec3(0.3, 0.8 * std::cos(angle / 2), 0.8 * std::sin(angle / 2));
  x.col(3) = Vec3(0.6, -0.7 * std::cos(angle / 2), 0.7 * std::sin(angle / 2));
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] += noise * normal_random(seed, static_cast<std::uint64_t>(i));
  return x;
}

Stencil stencil_of(const VecX& z) {
  return Eigen::Map<const Stencil>(z.data());
}
VecX flat_of(const Stencil& x) {
  return Eigen::Map<const VecX>(x.data(), x.size());
}

TEST(Dihedral, IsTheAngleOfTheFold) {
  for (const double angle : {-3.0, -1.0, 0.0, 0.5, 2.0, 3.1}) {
    EXPECT_NEAR(Dihedral::value(folded(angle, 1, 0)), angle, 1e-14);
  }
}

TEST(Dihedral, GradientAndHessianAgreeWithDifferences) {
  for (const double angle : {0.0, 1.0, -2.0, 3.0, -3.05}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const VecX z = flat_of(folded(angle, seed, angle == 0.0 && seed == 1 ? 0.0 : 0.02));
      const auto value = [](const VecX& y) { return Dihedral::value(stencil_of(y)); };
      const auto gradient = [](const VecX& y) { return VecX(Dihedral::gradient(stencil_of(y))); };
      const auto hessian = [](const VecX& y) { return MatX(Dihedral::hessian(stencil_of(y))); };
      const auto g = check_gradient(value, gradient, z, 0.1);
      EXPECT_TRUE(g.ok) << angle << ": " << g.message << " " << g.best_error;
      const auto h = check_hessian(gradient, hessian, z, 0.1);
      EXPECT_TRUE(h.ok) << angle << ": " << h.message << " " << h.best_error << " " << h.asymmetry;
    }
  }
}

TEST(Dihedral, ContinuesPastHalfATurn) {
  EXPECT_NEAR(Dihedral::unwrapped(-3.1, 3.0), -3.1 + 2 * std::numbers::pi, 1e-14);
  EXPECT_NEAR(Dihedral::unwrapped(3.1, -9.5), 3.1 - 4 * std::numbers::pi, 1e-14);
  EXPECT_EQ(Dihedral::unwrapped(0.3, 0.1), 0.3);
}

Corners some_triangle() {
  Corners x;
  x << 0.0, 1.1, 0.2, 0.1, 0.0, 0.9, 0.3, -0.2, 0.1;
  return x;
}

Vec6 some_shape(const RestTriangle& rest, double stretch, double bend) {
  Vec6 q;
  q << rest.length.cwiseAbs2(), 0, 0, 0;
  for (int i = 0; i < 6; ++i)
    q[i] += (i < 3 ? stretch * q[i] : bend) * normal_random(4, static_cast<std::uint64_t>(i));
  return q;
}

template <class Triangle>
void check_triangle(const Triangle& triangle, const typename Triangle::Measures& rest, const Vec6& q) {
  const auto value = [&](const VecX& z) { return energy(triangle, Vec6(z), rest); };
  const auto slope = [&](const VecX& z) { return VecX(gradient(triangle, Vec6(z), rest)); };
  const auto second = [&](const VecX& z) { return MatX(hessian(triangle, Vec6(z), rest)); };
  const auto g = check_gradient(value, slope, q, 0.1);
  EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
  const auto h = check_hessian(slope, second, q, 0.1);
  EXPECT_TRUE(h.ok) << h.message << " " << h.best_error;
}

TEST(TriangleEnergy, DerivativesAgreeWithDifferences) {
  const RestTriangle rest(some_triangle());
  const PlateMaterial material{2.0, 0.3, 0.4};
  const Vec6 undeformed = some_shape(rest, 0, 0);
  for (const double bend : {0.0, 0.3, 1.5}) {
    const Vec6 q = some_shape(rest, 0.1, bend);
    for (const bool curved : {false, true}) {
      const PhysicalTriangle triangle(rest, material, curved);
      check_triangle(triangle, triangle.measure(undeformed), q);
    }
    const PaperTriangle paper(rest, {1.3, 0.7, 0.2}, Vec3(1, 0, 1.2), {false, true, false});
    check_triangle(paper, paper.measure(undeformed), q);
  }
}

TEST(TriangleEnergy, BentToACylinderHoldsHalfDOverRadiusSquared) {
  const RestTriangle rest(some_triangle());
  const PlateMaterial material{3e6, 0.27, 0.01};
  const PhysicalTriangle triangle(rest, material, false);
  for (const double direction : {0.0, 0.7}) {
    const Vec2 axis(std::cos(direction), std::sin(direction));
    Vec6 q = some_shape(rest, 0, 0);
    const auto undeformed = triangle.measure(q);
    q.tail<3>() = rest.angles(0.2 * axis * axis.transpose());  // radius 5 m
    EXPECT_NEAR(energy(triangle, q, undeformed) / (0.5 * material.flexural_rigidity() * rest.area / 25), 1,
                1e-12);
  }
}

TEST(TriangleEnergy, StretchedSheetHoldsHalfYoungThicknessStrainSquared) {
  const RestTriangle rest(some_triangle());
  const PhysicalTriangle triangle(rest, {3e6, 0.0, 0.01}, false);
  Vec6 q = some_shape(rest, 0, 0);
  const auto undeformed = triangle.measure(q);
  const double strain = 1e-4;
  const Vec2 axis(0.6, 0.8);
  q.head<3>() += rest.squared_lengths(2 * strain * axis * axis.transpose());
  EXPECT_NEAR(energy(triangle, q, undeformed) / (0.5 * 3e6 * 0.01 * strain * strain * rest.area), 1, 1e-8);
}

TEST(RestTriangle, TensorsAndNumbersAreOneToOne) {
  const RestTriangle rest(some_triangle());
  const Vec3 alpha(0.1, -0.4, 0.25), s(0.2, 0.1, -0.3);
  EXPECT_LT((rest.angles(rest.curvature(alpha)) - alpha).norm(), 1e-14);
  EXPECT_LT((rest.squared_lengths(rest.stretch(s)) - s).norm(), 1e-14);
}

}  // namespace
}  // namespace exemplar::shells
