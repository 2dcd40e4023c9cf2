#include "core/mesh/distance.h"

#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "core/mesh/triangle.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

using testing::box_surface;
using testing::merge_meshes;
using testing::random_points;
using testing::sphere_surface;
using testing::torus_surface;
using testing::unit;

double box_distance(const Vec3& point, const Vec3& half) {
  const Vec3 q = point.cwiseAbs() - half;
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

TEST(Distance, BoxClosedForm) {
  const Vec3 half(0.4, 0.6, 0.9);
  const SurfaceDistance surface(box_surface(-half, half));
  EXPECT_TRUE(surface.closed_manifold());
  const Points points = random_points(3000, 1.5, 1);
  const VecX distances = surface.signed_distances(points);
  for (int i = 0; i < points.rows(); ++i) {
    EXPECT_NEAR(distances[i], box_distance(points.row(i).transpose(), half), 1e-12);
  }
}

TEST(Distance, NormalIsTheGradient) {
  const Vec3 half(0.4, 0.6, 0.9);
  const SurfaceDistance surface(box_surface(-half, half));
  const Points points = random_points(200, 1.2, 5);
  for (int i = 0; i < points.rows(); ++i) {
    const Vec3 point = points.row(i);
    const SurfacePoint nearest = surface.signed_nearest(point);
    const double step = 1e-6;
    EXPECT_NEAR(surface.signed_distance(point + step * nearest.normal), nearest.distance + step, 1e-9);
  }
  EXPECT_LT((surface.signed_nearest(Vec3(0.4, 0.1, 0.2)).normal - Vec3::UnitX()).norm(), 1e-12);
}

TEST(Distance, NearestMatchesBruteForce) {
  const TriMesh mesh = torus_surface(1, 0.4, 17, 11);
  const SurfaceDistance surface(mesh);
  const Points points = random_points(500, 2, 2);
  const auto found = surface.nearest_all(points);
  for (int i = 0; i < points.rows(); ++i) {
    const Vec3 point = points.row(i);
    double best = std::numeric_limits<double>::infinity();
    for (int t = 0; t < mesh.triangles.rows(); ++t) {
      const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k))); };
      const Vec3 w = nearest_on_triangle(point, x(0), x(1), x(2));
      best = std::min(best, (w[0] * x(0) + w[1] * x(1) + w[2] * x(2) - point).norm());
    }
    EXPECT_EQ(found[i].distance, best);
    EXPECT_NEAR(found[i].barycentric.sum(), 1, 1e-12);
    EXPECT_NEAR((found[i].position - point).norm(), best, 1e-14);
  }
}

// The kernel itself against a fine sampling of the triangle.
TEST(Distance, NearestOnTriangleMatchesSampling) {
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const Points x = random_points(4, 1, 40 + trial);
    const Vec3 a = x.row(0), b = x.row(1), c = x.row(2), point = x.row(3);
    const Vec3 w = nearest_on_triangle(point, a, b, c);
    EXPECT_GE(w.minCoeff(), 0);
    const double distance = (w[0] * a + w[1] * b + w[2] * c - point).norm();
    double sampled = std::numeric_limits<double>::infinity();
    const int n = 200;
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; i + j <= n; ++j) {
        sampled = std::min(sampled, ((i * a + j * b + (n - i - j) * c) / n - point).norm());
      }
    }
    EXPECT_LE(distance, sampled + 1e-12);
    EXPECT_LT(sampled - distance, 0.02);
  }
}

TEST(Distance, DegenerateTrianglesAreEdges) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(2, 0, 0);
  const Vec3 w = nearest_on_triangle(Vec3(1.5, 1, 0), a, b, c);
  EXPECT_NEAR((w[0] * a + w[1] * b + w[2] * c - Vec3(1.5, 0, 0)).norm(), 0, 1e-14);
  const Vec3 same = nearest_on_triangle(Vec3(1.5, 1, 0), a, a, a);
  EXPECT_NEAR(same.sum(), 1, 1e-14);
}

TEST(Distance, MaximumDistance) {
  const SurfaceDistance surface(box_surface(-unit, unit));
  EXPECT_EQ(surface.nearest(Vec3(3, 0, 0), 1.9).triangle, -1);
  EXPECT_NEAR(surface.nearest(Vec3(3, 0, 0), 2.1).distance, 2, 1e-14);
}

