#include <gtest/gtest.h>

#include <cmath>

#include "rigidplastic/simulation/simulation.h"
#include "tests/rigidplastic/simulation/boxes.h"
#include "tests/rigidplastic/simulation/methods.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

SceneSettings cube_over_floor(const Vec3& position, double restitution, double friction) {
  SceneSettings settings;
  settings.time = {1.0, 250, 2};
  settings.bodies.push_back(box_body("cube", Vec3::Constant(0.2), position));
  settings.bodies[0].material.restitution = restitution;
  settings.bodies[0].material.friction = friction;
  settings.obstacles.push_back(floor_with(friction));
  return settings;
}

double stored(const Diagnostics& d) {
  return d.kinetic_energy + d.elastic_energy + d.gravitational_energy;
}

double accounted(const Diagnostics& d) {
  const double plastic = std::isnan(d.plastic_dissipation) ? 0 : d.plastic_dissipation;  // rigid-lbs
  return stored(d) + plastic + d.contact_dissipation + d.damping_dissipation + d.numerical_dissipation -
         d.external_work;
}

void advance_to_end(Method& method, const Scene& scene) {
  for (int frame = 1; frame <= scene.frame_count(); ++frame) method.advance(scene.frame_time(frame), k_never);
}

}  // namespace

// A ball falls by one metre and keeps e² of its energy.
TEST(RigidEnergy, ABounceLosesWhatNewtonsLawSays) {
  SceneSettings settings = cube_over_floor({0, 1.2, 0}, 0.6, 0.5);
  settings.bodies[0].surface = {};
  settings.bodies[0].surface.sphere = SphereParams{0.2, 8};
  settings.time.duration = 0.6;
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    const Diagnostics start = method->diagnostics();
    advance_to_end(*method, scene);
    const Diagnostics d = method->diagnostics();
    const double fall = d.mass * 9.81;
    EXPECT_NEAR(d.contact_dissipation, (1 - 0.36) * fall, 0.01 * fall) << name;
    EXPECT_NEAR(d.numerical_dissipation, 0, 0.01 * fall) << name;
    EXPECT_NEAR(accounted(d), stored(start), 1e-9 * fall) << name;
  }
}

// What lies still loses nothing, however long.
TEST(RigidEnergy, RestCostsNothing) {
  SceneSettings settings = cube_over_floor({0, 0.1, 0}, 0, 0.5);
  settings.time = {10, 50, 4};
  const Scene scene = make_scene(settings, "");
  const auto method = rigid::make_method(scene, Settings{});
  advance_to_end(*method, scene);
  const Diagnostics d = method->diagnostics();
  EXPECT_NEAR(d.contact_dissipation, 0, 1e-3 * d.mass);
  EXPECT_NEAR(d.numerical_dissipation, 0, 1e-3 * d.mass);
}

// All of a tumbling cube's energy goes into its contacts.
TEST(RigidEnergy, ATumblingCubeGivesItsEnergyToTheFloor) {
  SceneSettings settings = cube_over_floor({0, 0.8, 0}, 0.3, 0.6);
  settings.bodies[0].rotation = {Vec3(1, 2, 0.5), 35};
  settings.bodies[0].velocity = Vec3(2, 0, 0.5);
  settings.bodies[0].angular_velocity = Vec3(3, 5, -8);
  settings.time.duration = 4;
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    const Diagnostics start = method->diagnostics();
    advance_to_end(*method, scene);
    const Diagnostics d = method->diagnostics();
    const double lost = stored(start) - stored(d);
    EXPECT_NEAR(d.contact_dissipation, lost, 0.03 * lost) << name;
    EXPECT_NEAR(accounted(d), stored(start), 1e-9 * lost) << name;
  }
}

