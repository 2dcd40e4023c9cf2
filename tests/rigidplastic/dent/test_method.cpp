#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "core/mesh/mass_properties.h"
#include "rigidplastic/dent/checks/validation.h"
#include "rigidplastic/dent/method.h"
#include "tests/support/metric.h"
#include "tests/support/run.h"

namespace exemplar::dent {

namespace {

// Two soft balls and a box rain on a slab that also dents, while a dent takes its time to grow.
SceneSettings crowd() {
  SceneSettings settings;
  settings.time = {0.5, 60, 4};
  BodySettings slab;
  slab.name = "slab";
  slab.surface.box = BoxParams{Vec3(1, 0.2, 1), {16, 4, 16}};
  slab.material.yield_stress = 1e5;
  slab.position = Vec3(0, 0.1, 0);
  settings.bodies.push_back(slab);
  for (int k = 0; k < 3; ++k) {
    BodySettings body;
    body.name = "body" + std::to_string(k);
    if (k < 2)
      body.surface.sphere = SphereParams{0.12, 5};
    else
      body.surface.box = BoxParams{Vec3(0.2, 0.2, 0.2), {4, 4, 4}};
    body.position = Vec3(-0.3 + 0.3 * k, 0.4 + 0.1 * k, 0.05 * k);
    body.velocity = Vec3(0.3, -5, 0);
    body.material.yield_stress = 5e4;
    settings.bodies.push_back(body);
  }
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  return settings;
}

StateArrays state_after(const Scene& scene, const Settings& settings, int frames) {
  const auto method = make_method(scene, settings);
  for (int frame = 1; frame <= frames; ++frame) method->advance(scene.frame_time(frame), k_never);
  StateWriter out;
  method->save(out);
  return out.arrays();
}

}  // namespace

TEST(RigidDent, CasesWithKnownAnswers) {
  for (const ValidationCase& validation : validation_cases()) {
    for (const ValidationRecord& record : validation.run({})) {
      EXPECT_TRUE(record.ok) << validation.name << ": " << record.quantity << " measured " << record.measured
                             << " expected " << record.expected;
    }
  }
}

TEST(RigidDent, TheSameBitsWithAnyNumberOfThreads) {
  const Scene scene = make_scene(crowd(), "");
  const int before = thread_count();
  set_thread_count(1);
  const StateArrays one = state_after(scene, {}, 20);
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    EXPECT_TRUE(one == state_after(scene, {}, 20)) << threads;
  }
  set_thread_count(before);
}

TEST(RigidDent, GoesOnFromASavedStateWithTheSameBits) {
  const Scene scene = make_scene(crowd(), "");
  Settings settings;
  settings.duration = 0.1;
  settings.keep_volume = true;
  auto method = make_method(scene, settings);
  for (int frame = 1; frame <= 20; ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    StateWriter saved;
    method->save(saved);
    StateReader reader(saved.arrays());
    method = make_method(scene, settings);
    method->load(reader);
  }
  StateWriter out;
  method->save(out);
  EXPECT_TRUE(out.arrays() == state_after(scene, settings, 20));
}

TEST(RigidDent, WithoutDentsItIsTheRigidMethod) {
  SceneSettings settings = crowd();
  for (BodySettings& body : settings.bodies) body.material.yield_stress.reset();
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 20; ++frame) method->advance(scene.frame_time(frame), k_never);
  EXPECT_EQ(method->diagnostics().plastic_measure, 0);
  EXPECT_EQ(method->notes().back().severity, Severity::warning);
}

namespace {

// A wall in eight pieces floats in space and is hit by a heavy ball.
SceneSettings cut_wall(double speed) {
  SceneSettings settings;
  settings.time = {0.2, 60, 8};
  settings.gravity = Vec3::Zero();
  BodySettings wall;
  wall.name = "wall";
  wall.surface.box = BoxParams{Vec3(0.1, 0.8, 0.8), {2, 16, 16}};
  wall.pieces = PiecesSettings{{}, CellPieces{8, 2}, {}};
  wall.material.density = 1000;
  wall.material.yield_stress = 3e5;
  settings.bodies.push_back(wall);
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.1};
  ball.mass = 20;
  ball.position = Vec3(0.2, 0.05, 0.03);
  ball.velocity = Vec3(-speed, 0, 0);
  settings.obstacles.push_back(ball);
  return settings;
}

}  // namespace

