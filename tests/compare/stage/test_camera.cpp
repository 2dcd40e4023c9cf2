#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compare/stage/camera.h"

namespace exemplar::stage {

namespace {

// Where a point lands in the picture: both in [-1, 1] when it is inside.
Vec2 place_in_picture(const Camera& camera, const Vec3& point, double aspect) {
  const Vec3 relative = point - camera.position;
  const double depth = -relative.dot(camera.backward()), slope = std::tan(camera.view_angle / 2);
  const Vec3 up = camera.backward().cross(camera.right());
  return {relative.dot(camera.right()) / (depth * slope * aspect), relative.dot(up) / (depth * slope)};
}

TEST(Camera, HoldsAllPointsAndTouchesTheMargin) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (double aspect : {0.5, 1.0, 1.7}) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Vec3> points;
      for (int i = 0; i < 60; ++i)
        points.emplace_back(3 + normal(random), 5 * normal(random), 0.2 * normal(random));
      const Vec3 direction(normal(random), normal(random), normal(random));
      const Camera camera = fit_camera(points, direction, Vec3::UnitY(), aspect, 0.1);
      double largest = 0;
      for (const Vec3& point : points) {
        largest = std::max(largest, place_in_picture(camera, point, aspect).cwiseAbs().maxCoeff());
      }
      EXPECT_NEAR(largest, 0.8, 1e-9);
      EXPECT_GT(camera.backward().dot(direction.normalized()), 1 - 1e-12);
    }
  }
}

TEST(Camera, LooksAlongUpAndAtNothing) {
  const Camera above = fit_camera({Vec3(1, 0, 0), Vec3(-1, 0, 2)}, Vec3::UnitY(), Vec3::UnitY(), 1);
  EXPECT_TRUE(above.position.allFinite() && above.up.allFinite());
  EXPECT_GT(above.position.y(), 1);
  const double nan = std::nan("");
  for (const auto& points : {std::vector<Vec3>{}, std::vector<Vec3>{Vec3(nan, 0, 0)}, {Vec3(1, 2, 3)}}) {
    const Camera camera = fit_camera(points, Vec3(1, 1, 1), Vec3::UnitY(), 1);
    EXPECT_TRUE(camera.position.allFinite());
    EXPECT_GT((camera.position - camera.target).norm(), 0);
  }
}

}  // namespace

}  // namespace exemplar::stage
