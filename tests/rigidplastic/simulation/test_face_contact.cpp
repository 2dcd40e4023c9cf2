#include <gtest/gtest.h>

#include "rigidplastic/simulation/simulation.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

ObstacleSettings ground() {
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  return floor;
}

// Lies on the floor and rolls along x without sliding.
SceneSettings rolling(const SurfaceSettings& surface, bool lies, double radius, double speed,
                      const TimeSettings& time) {
  SceneSettings settings;
  settings.time = time;
  BodySettings body;
  body.name = "wheel";
  body.surface = surface;
  body.position = Vec3(0, radius, 0);
  if (lies) body.rotation = {Vec3::UnitX(), 90};
  body.velocity = Vec3(speed, 0, 0);
  body.angular_velocity = Vec3(0, 0, -speed / radius);
  settings.bodies.push_back(body);
  settings.obstacles.push_back(ground());
  return settings;
}

// The most that the energy is above its lowest value before, over the kinetic energy at the start.
double largest_rise(const SceneSettings& settings) {
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::hull);
  const double thrown = simulation.diagnostics().kinetic_energy;
  double lowest = simulation.total_energy(), rise = 0;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    simulation.advance(scene.frame_time(frame), k_never);
    rise = std::max(rise, simulation.total_energy() - lowest);
    lowest = std::min(lowest, simulation.total_energy());
  }
  return rise / thrown;
}

BodySettings block(const Vec3& position) {
  BodySettings body;
  body.name = "block";
  body.surface.box = BoxParams{Vec3::Constant(1), {1, 1, 1}};
  body.position = position;
  return body;
}

double height_after(const SceneSettings& settings, double seconds) {
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::hull);
  for (int frame = 1; scene.frame_time(frame) <= seconds + 1e-9; ++frame)
    simulation.advance(scene.frame_time(frame), k_never);
  return simulation.bodies()[0].state.position.y();
}

SceneSettings cube_on_slope(double degrees, double share_of_holding_friction) {
  const double angle = degrees * M_PI / 180;
  SceneSettings settings;
  settings.time = {2, 50, 1};
  BodySettings body = block({0, 0, 0});
  body.surface.box->size = Vec3::Constant(0.2);
  body.position = 0.1 * Vec3(-std::sin(angle), std::cos(angle), 0);
  body.rotation = RotationSettings{Vec3::UnitZ(), degrees};
  body.material.friction = share_of_holding_friction * std::tan(angle);
  settings.bodies.push_back(body);
  settings.obstacles.push_back(ground());
  settings.obstacles[0].rotation = RotationSettings{Vec3::UnitZ(), degrees};
  return settings;
}

std::vector<Vec3> places_after(const SceneSettings& settings) {
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::hull);
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    simulation.advance(scene.frame_time(frame), k_never);
  std::vector<Vec3> places;
  for (const RigidBody& body : simulation.bodies()) places.push_back(body.state.position);
  return places;
}

}  // namespace

// ½ g (sin − μ cos) t². Corners without a load kept friction from an earlier iteration: 0.18 m instead of 0.98, and at 40° it stuck.
TEST(FaceContact, ACubeSlidesDownASlopeAsCoulombSays) {
  for (const double degrees : {10.0, 30.0, 40.0}) {
    const SceneSettings settings = cube_on_slope(degrees, 0.9);
    const double way = (places_after(settings)[0] - settings.bodies[0].position).norm();
    EXPECT_NEAR(way, 2 * 9.81 * 0.1 * std::sin(degrees * M_PI / 180), 0.005) << degrees;
  }
}

// A scene step had 64 ticks at most: at one frame a second they were four times as long as max_step, and it sank by half.
TEST(FaceContact, TicksAreNoLongerThanAskedForHoweverFewFramesThereAre) {
  SceneSettings settings;
  settings.time = {2, 1, 1};
  settings.obstacles.push_back(ground());
  settings.bodies.push_back(block({0, 0.03, 0}));
  settings.bodies[0].surface.box->size = Vec3::Constant(0.01);
  const double few = places_after(settings)[0].y();
  settings.time = {2, 50, 5};
  EXPECT_NEAR(few, places_after(settings)[0].y(), 1e-5);
  EXPECT_NEAR(few, 0.005, 5e-5);
}

