#include "rigidplastic/simulation/body_frame.h"

#include <gtest/gtest.h>

#include "core/mesh/models/primitives.h"
#include "core/mesh/topology.h"

namespace exemplar::rigid {

namespace {

// A car with its roof pressed in and its nose pushed aside: centre, axes and inertia all change.
Points crushed(const Points& points) {
  Points moved = points;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    if (points(i, 1) > 0.8) moved(i, 1) = 0.8 + 0.3 * (points(i, 1) - 0.8);
    moved(i, 2) += 0.1 * std::max(0.0, points(i, 0)) * points(i, 0);
  }
  return moved;
}

MassProperties with_mass(const TriMesh& mesh, const Points& points, double mass) {
  const double volume = signed_volume(points, mesh.triangles);
  return solid_mass_properties(points, mesh.triangles, mass / volume);
}

Vec3 angular_momentum(const RigidState& s, double mass, const Vec3& inertia) {
  return mass * s.position.cross(s.velocity) + spin_momentum(s, inertia);
}

}  // namespace

TEST(BodyFrame, ReshapingKeepsWorldPointsAndMomenta) {
  const TriMesh car = make_car({4.2, 1.8, 1.4, 14});
  const double mass = 1200;
  const BodyFrame before = principal_frame(with_mass(car, car.vertices, mass));
  const BodyFrame after = principal_frame(with_mass(car, crushed(car.vertices), mass), before.axes);
  RigidState state;
  state.position = Vec3(3, 1, -2);
  state.orientation = Quat(Eigen::AngleAxisd(1.1, Vec3(1, 2, 3).normalized()));
  state.velocity = Vec3(20, -3, 5);
  state.angular_velocity = Vec3(2, 7, -4);
  const RigidState now = carried_over(state, mass, before, after);
  const Vec3 point(0.3, 0.4, 0.5);
  const Vec3 in_before = before.axes.transpose() * (point - before.centre);
  const Vec3 in_after = after.axes.transpose() * (point - after.centre);
  EXPECT_GT((after.centre - before.centre).norm(), 0.05);
  EXPECT_LT((state.to_world(in_before) - now.to_world(in_after)).norm(), 1e-14);
  EXPECT_EQ(now.velocity, state.velocity);
  const Vec3 before_momentum = angular_momentum(state, mass, before.inertia);
  const Vec3 after_momentum = angular_momentum(now, mass, after.inertia);
  EXPECT_LT((after_momentum - before_momentum).norm(), 2e-15 * before_momentum.norm() * 10);
}

TEST(BodyFrame, AxesStayNearTheFormerOnesWhereInertiasCrossOver) {
  // A box whose longest side changes from x to y: sorted by inertia its axes would swap.
  MassProperties mass;
  mass.mass = 1;
  mass.inertia = Vec3(1.0, 1.01, 2).asDiagonal();
  const BodyFrame first = principal_frame(mass);
  mass.inertia = Vec3(1.01, 1.0, 2).asDiagonal();
  const BodyFrame second = principal_frame(mass, first.axes);
  EXPECT_LT((second.axes - first.axes).norm(), 1e-15);
  EXPECT_EQ(second.inertia, Vec3(1.01, 1.0, 2));
  EXPECT_NEAR(second.axes.determinant(), 1, 1e-15);
}

}  // namespace exemplar::rigid