TEST(RigidDent, ACutWallIsDentedBySlowBallsAndBrokenByFastOnes) {
  std::vector<double> fragments;
  for (const double speed : {2.0, 20.0}) {
    const Scene scene = make_scene(cut_wall(speed), "");
    Settings settings;
    const auto method = make_method(scene, settings);
    EXPECT_EQ(metric(*method, "fragments"), 1);
    const Geometry whole = method->fields().front();
    EXPECT_EQ(whole.points.rows(), scene.bodies[0].surface().vertices.rows());
    for (int frame = 1; frame <= 8; ++frame) method->advance(scene.frame_time(frame), k_never);
    EXPECT_GE(metric(*method, "dents"), 1) << speed;
    EXPECT_GT(metric(*method, "deepest_dent"), 0.003) << speed;
    fragments.push_back(metric(*method, "fragments"));
    const bool in_pieces = method->fields().front().points.rows() > whole.points.rows();
    EXPECT_EQ(in_pieces, speed > 10);
    // What the ball lost the wall has: the ball starts with 20 kg at `speed`.
    EXPECT_LE(std::abs(method->diagnostics().linear_momentum.y()), 0.2 * 20 * speed);
  }
  EXPECT_EQ(fragments[0], 1);
  EXPECT_GT(fragments[1], 1);
}

namespace {

// Kinetic and gravitational energy of everything after each frame, the start first.
std::vector<double> energies(const Scene& scene, const Settings& settings) {
  const auto method = make_method(scene, settings);
  const Diagnostics start = method->diagnostics();
  std::vector<double> result{0};
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    const Diagnostics d = method->diagnostics();
    result.push_back(-d.plastic_dissipation - d.contact_dissipation - d.numerical_dissipation);
  }
  EXPECT_GT(metric(*method, "fragments"), 3);
  return result;
}

}  // namespace

// The pieces of a wall that breaks have no more energy than it had: what a joint or an overlap mends must not move them.
// Floating, and standing on the floor under its weight.
TEST(RigidDent, PiecesOfAWallThatBreaksGainNoEnergy) {
  for (const bool floating : {true, false}) {
    SceneSettings settings = cut_wall(30);
    settings.time.duration = 0.5;
    if (!floating) {
      settings.gravity = Vec3(0, -9.81, 0);
      ObstacleSettings floor;
      floor.name = "floor";
      floor.plane = PlaneSettings{};
      floor.position = Vec3(0, -0.401, 0);
      settings.obstacles.push_back(floor);
    }
    const std::vector<double> energy = energies(make_scene(settings, ""), {});
    const double brought = 0.5 * 20 * 30 * 30;
    for (std::size_t f = 1; f < energy.size(); ++f)
      EXPECT_LE(energy[f], energy[f - 1] + 1e-4 * brought) << floating << ", frame " << f;
  }
}

TEST(RigidDent, ABreakingWallGoesOnFromASavedStateWithTheSameBitsOnAnyThreads) {
  const Scene scene = make_scene(cut_wall(20), "");
  Settings settings;
  settings.duration = 0.02;
  auto method = make_method(scene, settings);
  for (int frame = 1; frame <= 8; ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    StateWriter saved;
    method->save(saved);
    StateReader reader(saved.arrays());
    method = make_method(scene, settings);
    method->load(reader);
  }
  StateWriter out;
  method->save(out);
  const int before = thread_count();
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    EXPECT_TRUE(out.arrays() == state_after(scene, settings, 8)) << threads;
  }
  set_thread_count(before);
}