// A ball of 4 kg at 3 m/s stops against a cube of 8 kg without bouncing: ½ (m₁ m₂/(m₁ + m₂)) v² goes in the contact.
TEST(RigidEnergy, AFreeObstacleGivesWhatItLoses) {
  SceneSettings settings = cube_over_floor(Vec3::Zero(), 0, 0.5);
  settings.gravity.setZero();
  settings.obstacles.clear();
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.1};
  ball.mass = 4;
  ball.position = Vec3(-0.5, 0, 0);
  ball.velocity = Vec3(3, 0, 0);
  settings.obstacles.push_back(ball);
  settings.time.duration = 0.4;
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    advance_to_end(*method, scene);
    const Diagnostics d = method->diagnostics();
    const double together = 0.5 * (4 * d.mass / (4 + d.mass)) * 9, speed = 12 / (4 + d.mass);
    EXPECT_NEAR(d.contact_dissipation, together, 0.01 * together) << name;
    EXPECT_NEAR(d.kinetic_energy, 0.5 * d.mass * speed * speed, 0.01 * together) << name;
    EXPECT_NEAR(d.external_work, d.kinetic_energy + d.contact_dissipation, 1e-3 * together) << name;
    EXPECT_NEAR(d.numerical_dissipation, 0, 1e-3 * together) << name;
  }
}

// A wall that is driven at 1 m/s takes the cube with it: it does the work m v², half of it is lost.
TEST(RigidEnergy, ADrivenObstacleDoesWork) {
  SceneSettings settings = cube_over_floor(Vec3::Zero(), 0, 0);
  settings.gravity.setZero();
  settings.obstacles.clear();
  ObstacleSettings wall;
  wall.name = "wall";
  wall.box = BoxSettings{Vec3(0.1, 0.4, 0.6)};
  wall.friction = 0;
  wall.interpolation = Interpolation::linear;
  wall.keyframes = {{0, Vec3(-0.4, 0, 0), {}}, {1, Vec3(0.6, 0, 0), {}}};
  settings.obstacles.push_back(wall);
  settings.time.duration = 0.6;
  const Scene scene = make_scene(settings, "");
  const auto method = rigid::make_method(scene, Settings{});
  advance_to_end(*method, scene);
  const Diagnostics d = method->diagnostics();
  EXPECT_NEAR(d.external_work, d.mass, 0.05 * d.mass);
  EXPECT_NEAR(d.contact_dissipation, 0.5 * d.mass, 0.05 * d.mass);
  EXPECT_NEAR(d.numerical_dissipation, 0, 1e-6 * d.mass);
}

// With restitution 1, whatever the friction, no impact adds energy; without friction none takes any, but what mending overlaps
// moves. What is stored may be more than at the start by what the time step lost on the way down, which it gives back on the way
// up: v dt over twice the height.
TEST(RigidEnergy, NoBounceAddsEnergy) {
  for (const double friction : {0.0, 0.6}) {
    for (const double turn : {10.0, 27.0, 44.0}) {
      SceneSettings settings = cube_over_floor({0, 0.6, 0}, 1, friction);
      settings.bodies[0].surface.box = BoxParams{Vec3(0.4, 0.1, 0.25), {1, 1, 1}};
      settings.bodies[0].rotation = {Vec3(1, 0.3, 0.7), turn};
      settings.bodies[0].angular_velocity = Vec3(2, 0, 4);
      settings.obstacles[0].restitution = 1;
      settings.time = {3, 250, 4};
      const Scene scene = make_scene(settings, "");
      const auto method = rigid::make_method(scene, Settings{});
      const double start = stored(method->diagnostics());
      double lost = 0;
      for (int frame = 1; frame <= scene.frame_count(); ++frame) {
        method->advance(scene.frame_time(frame), k_never);
        const Diagnostics d = method->diagnostics();
        EXPECT_LE(stored(d), start * 1.01) << friction << " " << turn << " frame " << frame;
        if (friction == 0) {
          EXPECT_NEAR(d.contact_dissipation, 0, 2e-3 * start) << turn << " frame " << frame;
        } else {
          EXPECT_GE(d.contact_dissipation, lost - 1e-3 * start) << turn << " frame " << frame;
        }
        lost = d.contact_dissipation;
      }
    }
  }
}

}  // namespace exemplar::rigid
