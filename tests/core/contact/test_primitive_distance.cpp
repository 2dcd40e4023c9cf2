#include "core/contact/primitive_distance.h"

#include <gtest/gtest.h>

#include "tests/core/contact/contact_support.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

std::array<Vec3, 4> random_points(std::uint64_t seed) {
  return {random_vector(seed, 0), random_vector(seed, 1), random_vector(seed, 2), random_vector(seed, 3)};
}

VecX flatten(const std::array<Vec3, 4>& p) {
  VecX x(12);
  for (int i = 0; i < 4; ++i) x.segment<3>(3 * i) = p[i];
  return x;
}

std::array<Vec3, 4> unflatten(const VecX& x) {
  return {x.segment<3>(0), x.segment<3>(3), x.segment<3>(6), x.segment<3>(9)};
}

TEST(PrimitiveDistance, AgreesWithSampling) {
  for (int seed = 0; seed < 40; ++seed) {
    const auto p = random_points(100 + seed);
    double triangle = 1e300, edges = 1e300;
    constexpr int n = 300;
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; j <= n; ++j) {
        const double s = double(i) / n, t = double(j) / n;
        if (i + j <= n)
          triangle = std::min(triangle, (p[0] - (1 - s - t) * p[1] - s * p[2] - t * p[3]).norm());
        edges = std::min(edges, ((1 - s) * p[0] + s * p[1] - (1 - t) * p[2] - t * p[3]).norm());
      }
    }
    EXPECT_LE(nearest_point_triangle(p).value, triangle + 1e-12);
    EXPECT_NEAR(nearest_point_triangle(p).value, triangle, 5e-3);
    EXPECT_LE(nearest_edges(p).value, edges + 1e-12);
    EXPECT_NEAR(nearest_edges(p).value, edges, 5e-3);
  }
}

TEST(PrimitiveDistance, DerivativesAgreeWithDifferences) {
  using Function = Nearest (*)(const std::array<Vec3, 4>&);
  int checked = 0, kinds = 0;
  for (const Function nearest : {Function(nearest_point_triangle), Function(nearest_edges)}) {
    for (int seed = 0; seed < 60; ++seed) {
      const auto p = random_points(500 + seed);
      const Nearest here = nearest(p);
      if (here.value < 0.05) continue;
      // Away from changes of the nearest feature.
      const Vec4 size = here.weights.cwiseAbs();
      if (((size.array() > 0) && (size.array() < 0.02)).any()) continue;
      kinds |= 1 << here.parameters;
      const auto value = [&](const VecX& x) { return nearest(unflatten(x)).value; };
      const auto gradient = [&](const VecX& x) { return VecX(distance_gradient(nearest(unflatten(x)))); };
      const auto hessian = [&](const VecX& x) {
        return MatX(distance_hessian(nearest(unflatten(x)), unflatten(x)));
      };
      const auto g = check_gradient(value, gradient, flatten(p));
      const auto h = check_hessian(gradient, hessian, flatten(p), 0.3, 1e-6);
      EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
      EXPECT_TRUE(h.ok) << h.message << " " << h.best_error << " parameters " << here.parameters << " d "
                        << here.value;
      ++checked;
    }
  }
  EXPECT_GT(checked, 60);
  EXPECT_EQ(kinds, 7);
}

TEST(PrimitiveDistance, ParallelFactorDerivatives) {
  const auto p = random_points(3);
  const double threshold = 4 * (p[1] - p[0]).cross(p[3] - p[2]).squaredNorm();
  const auto factor = [&](const VecX& x) { return parallel_edge_factor(unflatten(x), threshold, true); };
  EXPECT_TRUE(check_gradient([&](const VecX& x) { return factor(x).value; },
                             [&](const VecX& x) { return VecX(factor(x).gradient); }, flatten(p))
                  .ok);
  EXPECT_TRUE(check_hessian([&](const VecX& x) { return VecX(factor(x).gradient); },
                            [&](const VecX& x) { return MatX(factor(x).hessian); }, flatten(p))
                  .ok);
}

}  // namespace
}  // namespace exemplar
