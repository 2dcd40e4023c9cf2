// Shapes: distances against brute force over the drawn surface and the eikonal equation, derivatives against
// differences, volume and inertia against Monte Carlo over the signed distance.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/random.h"
#include "core/world/obstacle.h"
#include "core/world/rotation.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using testing::check_gradient;
using testing::check_hessian;

ShapeDescription describe(ShapeKind kind) {
  ShapeDescription d;
  d.kind = kind;
  d.radius = 0.4;
  d.length = 0.9;
  d.size = Vec3(0.8, 1.1, 0.5);
  return d;
}

Vec3 random_point(std::uint64_t seed, std::uint64_t key, double half) {
  return half * Vec3(2 * uniform_random(seed, 3 * key) - 1, 2 * uniform_random(seed, 3 * key + 1) - 1,
                     2 * uniform_random(seed, 3 * key + 2) - 1);
}

double distance_to_triangles(const TriMesh& mesh, const Vec3& p) {
  // Dense samples of every triangle: independent of any nearest-point formula.
  double best = 1e300;
  const int n = mesh.triangles.rows() < 100 ? 240 : 24;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
               c = mesh.vertices.row(mesh.triangles(t, 2));
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; i + j <= n; ++j)
        best = std::min(best, (a + (b - a) * i / n + (c - a) * j / n - p).squaredNorm());
    }
  }
  return std::sqrt(best);
}

class AnalyticShape : public ::testing::TestWithParam<ShapeKind> {};
INSTANTIATE_TEST_SUITE_P(All, AnalyticShape,
                         ::testing::Values(ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule,
                                           ShapeKind::cylinder));

TEST_P(AnalyticShape, DistanceAgreesWithTheDrawnSurface) {
  const ShapeGeometry shape(describe(GetParam()));
  const TriMesh surface = shape.surface();
  for (int k = 0; k < 60; ++k) {
    const Vec3 p = random_point(1, k, 1.2);
    // Facets of the drawn surface lie up to r(1 − cos(π/32)) inside the round one; samples are 1.1/24 apart
    // at most.
    EXPECT_NEAR(std::abs(shape.value(p)), distance_to_triangles(surface, p), 0.012);
  }
}

TEST_P(AnalyticShape, NoPointIsDeeperThanTheInnerRadius) {
  const ShapeGeometry shape(describe(GetParam()));
  EXPECT_DOUBLE_EQ(shape.inner_radius(), -shape.value(Vec3::Zero()));
  for (int k = 0; k < 500; ++k) EXPECT_GE(shape.value(random_point(4, k, 0.6)), -shape.inner_radius());
}

TEST_P(AnalyticShape, DerivativesAgreeWithDifferences) {
  const ShapeGeometry shape(describe(GetParam()));
  int checked = 0;
  for (int k = 0; k < 200 && checked < 40; ++k) {
    const Vec3 p = random_point(2, k, 1.3);
    if (shape.value(p) < 0.02) continue;
    // Stay away from the borders between regions, where the second derivative jumps.
    bool near_border = false;
    for (int i = 0; i < 3; ++i)
      near_border |= std::abs(std::abs(p[i]) - 0.5 * shape.description().size[i]) < 2e-3;
    near_border |= std::abs(std::abs(p.y()) - 0.45) < 2e-3 || std::abs(std::hypot(p.x(), p.z()) - 0.4) < 2e-3;
    if (near_border) continue;
    const auto value = [&](const VecX& x) { return shape.value(x); };
    const auto gradient = [&](const VecX& x) { return VecX(shape.distance(x).gradient); };
    const auto hessian = [&](const VecX& x) { return MatX(shape.distance(x).hessian); };
    const auto g = check_gradient(value, gradient, p);
    EXPECT_TRUE(g.ok) << g.message << " at " << p.transpose();
    EXPECT_NEAR(shape.distance(p).gradient.norm(), 1, 1e-12);
    if (shape.distance(p).hessian.norm() > 1e-9) {
      const auto h = check_hessian(gradient, hessian, p);
      EXPECT_TRUE(h.ok) << h.message << " error " << h.best_error << " at " << p.transpose();
    }
    ++checked;
  }
  EXPECT_GE(checked, 30);
}