TEST(Distance, WindingNumberMatchesTheSumOfSolidAngles) {
  const TriMesh mesh = merge_meshes(torus_surface(1, 0.4, 40, 30), sphere_surface(0.3, 20, 20, true));
  const SurfaceDistance surface(mesh);
  EXPECT_FALSE(surface.closed_manifold());
  const Points points = random_points(300, 1.6, 8);
  const VecX found = surface.winding_numbers(points);
  for (int i = 0; i < points.rows(); ++i) {
    double exact = 0;
    for (int t = 0; t < mesh.triangles.rows(); ++t) {
      const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k))); };
      exact += solid_angle(points.row(i).transpose(), x(0), x(1), x(2)) / (4 * std::numbers::pi);
    }
    EXPECT_NEAR(found[i], exact, 0.02);
  }
}

TEST(Distance, SignOfOpenAndOverlappingSurfaces) {
  const SurfaceDistance open(sphere_surface(1, 40, 40, true));
  EXPECT_FALSE(open.closed_manifold());
  EXPECT_LT(open.signed_distance(Vec3(0.1, 0.2, 0.3)), 0);
  EXPECT_GT(open.signed_distance(Vec3(1.1, 0.2, 0.3)), 0);
  const SurfaceDistance both(
      merge_meshes(box_surface(-unit, unit), box_surface(Vec3(0.5, -0.3, -0.3), Vec3(2, 0.3, 0.3))));
  EXPECT_GT(both.winding_number(Vec3(0.75, 0, 0)), 1.9);
  EXPECT_LT(both.winding_number(Vec3(3, 0, 0)), 0.1);
}

TEST(Distance, RayCastMatchesBruteForce) {
  const TriMesh mesh = torus_surface(1, 0.4, 17, 11);
  const SurfaceDistance surface(mesh);
  const Points origins = random_points(400, 2, 12);
  const Points directions = random_points(400, 1, 13);
  int hits = 0;
  for (int i = 0; i < origins.rows(); ++i) {
    const Vec3 origin = origins.row(i), direction = directions.row(i);
    double best = std::numeric_limits<double>::infinity();
    for (int t = 0; t < mesh.triangles.rows(); ++t) {
      const auto x = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k))); };
      const auto hit = ray_triangle(origin, direction, x(0), x(1), x(2));
      if (hit) best = std::min(best, hit->t);
    }
    const auto found = surface.ray_cast(origin, direction);
    ASSERT_EQ(found.has_value(), std::isfinite(best));
    if (!found) continue;
    ++hits;
    EXPECT_EQ(found->t, best);
    Vec3 point = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      point += found->barycentric[k] * mesh.vertices.row(mesh.triangles(found->triangle, k)).transpose();
    }
    EXPECT_LT((point - origin - found->t * direction).norm(), 1e-11);
    EXPECT_FALSE(surface.ray_cast(origin, direction, 0.999 * best));
  }
  EXPECT_GT(hits, 50);
  // Along an axis, within the planes of the boxes' faces.
  const SurfaceDistance box(box_surface(-unit, unit));
  EXPECT_NEAR(box.ray_cast(Vec3(-3, 0.2, 1 - 1e-9), Vec3::UnitX())->t, 2, 1e-12);
  EXPECT_FALSE(box.ray_cast(Vec3(-3, 0.2, 0), -Vec3::UnitX()));
}

TEST(Distance, MovedSurfaceAnswersLikeANewOne) {
  const TriMesh mesh = torus_surface(1, 0.4, 17, 11);
  SurfaceDistance moved(mesh);
  const Points target =
      (mesh.vertices * testing::some_rotation()).rowwise() + Eigen::RowVector3d(0.3, 0.1, -0.2);
  moved.move_to(target);
  const SurfaceDistance fresh(TriMesh{target, mesh.triangles});
  const Points points = random_points(300, 2, 4);
  EXPECT_LT((moved.signed_distances(points) - fresh.signed_distances(points)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Distance, SameForAnyNumberOfThreads) {
  const SurfaceDistance surface(torus_surface(1, 0.4, 17, 11));
  const Points points = random_points(2000, 2, 4);
  set_thread_count(1);
  const VecX one = surface.signed_distances(points);
  set_thread_count(3);
  const VecX three = surface.signed_distances(points);
  set_thread_count(0);
  EXPECT_TRUE(one == three);
}

}  // namespace
}  // namespace exemplar