// The energy that contact and dents took is what is missing.
TEST(RigidDent, EnergyIsAccountedFor) {
  const Scene scene = make_scene(crowd(), "");
  const auto method = make_method(scene, {});
  const Diagnostics start = method->diagnostics();
  for (int frame = 1; frame <= 25; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics end = method->diagnostics();
  const double lost =
      start.kinetic_energy + start.gravitational_energy - end.kinetic_energy - end.gravitational_energy;
  EXPECT_GT(end.plastic_dissipation, 0.3 * lost);
  EXPECT_GT(end.contact_dissipation, 0);
  EXPECT_NEAR(end.plastic_dissipation + end.contact_dissipation + end.numerical_dissipation, lost,
              1e-9 * lost);
  EXPECT_NEAR(end.numerical_dissipation, 0, 0.02 * lost);
}

// A minute on the floor: no new dents, and it stays where it came to rest.
TEST(RigidDent, ADentedBodyLiesStill) {
  SceneSettings settings = crowd();
  settings.time = {60, 10, 25};
  settings.bodies.erase(settings.bodies.begin() + 1, settings.bodies.end());
  settings.bodies[0].position.y() = 0.8;
  settings.bodies[0].rotation = {Vec3::UnitZ(), 15};
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 30; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics settled = method->diagnostics();
  const double dents = metric(*method, "dents");
  EXPECT_GE(dents, 1);
  for (int frame = 31; frame <= 600; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics end = method->diagnostics();
  EXPECT_EQ(metric(*method, "dents"), dents);
  EXPECT_LT((end.centre_of_mass - settled.centre_of_mass).norm(), 1e-3);
  EXPECT_LT(end.kinetic_energy, 1e-4);
}

// Blow after blow it would be turned inside out, and fly off at any speed for want of inertia.
TEST(RigidDent, WhatIsCrushedKeepsAQuarterOfItsVolume) {
  SceneSettings settings = crowd();
  settings.time = {1, 30, 8};
  BodySettings soft = settings.bodies[1], heavy = soft;
  soft.surface.sphere = SphereParams{0.06, 4};
  soft.position = Vec3(0, 0.061, 0);
  soft.velocity = Vec3::Zero();
  soft.material.yield_stress = 1e4;
  settings.bodies = {soft};
  heavy.surface.sphere = SphereParams{0.4, 8};
  heavy.material.yield_stress.reset();
  heavy.velocity = Vec3(0, -6, 0);
  for (int k = 0; k < 4; ++k) {
    heavy.name = "heavy" + std::to_string(k);
    heavy.position = Vec3(0.01, 0.8 + 0.9 * k, 0.005);
    settings.bodies.push_back(heavy);
  }
  const Scene scene = make_scene(settings, "");
  const TriMesh& ball = scene.bodies[0].surface();
  const double volume = signed_volume(ball.vertices, ball.triangles);
  Settings easily;
  easily.threshold = 1.5;
  const auto method = make_method(scene, easily);
  const double thrown = method->diagnostics().kinetic_energy;
  for (int frame = 1; frame <= 30; ++frame) {
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    EXPECT_LE(metric(*method, "volume_lost"), 0.75 * volume + 1e-12);
    EXPECT_LT(method->diagnostics().kinetic_energy, 2 * thrown);
  }
  EXPECT_GT(metric(*method, "volume_lost"), 0.5 * volume);
}

TEST(RigidDent, AProjectileMovedIntoItsDentLiesDeeper) {
  SceneSettings settings = crowd();
  settings.bodies.resize(1);
  settings.gravity = Vec3::Zero();
  // The ball lies on the dent's facets: with edges of 6 cm they keep a ball of 10 cm 1.3 mm above the smooth dent, with
  // 3 cm a third of a millimetre.
  settings.bodies[0].surface.box = BoxParams{Vec3(1, 0.2, 1), {32, 4, 32}};
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.1};
  ball.mass = 3;
  ball.position = Vec3(0, 0.35, 0);
  ball.velocity = Vec3(0, -4, 0);
  settings.obstacles.push_back(ball);
  const Scene scene = make_scene(settings, "");
  Settings plain, moved;
  plain.distance = moved.distance = 0.03;
  moved.move_projectile = true;
  std::vector<double> height;
  for (const Settings& s : {plain, moved}) {
    const auto method = make_method(scene, s);
    for (int frame = 1; frame <= 4; ++frame) method->advance(scene.frame_time(frame), k_never);
    // Above the slab, which as triangles lies its margin of 1 mm above the floor.
    height.push_back(method->obstacle_poses().back().first.y() - method->diagnostics().centre_of_mass.y());
  }
  EXPECT_NEAR(height[0] - height[1], 0.03, 1e-3);
}

}  // namespace exemplar::dent