TEST_P(AnalyticShape, SurfacePointIsWhereGradientPoints) {
  const ShapeGeometry shape(describe(GetParam()));
  for (int k = 0; k < 200; ++k) {
    const Vec3 p = random_point(3, k, 1.3);
    const SignedDistance d = shape.distance(p);
    EXPECT_NEAR(shape.value(p - d.value * d.gradient), 0, 1e-12);
  }
}

TEST_P(AnalyticShape, VolumeAndInertiaAgreeWithMonteCarlo) {
  const ShapeGeometry shape(describe(GetParam()));
  const double half = 1.0;
  const int n = 400000;
  double inside = 0;
  Mat3 moment = Mat3::Zero();
  for (int k = 0; k < n; ++k) {
    const Vec3 p = random_point(4, k, half);
    if (shape.value(p) > 0) continue;
    inside += 1;
    moment += p.squaredNorm() * Mat3::Identity() - p * p.transpose();
  }
  EXPECT_NEAR(inside / n * 8 * half * half * half, shape.volume(), 0.012 * shape.volume());
  EXPECT_LT((moment / inside - shape.unit_inertia()).norm(), 0.012 * shape.unit_inertia().norm());
}

TEST_P(AnalyticShape, DrawnSurfaceIsClosedOutwardAndOnTheShape) {
  const ShapeGeometry shape(describe(GetParam()));
  const TriMesh mesh = shape.surface();
  double volume = 0;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
               c = mesh.vertices.row(mesh.triangles(t, 2));
    volume += a.cross(b).dot(c) / 6;
  }
  EXPECT_NEAR(volume, shape.volume(), 0.02 * shape.volume());
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i)
    EXPECT_NEAR(shape.value(mesh.vertices.row(i)), 0, 1e-12);
  const ShapeFeatures& f = shape.features();
  for (Eigen::Index i = 0; i < f.points.rows(); ++i)
    EXPECT_NEAR(shape.value(f.points.row(i)) + (f.radius > 0 ? f.radius : 0), 0, 1e-12);
}

TEST(Shape, RefusesNonsense) {
  ShapeDescription d = describe(ShapeKind::sphere);
  d.radius = -1;
  EXPECT_THROW(ShapeGeometry{d}, InputError);
  d.radius = std::nan("");
  EXPECT_THROW(ShapeGeometry{d}, InputError);
  Obstacle o;
  o.kind = ObstacleKind::dynamic;
  o.mass = 1;
  EXPECT_THROW(ObstacleBody{o}, InputError);  // a dynamic plane
  o.shape.kind = ShapeKind::sphere;
  o.mass = 0;
  EXPECT_THROW(ObstacleBody{o}, InputError);
  o.kind = ObstacleKind::keyframed;
  EXPECT_THROW(ObstacleBody{o}, InputError);
}

TEST(Rotation, DerivativesAgreeWithDifferences) {
  const Vec3 v(0.3, -1.2, 0.7);
  for (const Vec3& theta :
       {Vec3(1e-5, -2e-5, 3e-5), Vec3(0.2, -0.4, 0.1), Vec3(1.5, -1.1, 0.9), Vec3(2.4, 1.9, -3)}) {
    EXPECT_LT((rotate(theta, v).value - exp_rotation(theta) * v).norm(), 1e-14);
    for (int i = 0; i < 3; ++i) {
      const auto value = [&](const VecX& t) { return rotate(t, v).value[i]; };
      const auto gradient = [&](const VecX& t) { return VecX(rotate(t, v).jacobian.row(i).transpose()); };
      const auto hessian = [&](const VecX& t) { return MatX(rotate(t, v).second[i]); };
      const auto g = check_gradient(value, gradient, theta);
      const auto h = check_hessian(gradient, hessian, theta);
      EXPECT_TRUE(g.ok) << g.message << g.best_error;
      EXPECT_TRUE(h.ok) << h.message << h.best_error;
    }
    // ω×(Rv) is the velocity of the rotated vector.
    const Vec3 rate(0.3, 0.5, -0.2);
    const Vec3 omega = left_jacobian(theta) * rate;
    EXPECT_LT((rotate(theta, v).jacobian * rate - omega.cross(rotate(theta, v).value)).norm(), 1e-12);
  }
  const Vec3 theta(0.4, -0.2, 1.3);
  EXPECT_LT((log_rotation(exp_quaternion(theta)) - theta).norm(), 1e-14);
}

