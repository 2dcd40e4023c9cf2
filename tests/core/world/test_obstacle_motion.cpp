// Obstacle motion: keyframes are hit, balls and boxes come to rest, collisions follow Newton's and Coulomb's
// laws, momentum is kept, saved state continues bit by bit.
#include "core/world/obstacle_motion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/world/rotation.h"

namespace exemplar {
namespace {

Obstacle floor_obstacle() {
  Obstacle o;
  o.name = "floor";
  return o;
}

Obstacle ball(double radius, double mass, const Vec3& position) {
  Obstacle o;
  o.name = "ball";
  o.kind = ObstacleKind::dynamic;
  o.shape.kind = ShapeKind::sphere;
  o.shape.radius = radius;
  o.mass = mass;
  o.position = position;
  return o;
}

const Vec3 gravity(0, -9.81, 0);

TEST(Curve, SmoothHitsKeysWithoutOvershoot) {
  Curve c{{0, 1, 2, 3}, {0, 1, 1, 0}, Interpolation::smooth};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(evaluate(c, c.inputs[k]).value, c.values[k]);
  for (double t = 1; t <= 2; t += 0.01) EXPECT_NEAR(evaluate(c, t).value, 1, 1e-15);
  double sum = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) sum += evaluate(c, -0.5 + 4.2 * (i + 0.5) / n).value * 4.2 / n;
  EXPECT_NEAR(integrate(c, -0.5, 3.7), sum, 1e-9);
  for (double t : {0.3, 0.7, 2.2})
    EXPECT_NEAR(evaluate(c, t).slope, (evaluate(c, t + 1e-6).value - evaluate(c, t - 1e-6).value) / 2e-6,
                1e-8);
  EXPECT_THROW(check_curve({{0, 0}, {1, 2}, Interpolation::linear}), InputError);
}

TEST(Keyframes, AreHitExactlyAndVelocitiesAreTheCurves) {
  Obstacle o;
  o.kind = ObstacleKind::keyframed;
  o.shape.kind = ShapeKind::box;
  o.keyframes = {{0, Vec3(0, 1, 0), Vec3::Zero()},
                 {0.5, Vec3(1, 2, 0), Vec3(0, 3, 0)},
                 {0.9, Vec3(1, 0, 1), Vec3(0.2, 7, 0)}};
  const ObstacleBody body(o);
  for (const Keyframe& key : o.keyframes) {
    const ObstacleState s = body.prescribed_state(key.time);
    EXPECT_EQ(s.position, key.position);
    EXPECT_LT((s.orientation.toRotationMatrix() - exp_rotation(key.rotation)).norm(), 1e-15);
  }
  for (double t : {0.1, 0.44, 0.7}) {
    const double h = 1e-6;
    const ObstacleState s = body.prescribed_state(t), p = body.prescribed_state(t + h),
                        m = body.prescribed_state(t - h);
    EXPECT_LT((s.velocity - (p.position - m.position) / (2 * h)).norm(), 1e-7);
    EXPECT_LT((s.angular_velocity - log_rotation(p.orientation * m.orientation.conjugate()) / (2 * h)).norm(),
              1e-7);
  }
  ObstacleWorld world({body}, gravity);
  for (int i = 0; i < 60; ++i) world.advance(0.9 / 60);
  EXPECT_LT((world.state(0).position - o.keyframes.back().position).norm(), 1e-12);
}

TEST(ObstacleWorld, BallComesToRestOnTheFloor) {
  for (const double dt : {1.0 / 60, 1.0 / 480}) {
    ObstacleWorld world(make_obstacles({floor_obstacle(), ball(0.1, 2, Vec3(0, 1, 0))}), gravity);
    for (double t = 0; t < 3; t += dt) world.advance(dt);
    EXPECT_NEAR(world.state(1).position.y(), 0.1, 1e-6);
    EXPECT_LT(world.state(1).velocity.norm(), 1e-9);
    EXPECT_LT(world.deepest_overlap(), 1e-8);
  }
}

TEST(ObstacleWorld, BoxComesToRestFlat) {
  Obstacle box = ball(0.1, 2, Vec3(0, 0.6, 0));
  box.shape.kind = ShapeKind::box;
  box.shape.size = Vec3(0.3, 0.2, 0.4);
  box.rotation = Vec3(0.3, 0.2, 0.4);
  ObstacleWorld world(make_obstacles({floor_obstacle(), box}), gravity);
  for (int i = 0; i < 1200; ++i) world.advance(1.0 / 240);
  EXPECT_NEAR(world.state(1).position.y(), 0.1, 1e-4);
  EXPECT_LT(world.state(1).velocity.norm(), 1e-3);
  EXPECT_LT(world.state(1).angular_velocity.norm(), 1e-2);
}

TEST(ObstacleWorld, BouncesWithItsRestitution) {
  Obstacle b = ball(0.1, 2, Vec3(0, 1.1, 0));
  b.restitution = 0.8;
  ObstacleWorld world(make_obstacles({floor_obstacle(), b}), gravity);
  double top = 0;
  bool rising = false;
  for (int i = 0; i < 4800 && !(rising && world.state(1).velocity.y() < 0); ++i) {
    world.advance(1.0 / 4800);
    rising |= world.state(1).velocity.y() > 0;
    if (rising) top = std::max(top, world.state(1).position.y() - 0.1);
  }
  EXPECT_NEAR(top, 0.64, 0.005);
}

TEST(ObstacleWorld, SlidingBlockStopsAfterCoulombsDistance) {
  Obstacle box = ball(0.1, 2, Vec3(0, 0.1, 0));
  box.shape.kind = ShapeKind::box;
  box.shape.size = Vec3(0.6, 0.2, 0.6);
  box.velocity = Vec3(2, 0, 0);
  box.friction = 0.4;
  Obstacle ground = floor_obstacle();
  ground.friction = 0.4;
  ObstacleWorld world(make_obstacles({ground, box}), gravity);
  for (int i = 0; i < 1000; ++i) world.advance(1.0 / 1000);
  EXPECT_NEAR(world.state(1).position.x(), 4 / (2 * 0.4 * 9.81), 0.01);
  EXPECT_LT(world.state(1).velocity.norm(), 1e-6);
}

TEST(ObstacleWorld, CollisionsKeepMomentum) {
  Obstacle a = ball(0.2, 3, Vec3(-1, 0.05, 0)), b = ball(0.3, 1, Vec3(0.4, 0, 0.1));
  a.velocity = Vec3(5, 0, 0);
  a.restitution = b.restitution = 1;
  b.shape.kind = ShapeKind::box;
  b.shape.size = Vec3(0.5, 0.3, 0.7);
  b.angular_velocity = Vec3(1, 2, 3);
  ObstacleWorld world(make_obstacles({a, b}), Vec3::Zero());
  const Vec3 p = world.linear_momentum(), l = world.angular_momentum();
  for (int i = 0; i < 400; ++i) world.advance(1.0 / 400);
  EXPECT_GT(world.received_impulses()[1].norm(), 1);  // they did meet
  EXPECT_LT((world.linear_momentum() - p).norm(), 1e-12 * p.norm());
  EXPECT_LT((world.angular_momentum() - l).norm(), 1e-11 * l.norm());
}

TEST(ObstacleWorld, FreeSpinKeepsAngularMomentumAndNearlyItsEnergy) {
  Obstacle box = ball(0.1, 2, Vec3::Zero());
  box.shape.kind = ShapeKind::box;
  box.shape.size = Vec3(0.3, 0.1, 0.5);
  box.angular_velocity = Vec3(0.1, 0.1, 8);  // near the unstable axis it tumbles
  ObstacleWorld world(make_obstacles({box}), Vec3::Zero());
  const Vec3 l = world.angular_momentum();
  const double e = world.kinetic_energy();
  for (int i = 0; i < 2000; ++i) world.advance(1e-3);
  EXPECT_LT((world.angular_momentum() - l).norm(), 1e-11 * l.norm());
  EXPECT_NEAR(world.kinetic_energy(), e, 1e-3 * e);
}

TEST(ObstacleWorld, FastBallDoesNotPassAThinWall) {
  Obstacle wall = floor_obstacle();
  wall.shape.kind = ShapeKind::box;
  wall.shape.size = Vec3(0.01, 4, 4);
  Obstacle b = ball(0.02, 1, Vec3(-1.7, 0, 0));
  b.velocity = Vec3(200, 0, 0);
  ObstacleWorld world(make_obstacles({wall, b}), Vec3::Zero());
  for (int i = 0; i < 10; ++i) world.advance(1.0 / 60);
  EXPECT_LT(world.state(1).position.x(), -0.0249);
}

TEST(ObstacleWorld, ParticleImpulseFollowsCoulomb) {
  Obstacle ground = floor_obstacle();
  ground.friction = 0.3;
  ground.restitution = 0.5;
  ObstacleWorld world(make_obstacles({ground, ball(0.1, 2, Vec3(0, 5, 0))}), gravity);
  const ContactImpulse hit = world.collide_particle(0, Vec3::Zero(), Vec3::UnitY(), Vec3(4, -2, 0), 1 / 0.5);
  EXPECT_NEAR(hit.impulse.y(), 0.5 * 2 * 1.5, 1e-14);
  EXPECT_NEAR(hit.impulse.x(), -0.3 * hit.impulse.y(), 1e-14);
  EXPECT_EQ(world.collide_particle(0, Vec3::Zero(), Vec3::UnitY(), Vec3(4, 2, 0), 2).normal, 0);
  // Against a dynamic ball both sides change by the same momentum.
  const ContactImpulse onto =
      world.collide_particle(1, Vec3(0, 5.1, 0), Vec3::UnitY(), Vec3(0.1, -3, 0), 1 / 0.5);
  EXPECT_LT((world.linear_momentum() + onto.impulse).norm(), 1e-14);
}

TEST(ObstacleWorld, LoadContinuesBitByBit) {
  Obstacle b = ball(0.1, 2, Vec3(0, 0.3, 0));
  b.angular_velocity = Vec3(3, 1, 20);
  ObstacleWorld world(make_obstacles({floor_obstacle(), b}), gravity);
  for (int i = 0; i < 50; ++i) world.advance(1.0 / 120);
  ObstacleWorld other(make_obstacles({floor_obstacle(), b}), gravity);
  other.restore(world.state());
  for (int i = 0; i < 50; ++i) {
    world.advance(1.0 / 120);
    other.advance(1.0 / 120);
  }
  EXPECT_EQ(pack(world.states()), pack(other.states()));
  EXPECT_EQ(world.received_impulses(), other.received_impulses());
  EXPECT_EQ(world.time(), other.time());
  EXPECT_THROW(other.restore({}), InputError);
}

}  // namespace
}  // namespace exemplar
