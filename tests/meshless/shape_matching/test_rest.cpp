// Bodies that lie on the floor: they must come to rest, keep their volume and not sink.
#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/run/surface_fields.h"
#include "meshless/shape_matching/checks/experiments.h"
#include "meshless/shape_matching/method.h"
#include "tests/support/run.h"

namespace exemplar::shape_matching {
namespace {

SceneSettings on_the_floor(double young, int steps_per_second, double duration) {
  SceneSettings settings;
  settings.time = {duration, 60, steps_per_second / 60};
  BodySettings body;
  body.name = "cube";
  body.surface.box = BoxParams{};
  body.surface.box->size = Vec3::Constant(0.3);
  body.surface.box->resolution = {6, 6, 6};
  body.material.density = 1000;
  body.material.young = young;
  body.position = Vec3(0, 0.15, 0);
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  return settings;
}

double rms_speed(const Method& method) {
  const Diagnostics d = method.diagnostics();
  return std::sqrt(2.0 * d.kinetic_energy / d.mass);
}

double volume_ratio(const Scene& scene, const Method& method) {
  return surface_volume_ratio(scene, method.fields().front());
}

void run_all(const Scene& scene, Method& method) {
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    ASSERT_EQ(method.advance(scene.frame_time(frame), k_never).status, Status::ok);
}

// Jitter of contact kept 0.2 m/s in the body for ever.
TEST(Rest, BodiesOfAnyStiffnessComeToRestWithinThreeSeconds) {
  for (const double young : {1e4, 1e5, 1e6, 1e7})
    for (const int rate : {60, 240}) {
      const Scene scene = make_scene(on_the_floor(young, rate, 3.0), "");
      const auto method = make_method(scene, {});
      run_all(scene, *method);
      EXPECT_LT(rms_speed(*method), 1e-4) << young << " Pa at 1/" << rate << " s";
      EXPECT_LT(method->diagnostics().deepest_penetration, 1e-6);
    }
}

// Friction between two bodies kept cells at their edges swinging (0.7 mm/s for ever).
TEST(Rest, ABlockOnAnotherComesToRestWithinThreeSeconds) {
  SceneSettings settings = on_the_floor(1e5, 120, 3.0);
  settings.time = {3.0, 30, 4};
  settings.bodies.push_back(settings.bodies[0]);
  settings.bodies[0].surface.box->size = Vec3(0.3, 0.14, 0.24);
  settings.bodies[0].surface.box->resolution = {6, 3, 5};
  settings.bodies[0].position = Vec3(0, 0.07, 0);
  settings.bodies[1].name = "upper";
  settings.bodies[1].surface.box->size = Vec3(0.22, 0.16, 0.2);
  settings.bodies[1].surface.box->resolution = {5, 4, 4};
  settings.bodies[1].position = Vec3(0.02, 0.221, 0.01);
  settings.bodies[1].rotation = RotationSettings{Vec3::UnitY(), 12};
  for (BodySettings& body : settings.bodies) {
    body.material.density = 300;
    body.material.friction = 0.4;
    body.material.damping = 0.01;
  }
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  run_all(scene, *method);
  EXPECT_LT(rms_speed(*method), 1e-4);
}

// A body that yields was ratcheted flat by its own jitter (volume 0.018 after ten seconds).
TEST(Rest, ALyingClayCubeKeepsItsShape) {
  SceneSettings settings = on_the_floor(3e5, 60, 6.0);
  settings.bodies[0].material.density = 1700;
  settings.bodies[0].material.yield_stress = 2e4;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  run_all(scene, *method);
  EXPECT_NEAR(volume_ratio(scene, *method), 1.0, 0.03);  // 5 kPa of 300 kPa at the bottom
  EXPECT_EQ(method->diagnostics().plastic_measure, 0.0);
  EXPECT_LT(rms_speed(*method), 1e-8);
}

// After a fall it keeps its dents and does not go on flowing: once bent it counted as bent for ever.
TEST(Rest, ADroppedClayBodyStopsFlowing) {
  SceneSettings settings = on_the_floor(3e5, 120, 3.0);
  settings.bodies[0].material.density = 1700;
  settings.bodies[0].material.yield_stress = 1.5e4;
  settings.bodies[0].position.y() += 0.3;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  run_all(scene, *method);
  const Points early = method->fields().front().points;
  EXPECT_GT(method->diagnostics().plastic_measure, 0.05);
  EXPECT_NEAR(volume_ratio(scene, *method), 1.0, 0.05);
  for (double time = 3.0; time < 8.0; time += 1.0)
    ASSERT_EQ(method->advance(time + 1.0, k_never).status, Status::ok);
  EXPECT_LT((method->fields().front().points - early).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Rest, ALyingBodyFallsAsleepAndWakesWhenItIsHit) {
  SceneSettings settings = on_the_floor(1e6, 60, 2.0);
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.05};
  ball.mass = 5;
  ball.position = Vec3(0, 5.5, 0);  // arrives after a second
  settings.obstacles.push_back(ball);
  const Scene scene = make_scene(settings, "");
  Settings own;
  own.sleep = true;
  const auto method = make_method(scene, own);
  const auto asleep = [&] {
    for (const Metric& metric : method->diagnostics().extra)
      if (metric.name == "sleeping_bodies") return metric.value;
    return -1.0;
  };
  bool slept = false, woke = false;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    if (asleep() == 1.0) {
      slept = true;
      // Later it hops and may be asleep in the air, where it moves as a rigid body.
      if (scene.frame_time(frame) < 0.9) {
        EXPECT_EQ(rms_speed(*method), 0.0);
      }
    }
    woke |= slept && asleep() == 0.0;
  }
  EXPECT_TRUE(slept);
  EXPECT_TRUE(woke);
}

TEST(Rest, RegionsHoldTogetherAtTheirDefaultOverlap) {
  const Scene scene = make_scene(on_the_floor(1e6, 60, 1.0), "");
  Settings own;
  own.cells = CellShape::regions;
  const auto method = make_method(scene, own);
  run_all(scene, *method);
  EXPECT_NEAR(volume_ratio(scene, *method), 1.0, 0.02);
}

TEST(Rest, VolumeIsKeptAtAnyBeta) {
  for (const double beta : {0.0, 0.3, 0.6, 0.9, 0.99})
    EXPECT_NEAR(squeezed_volume(true, beta), 1.0, 0.02) << beta;
  EXPECT_LT(squeezed_volume(false, 0.0), 0.9);
}

TEST(Rest, TractionActsOnTheTributarySurfaceAndRollersLetGlide) {
  SceneSettings settings = on_the_floor(1e5, 240, 0.05);
  settings.obstacles.clear();
  settings.bodies[0].surface.box->resolution = {1, 1, 1};
  LoadSettings load;
  load.kind = LoadKind::traction;
  load.region.box = RegionBox{Vec3(0.1499, -9, -9), Vec3(0.16, 9, 9)};
  load.value = Vec3(100, 0, 0);
  settings.loads.push_back(load);
  SupportSettings roller;
  roller.region.half_space = RegionHalfSpace{Vec3(0, 1e-4, 0), -Vec3::UnitY()};
  roller.x = roller.z = false;
  settings.bodies[0].supports.push_back(roller);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  run_all(scene, *method);
  EXPECT_NEAR(method->diagnostics().linear_momentum.x(), 100 * 0.09 * 0.05, 1e-9);
  const Points moved = method->fields().front().points - scene.bodies[0].surface().vertices;
  for (Eigen::Index v = 0; v < moved.rows(); ++v) {
    if (scene.bodies[0].surface().vertices(v, 1) < 1e-4) {
      EXPECT_NEAR(moved(v, 1), 0.0, 1e-12);
    }
  }
}

TEST(Rest, SettingsWithoutEffectAreRefused) {
  const Scene scene = make_scene(on_the_floor(1e6, 60, 1.0), "");
  Settings own;
  own.quadratic = true;
  EXPECT_THROW(make_method(scene, own), InputError);
  own.beta = 0.5;
  EXPECT_NO_THROW(make_method(scene, own));
}

// Clay in every shape, put on the floor with all defaults and left alone for a minute. What is round may roll from one facet
// to the next, and what stands on a point may lean; nothing flows on, and nothing loses its volume.
TEST(SlowRest, ClayOfEveryShapeStandsForAMinute) {
  std::vector<BodySettings> shapes(7);
  shapes[0].surface.box = BoxParams{Vec3::Constant(0.3), {6, 6, 6}};
  shapes[1].surface.box = BoxParams{Vec3(0.6, 0.1, 0.2), {12, 2, 4}};
  shapes[2].surface.sphere = SphereParams{0.15, 8};
  shapes[3].surface.cylinder = CylinderParams{0.12, 0.3, 32};
  shapes[4].surface.torus = TorusParams{0.2, 0.07, 48};
  shapes[5].surface.capsule = CapsuleParams{0.1, 0.4, 32};
  shapes[6].surface.barrel = BarrelParams{};
  const double heights[] = {0.15, 0.05, 0.15, 0.15, 0.07, 0.2, 0};
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (const int rate : {60, 240}) {
      SceneSettings settings = on_the_floor(3e5, rate, 60);
      settings.time = {60, 20, rate / 20};
      BodySettings& body = settings.bodies[0];
      body = shapes[k];
      body.name = "clay";
      body.material.density = 1700;
      body.material.young = 3e5;
      body.material.poisson = 0.4;
      body.material.yield_stress = 1.5e4;
      body.material.friction = 0.8;
      body.position = Vec3(0, heights[k] + 0.001, 0);
      const Scene scene = make_scene(settings, "");
      const auto method = make_method(scene, {});
      run_all(scene, *method);
      const bool is_round = k == 2 || k == 5;
      EXPECT_LT(rms_speed(*method), is_round ? 1e-2 : 1e-4) << "shape " << k << " at 1/" << rate << " s";
      EXPECT_NEAR(volume_ratio(scene, *method), 1, 0.05) << "shape " << k << " at 1/" << rate << " s";
    }
  }
}

}  // namespace
}  // namespace exemplar::shape_matching
