#include <gtest/gtest.h>

#include <cmath>

#include "core/contact/particle_contact.h"

namespace exemplar {
namespace {

Obstacle ball(double mass) {
  Obstacle o;
  o.name = "ball";
  o.shape.kind = ShapeKind::sphere;
  o.shape.radius = 0.5;
  o.kind = ObstacleKind::dynamic;
  o.mass = mass;
  o.friction = 0.0;
  return o;
}

Obstacle ground(double friction, double restitution = 0.0) {
  Obstacle o;
  o.name = "ground";
  o.friction = friction;
  o.restitution = restitution;
  return o;
}

CarriedPoints point_on_two_particles() {
  CarriedPoints points;
  const std::array<int, 2> nodes{0, 1};
  const std::array<double, 2> weights{0.25, 0.75};
  points.add(nodes, weights);
  return points;
}

ParticleContactSummary resolve_contacts(ObstacleWorld& world, const CarriedPoints& points, const Points& x,
                                        const VecX& inverse_masses, double dt, Points& v) {
  const Points per_coordinate = inverse_masses.replicate(1, 3);
  const Points expected = v;
  ParticleContacts contacts(world, points, {x, expected, expected, per_coordinate, dt, 0.0});
  contacts.resolve(v);
  return contacts.summary();
}

// What forces add within the step presses and is stopped; only the approach from before comes back.
TEST(ParticleContact, RestitutionIsOfTheApproachAtTheStartOfTheStep) {
  CarriedPoints points;
  const int node = 0;
  const double one = 1.0;
  points.add(std::span(&node, 1), std::span(&one, 1));
  const Points at_rest = Points::Zero(1, 3), inverse_masses = Points::Constant(1, 3, 0.5);
  for (const double approach : {0.0, 3.0}) {
    ObstacleWorld world(make_obstacles({ground(0.0, 0.5)}), Vec3::Zero());
    Points start = Points::Zero(1, 3), v = Points::Zero(1, 3);
    start(0, 1) = -approach;
    v(0, 1) = -approach - 2.0;
    const Points expected = v;
    ParticleContacts contacts(world, points, {at_rest, start, expected, inverse_masses, 0.01, 0.0});
    contacts.resolve(v);
    EXPECT_NEAR(v(0, 1), 0.5 * approach, 1e-12);
    // ½ J (v₀ + v₁) with J = m (v₁ − v): never less than nothing.
    EXPECT_NEAR(contacts.dissipated(v), 0.5 * 2.0 * (1.5 * approach + 2.0) * 0.5 * approach, 1e-12);
  }
}

TEST(ParticleContact, APointStopsAtThePlaneAndNotBefore) {
  ObstacleWorld world(make_obstacles({ground(0.0)}), Vec3::Zero());
  Points x(2, 3), v(2, 3);
  x << 0, 0.01, 0, 1, 0.01, 0;
  v << 0, -3, 0, 0, -3, 0;
  const ParticleContactSummary s =
      resolve_contacts(world, point_on_two_particles(), x, VecX::Ones(2), 0.01, v);
  EXPECT_EQ(s.contacts, 1);
  const double height = 0.25 * (x(0, 1) + 0.01 * v(0, 1)) + 0.75 * (x(1, 1) + 0.01 * v(1, 1));
  EXPECT_NEAR(height, 0.0, 1e-12);
  // Moving away: nothing happens.
  v << 0, 3, 0, 0, 3, 0;
  EXPECT_EQ(resolve_contacts(world, point_on_two_particles(), x, VecX::Ones(2), 0.01, v).contacts, 0);
}

TEST(ParticleContact, TheObstacleTakesTheOppositeImpulse) {
  ObstacleWorld world(make_obstacles({ball(4.0)}), Vec3::Zero());
  Points x(2, 3), v(2, 3);
  x << -0.1, 0.5, 0, 0.1 / 3.0, 0.5, 0;  // the carried point lies on top of the ball
  v << 0, -2, 0, 0, -2, 0;
  const VecX masses = Vec2(1.0, 3.0);
  const Vec3 before = (masses.transpose() * v).transpose();
  resolve_contacts(world, point_on_two_particles(), x, masses.cwiseInverse(), 0.01, v);
  const Vec3 after = (masses.transpose() * v).transpose() + 4.0 * world.state(0).velocity;
  EXPECT_LT((after - before).norm(), 1e-12);
  EXPECT_LT(world.state(0).velocity.y(), -0.1);
}

TEST(ParticleContact, FrictionSlowsSlidingByTheCoulombLimit) {
  ObstacleWorld world(make_obstacles({ground(0.3)}), Vec3::Zero());
  CarriedPoints points;
  const int node = 0;
  const double one = 1.0;
  points.add(std::span(&node, 1), std::span(&one, 1));
  Points x = Points::Zero(1, 3), v(1, 3);
  v << 5, -1, 0;
  resolve_contacts(world, points, x, VecX::Ones(1), 0.01, v);
  EXPECT_NEAR(v(0, 1), 0.0, 1e-12);
  EXPECT_NEAR(v(0, 0), 5.0 - 0.3 * 1.0, 1e-12);
}

TEST(ParticleContact, HeldParticlesDoNotMove) {
  ObstacleWorld world(make_obstacles({ground(0.5)}), Vec3::Zero());
  Points x = Points::Zero(2, 3), v(2, 3);
  v << 0, -1, 0, 0, -1, 0;
  resolve_contacts(world, point_on_two_particles(), x, Vec2(0.0, 1.0), 0.01, v);
  EXPECT_EQ(v(0, 1), -1.0);
  EXPECT_GT(v(1, 1), -1.0);
}

TEST(ParticleContact, WhatIsInsideIsMovedOutWithoutASpeed) {
  ObstacleWorld world(make_obstacles({ground(0.5)}), Vec3::Zero());
  Points x(2, 3);
  x << 0, -0.1, 0, 1, -0.1, 0;
  Points v = Points::Zero(2, 3);
  const Points masses = Points::Ones(2, 3);
  const CarriedPoints points = point_on_two_particles();
  double depth = 0.1;
  for (int step = 0; step < 40; ++step) {
    ParticleContacts contacts(world, points, {x, v, v, masses, 0.01, 0.0});
    contacts.resolve(v);
    x += 0.01 * v;
    contacts.push_out(1.0, x);
    const double now = -(0.25 * x(0, 1) + 0.75 * x(1, 1));
    EXPECT_LE(depth - now, 0.01 + 1e-12);  // at most 1 m/s
    depth = now;
    EXPECT_EQ(v.norm(), 0.0);
  }
  EXPECT_LT(depth, 1e-3);
}

// A changed velocity between two calls takes back what the first one gave too much.
TEST(ParticleContact, ImpulsesOfOneStepAddUpAndAreNeverNegative) {
  ObstacleWorld world(make_obstacles({ground(0.0)}), Vec3::Zero());
  CarriedPoints points;
  const int node = 0;
  const double one = 1.0;
  points.add(std::span(&node, 1), std::span(&one, 1));
  Points x = Points::Zero(1, 3), v(1, 3);
  v << 0, -2, 0;
  const Points expected = v, masses = Points::Ones(1, 3);
  ParticleContacts contacts(world, points, {x, expected, expected, masses, 0.01, 0.0});
  contacts.resolve(v);
  EXPECT_NEAR(v(0, 1), 0.0, 1e-12);
  v(0, 1) += 0.5;  // something else lifts it: a quarter of the impulse was not needed
  contacts.resolve(v);
  EXPECT_NEAR(v(0, 1), 0.0, 1e-12);
  v(0, 1) += 5.0;  // all of it, and then it flies: contact does not pull
  contacts.resolve(v);
  EXPECT_NEAR(v(0, 1), 3.5, 1e-12);
}

// Shape matching spreads the friction of a pass over the body. Taken back from the point alone when its
// normal impulse falls, friction drove it: 0.5 m/s here, where nothing pushes.
TEST(ParticleContact, FrictionThatWasSpreadIsGivenBackBetweenPassesOnly) {
  ObstacleWorld world(make_obstacles({ground(0.5)}), Vec3::Zero());
  CarriedPoints points;
  const int node = 0;
  const double one = 1.0;
  points.add(std::span(&node, 1), std::span(&one, 1));
  Points x = Points::Zero(1, 3), v(1, 3);
  v << 3, -2, 0;
  const Points expected = v, masses = Points::Ones(1, 3);
  ParticleContacts contacts(world, points, {x, expected, expected, masses, 0.01, 0.0});
  contacts.resolve(v);  // 2 N s up, 1 N s back
  contacts.release_friction(v);
  EXPECT_NEAR(v(0, 0), 2.0, 1e-12);
  v << 0, 1, 0;  // a pass has stopped it, and another point carries half of the weight
  contacts.resolve(v);
  EXPECT_NEAR(v.norm(), 0.0, 1e-12);
  contacts.release_friction(v);  // half of the friction is too much
  EXPECT_NEAR(v(0, 0), 0.5, 1e-12);
  v << 4, 0, 0;
  contacts.resolve(v);  // at its limit
  EXPECT_NEAR(v(0, 0), 4.0, 1e-12);
}

// An impact gives up its kinetic energy; lying gives up nothing, though gravity closes in every step.
TEST(ParticleContact, DissipationIsThatOfImpactsOnly) {
  const Vec3 gravity(0, -9.81, 0);
  ObstacleWorld world(make_obstacles({ground(0.5)}), gravity);
  CarriedPoints points;
  const int node = 0;
  const double one = 1.0;
  points.add(std::span(&node, 1), std::span(&one, 1));
  const Points masses = Points::Ones(1, 3);
  Points x = Points::Zero(1, 3);
  for (const double speed : {0.0, 3.0}) {
    Points start(1, 3);
    start << 0, -speed, 0;
    Points v = start.rowwise() + 0.01 * gravity.transpose();
    const Points expected = v;
    ParticleContacts contacts(world, points, {x, start, expected, masses, 0.01, 0.0});
    contacts.resolve(v);
    // ½ v², and of gravity what it adds until the contact: g h/2 on the way.
    EXPECT_NEAR(contacts.dissipated(v), 0.5 * speed * speed + 0.5 * 0.0981 * speed, 1e-12);
  }
}

TEST(ParticleContact, SamplesFillLargeTriangles) {
  TriMesh mesh;
  mesh.vertices.resize(3, 3);
  mesh.vertices << 0, 0, 0, 1, 0, 0, 0, 0, 1;
  mesh.triangles.resize(1, 3);
  mesh.triangles << 0, 1, 2;
  CarriedPoints vertices;
  const double one = 1.0;
  for (int i = 0; i < 3; ++i) vertices.add(std::span(&i, 1), std::span(&one, 1));
  EXPECT_EQ(with_triangle_samples(vertices, mesh, 10.0).size(), 3);
  const CarriedPoints fine = with_triangle_samples(vertices, mesh, 0.5);
  EXPECT_EQ(fine.size(), 3 + 7);  // three divisions: ten lattice points, three of them corners
  const Points at = fine.apply(mesh.vertices);
  for (Eigen::Index i = 0; i < at.rows(); ++i) EXPECT_LE(at(i, 0) + at(i, 2), 1.0 + 1e-12);
}

}  // namespace
}  // namespace exemplar