// The upper ones walked by centimetres, and the stack fell.
TEST(FaceContact, AStackOfSixBoxesStands) {
  SceneSettings settings;
  settings.time = {15, 60, 1};
  settings.obstacles.push_back(ground());
  for (int k = 0; k < 6; ++k) {
    BodySettings body = block({0, 0.1 + 0.202 * k, 0});
    body.name += std::to_string(k);
    body.surface.box->size = Vec3::Constant(0.2);
    settings.bodies.push_back(body);
  }
  const std::vector<Vec3> places = places_after(settings);
  for (std::size_t k = 0; k < places.size(); ++k)
    EXPECT_LT(std::hypot(places[k].x(), places[k].z()), 5e-3) << k;
}

// They gained up to two thirds of their energy in six seconds when Bullet's own contact points were taken.
TEST(Rolling, NeverGainsEnergy) {
  SurfaceSettings cylinder, capsule, sphere, barrel;
  cylinder.cylinder = CylinderParams{0.1, 0.4, 32};
  capsule.capsule = CapsuleParams{0.1, 0.5, 32};
  sphere.sphere = SphereParams{0.2, 8};
  barrel.barrel = BarrelParams{};
  for (const TimeSettings& time : {TimeSettings{4, 50, 4}, TimeSettings{4, 60, 1}}) {
    for (const double speed : {0.3, 1.0}) {
      EXPECT_LT(largest_rise(rolling(cylinder, true, 0.1, speed, time)), 0.01);
      EXPECT_LT(largest_rise(rolling(capsule, true, 0.1, speed, time)), 0.01);
      EXPECT_LT(largest_rise(rolling(sphere, false, 0.2, speed, time)), 0.01);
      EXPECT_LT(largest_rise(rolling(barrel, true, 0.32, speed, time)), 0.01);
    }
  }
}

// With some restitution as well: contacts that come slower than bodies bounce are stopped before they overlap.
TEST(Rolling, NeverGainsEnergyWithRestitution) {
  SurfaceSettings cylinder;
  cylinder.cylinder = CylinderParams{0.1, 0.4, 32};
  SceneSettings settings = rolling(cylinder, true, 0.1, 0.3, {6, 50, 4});
  settings.bodies[0].material.restitution = 0.3;
  EXPECT_LT(largest_rise(settings), 0.01);
}

TEST(FaceContact, WhatBeginsOnTheFloorOrOnABoxStaysThere) {
  SceneSettings settings;
  settings.time = {2, 50, 4};
  settings.bodies.push_back(block({0, 0.5, 0}));
  settings.obstacles.push_back(ground());
  EXPECT_NEAR(height_after(settings, 2), 0.5, 1e-4);
  ObstacleSettings table;
  table.name = "table";
  table.box = BoxSettings{Vec3(2, 1, 2)};
  table.position = Vec3(0, -0.5, 0);
  settings.obstacles = {table};
  EXPECT_NEAR(height_after(settings, 2), 0.5, 1e-4);
  settings.bodies[0].position.x() = 0.7;  // over the table's edge
  EXPECT_NEAR(height_after(settings, 2), 0.5, 1e-4);
}

TEST(FaceContact, ABlockThatSticksOutTooFarTipsOverTheEdge) {
  SceneSettings settings;
  settings.time = {2, 50, 4};
  settings.bodies.push_back(block({1.1, 0.5, 0}));
  ObstacleSettings table;
  table.name = "table";
  table.box = BoxSettings{Vec3(2, 1, 2)};
  table.position = Vec3(0, -0.5, 0);
  settings.obstacles = {table};
  EXPECT_LT(height_after(settings, 2), -1);
  settings.bodies[0].position.x() = 1.01;
  EXPECT_LT(height_after(settings, 3), -1);
  // Where its middle is a hundredth of its size inside, it stays: it rocked, crept outwards and fell.
  settings.time.duration = 10;
  settings.bodies[0].position.x() = 0.99;
  EXPECT_NEAR(height_after(settings, 10), 0.5, 1e-4);
}

}  // namespace exemplar::rigid