TriMesh moved_box(const Vec3& size, const Vec3& centre) {
  ShapeDescription box = describe(ShapeKind::box);
  box.size = size;
  TriMesh mesh = ShapeGeometry(box).surface();
  mesh.vertices.rowwise() += centre.transpose();
  return mesh;
}

TEST(MeshShape, AgreesWithTheBoxItIs) {
  const Vec3 size(0.8, 1.1, 0.5), centre(0.2, -0.3, 0.4);
  ShapeDescription d;
  d.kind = ShapeKind::mesh;
  d.mesh = moved_box(size, centre);
  const ShapeGeometry mesh(d);
  ShapeDescription b = describe(ShapeKind::box);
  b.size = size;
  const ShapeGeometry box(b);
  EXPECT_NEAR(mesh.volume(), box.volume(), 1e-14);
  EXPECT_LT((mesh.centroid() - centre).norm(), 1e-14);
  EXPECT_LT((mesh.unit_inertia() - box.unit_inertia()).norm(), 1e-14);
  for (int k = 0; k < 300; ++k) {
    const Vec3 p = random_point(9, k, 1.0);
    const SignedDistance here = mesh.distance(centre + p), there = box.distance(p);
    EXPECT_NEAR(here.value, there.value, 1e-13);
    EXPECT_LT((here.gradient - there.gradient).norm(), 1e-10);
    if (there.value > 0.01) {
      EXPECT_LT((here.hessian - there.hessian).norm(), 1e-9);
    }
  }
  EXPECT_LT((mesh.centred().centroid()).norm(), 1e-15);
  EXPECT_EQ(mesh.features().edges.rows(), 18);
}

TEST(MeshShape, DynamicBodyTurnsAboutItsCentreOfMass) {
  Obstacle o;
  o.kind = ObstacleKind::dynamic;
  o.shape.kind = ShapeKind::mesh;
  o.shape.mesh = moved_box(Vec3(0.8, 1.1, 0.5), Vec3(0.2, -0.3, 0.4));
  o.mass = 3;
  o.position = Vec3(1, 2, 3);
  o.rotation = Vec3(0, 0, 0.5);
  const ObstacleBody body(o);
  EXPECT_LT(
      (body.initial_state().position - (o.position + exp_rotation(o.rotation) * Vec3(0.2, -0.3, 0.4))).norm(),
      1e-14);
  // The drawn surface stands where the description says.
  const Vec3 first = body.surface(body.initial_state()).vertices.row(0);
  const Vec3 corner = o.shape.mesh.vertices.row(0);
  EXPECT_LT((first - (o.position + exp_rotation(o.rotation) * corner)).norm(), 1e-14);
}

TEST(MeshShape, RefusesOpenAndInvertedMeshes) {
  ShapeDescription d;
  d.kind = ShapeKind::mesh;
  EXPECT_THROW(ShapeGeometry{d}, InputError);
  d.mesh = moved_box(Vec3::Ones(), Vec3::Zero());
  const Triangles all = d.mesh.triangles;
  d.mesh.triangles = all.topRows(10);
  EXPECT_THROW(ShapeGeometry{d}, InputError);
  d.mesh.triangles = all;
  d.mesh.triangles.col(0).swap(d.mesh.triangles.col(1));
  EXPECT_THROW(ShapeGeometry{d}, InputError);
}

}  // namespace
}  // namespace exemplar
