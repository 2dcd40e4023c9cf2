#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/run/surface_fields.h"
#include "meshless/mass_spring/method.h"
#include "tests/support/run.h"

namespace exemplar::mass_spring {
namespace {

SceneSettings falling(bool is_sheet) {
  SceneSettings settings;
  settings.time = {0.3, 60, 2};
  BodySettings body;
  body.name = "body";
  body.material.density = 500;
  body.material.young = 1e5;
  body.position = Vec3(0, 0.3, 0);
  if (is_sheet) {
    body.kind = BodyKind::sheet;
    body.thickness = 0.01;
    body.surface.sheet = SheetParams{};
  } else {
    body.surface.box = BoxParams{};
    body.surface.box->size = Vec3(0.4, 0.2, 0.3);
    body.surface.box->resolution = {4, 2, 3};
  }
  settings.bodies.push_back(body);
  ObstacleSettings ground;
  ground.name = "ground";
  ground.plane = PlaneSettings{};
  settings.obstacles.push_back(ground);
  return settings;
}

StateArrays run(const Scene& scene, const Settings& settings, int frames, int resume_at = 0) {
  auto method = make_method(scene, settings);
  for (int frame = 1; frame <= frames; ++frame) {
    EXPECT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    if (frame != resume_at) continue;
    StateWriter saved;
    method->save(saved);
    StateReader reader(saved.arrays());
    method = make_method(scene, settings);
    method->load(reader);
  }
  StateWriter out;
  method->save(out);
  return out.arrays();
}

TEST(MassSpringMethod, ResumeAndThreadsDoNotChangeABit) {
  for (const bool is_sheet : {false, true}) {
    const Scene scene = make_scene(falling(is_sheet), "");
    set_thread_count(1);
    const StateArrays once = run(scene, {}, 18);
    EXPECT_TRUE(once == run(scene, {}, 18, 9));
    set_thread_count(3);
    EXPECT_TRUE(once == run(scene, {}, 18));
    set_thread_count(0);
  }
}

TEST(MassSpringMethod, LandsOnTheGroundWithForcesAndWithConstraints) {
  for (const Integration integration : {Integration::forces, Integration::constraints}) {
    SceneSettings settings = falling(false);
    settings.time = {2.0, 60, 2};
    settings.bodies[0].volume.grid = IntVec3(8, 4, 6);
    const Scene scene = make_scene(settings, "");
    Settings own;
    own.integration = integration;
    own.air_drag = 3.0;
    const auto method = make_method(scene, own);
    for (int frame = 1; frame <= scene.frame_count(); ++frame)
      method->advance(scene.frame_time(frame), k_never);
    const Points points = method->fields().front().points;
    EXPECT_GT(points.col(1).minCoeff(), -0.005) << static_cast<int>(integration);
    // A lying body must not sink into itself: constraints did while contact came after all their passes.
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.1, 0.02) << static_cast<int>(integration);
  }
}

// Lengths are the same in a mirrored tetrahedron: a soft cube that fell 0.3 m stayed inside out (volume −0.08).
TEST(MassSpringMethod, ASoftBodyThatLandsIsNotLeftInsideOut) {
  for (const Integration integration : {Integration::forces, Integration::constraints}) {
    SceneSettings settings = falling(false);
    settings.time = {1.5, 60, 2};
    settings.bodies[0].surface.box->size = Vec3::Constant(0.3);
    settings.bodies[0].surface.box->resolution = {4, 4, 4};
    settings.bodies[0].volume.grid = IntVec3(4, 4, 4);
    settings.bodies[0].material.density = 1000;
    settings.bodies[0].material.young = 3e4;
    settings.bodies[0].position = Vec3(0, 0.45, 0);
    const Scene scene = make_scene(settings, "");
    Settings own;
    own.integration = integration;
    const auto method = make_method(scene, own);
    for (int frame = 1; frame <= scene.frame_count(); ++frame)
      ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    EXPECT_GT(surface_volume_ratio(scene, method->fields().front()), 0.7) << static_cast<int>(integration);
    EXPECT_LT(method->diagnostics().deepest_penetration, 5e-3);
  }
}

// Springs far too soft for their load fold up; the volume of the whole stayed above zero, and nobody was told.
TEST(MassSpringMethod, WhatEndsPartlyInsideOutIsSaid) {
  SceneSettings settings = falling(false);
  settings.time = {0.6, 60, 2};
  settings.bodies[0].material.density = 1700;
  settings.bodies[0].material.young = 3e3;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  double most = 0;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    if (method->advance(scene.frame_time(frame), k_never).status != Status::ok) break;
    for (const Metric& metric : method->diagnostics().extra)
      if (metric.name == "inverted") most = std::max(most, metric.value);
  }
  EXPECT_GT(most, 0);
  const Notes notes = method->notes();
  EXPECT_EQ(std::count_if(notes.begin(), notes.end(),
                          [](const Note& n) {
                            return n.severity == Severity::warning &&
                                   n.text.find("inside out") != std::string::npos;
                          }),
            1);
}

// What springs pressed onto the floor was bounced too: 36 % of the impact's energy came from nowhere at restitution 1, at any
// step; and dampers were booked by the velocities before the bounce (34 % of it too much).
TEST(MassSpringMethod, ABouncingCubeGainsNoEnergyAndTheColumnsAddUp) {
  for (const double restitution : {0.0, 0.5, 1.0})
    for (const int steps_per_frame : {1, 4})
      for (const double damping : {0.0, 1e-3}) {
        SceneSettings settings = falling(false);
        settings.time = {0.5, 50, steps_per_frame};
        settings.bodies[0].surface.box = BoxParams{Vec3::Constant(0.2), {3, 3, 3}};
        settings.bodies[0].volume.grid = IntVec3(3, 3, 3);
        settings.bodies[0].position = Vec3(0, 0.4, 0);
        settings.bodies[0].material = {};
        settings.bodies[0].material.density = 1000;
        settings.bodies[0].material.young = 1e6;
        settings.bodies[0].material.damping = damping;
        settings.obstacles[0].restitution = restitution;
        const Scene scene = make_scene(settings, "");
        const auto method = make_method(scene, {});
        const auto held = [&] {
          const Diagnostics d = method->diagnostics();
          return d.kinetic_energy + d.elastic_energy + d.gravitational_energy;
        };
        const double start = held(), impact = 8 * 9.81 * 0.3;
        for (int frame = 1; frame <= scene.frame_count(); ++frame) {
          ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
          const Diagnostics d = method->diagnostics();
          EXPECT_LT(held(), start + 1e-3 * impact);
          // While it is pressed, velocities half a step back put h F v/2 into the sum, 3 % with steps as long as these.
          EXPECT_NEAR(held() + d.contact_dissipation + d.damping_dissipation, start,
                      (frame < scene.frame_count() ? 0.035 : 0.005) * impact)
              << "restitution " << restitution << " steps " << steps_per_frame << " damping " << damping
              << " frame " << frame;
        }
        EXPECT_GT(method->diagnostics().contact_dissipation, -1e-3 * impact);
      }
}

// Constraints hold no energy. Counted with the stiffness of a metal, what they were off by was thousands of times what the cube
// had fallen for, and the run said that it came from nowhere.
TEST(MassSpringMethod, ConstraintsOfAStiffCubeBringNoEnergy) {
  for (const double restitution : {0.0, 0.5, 1.0}) {
    SceneSettings settings = falling(false);
    settings.time = {0.8, 50, 4};
    settings.bodies[0].surface.box = BoxParams{Vec3::Constant(0.2), {3, 3, 3}};
    settings.bodies[0].volume.grid = IntVec3(3, 3, 3);
    settings.bodies[0].position = Vec3(0, 0.4, 0);
    settings.bodies[0].material = {};
    settings.bodies[0].material.density = 1000;
    settings.bodies[0].material.young = 7e10;
    settings.obstacles[0].restitution = restitution;
    const Scene scene = make_scene(settings, "");
    Settings own;
    own.integration = Integration::constraints;
    const auto method = make_method(scene, own);
    const auto held = [&] {
      const Diagnostics d = method->diagnostics();
      return d.kinetic_energy + d.elastic_energy + d.gravitational_energy + d.contact_dissipation;
    };
    const double start = held(), impact = 8 * 9.81 * 0.3;
    for (int frame = 1; frame <= scene.frame_count(); ++frame) {
      ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
      EXPECT_LT(held(), start + 0.01 * impact) << restitution << " at frame " << frame;
    }
  }
}

// A block 1° below the critical angle swung up and down and walked down the slope at 45 mm/s.
TEST(MassSpringMethod, FrictionHoldsABlockJustBelowTheCriticalAngle) {
  SceneSettings settings = falling(false);
  settings.time = {1.0, 30, 4};
  const double angle = std::atan(0.5) - EIGEN_PI / 180;
  settings.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
  settings.bodies[0].surface.box = BoxParams{Vec3(0.2, 0.1, 0.2), {4, 2, 4}};
  settings.bodies[0].volume.grid = IntVec3(4, 2, 4);
  settings.bodies[0].position = Vec3(0, 0.05, 0);
  settings.bodies[0].material = {};
  settings.bodies[0].material.young = 1e6;
  settings.bodies[0].material.friction = 0.5;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  double before = 0;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    if (2 * frame == scene.frame_count()) before = method->diagnostics().centre_of_mass.x();
  }
  EXPECT_LT(std::abs(method->diagnostics().centre_of_mass.x() - before) / 0.5, 1e-4);
}

// Twelve triangles and a region that holds none of them: the force acts on the nodes' shares of the face.
TEST(MassSpringMethod, TractionActsOnTheTributarySurfaceAndRollersLetGlide) {
  SceneSettings settings = falling(false);
  settings.time = {0.05, 100, 2};
  settings.obstacles.clear();
  settings.gravity = Vec3::Zero();
  settings.bodies[0].surface.box->resolution = {1, 1, 1};
  settings.bodies[0].volume.grid = IntVec3(8, 4, 6);
  LoadSettings load;
  load.kind = LoadKind::traction;
  load.region.emplace().box = RegionBox{Vec3(0.1999, -9, -9), Vec3(0.21, 9, 9)};
  load.value = Vec3(100, 0, 0);
  settings.loads.push_back(load);
  SupportSettings roller;
  roller.region.half_space = RegionHalfSpace{Vec3(0, 0.2001, 0), -Vec3::UnitY()};
  roller.x = roller.z = false;
  settings.bodies[0].supports.push_back(roller);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 5; ++frame)
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
  const Diagnostics d = method->diagnostics();
  EXPECT_NEAR(d.linear_momentum.x(), 100 * 0.2 * 0.3 * 0.05, 1e-9);
  // Glides without friction: all of the traction's work is in motion, springs and dampers.
  EXPECT_GT(d.external_work, 0.01);
  EXPECT_NEAR(d.kinetic_energy + d.elastic_energy + d.damping_dissipation, d.external_work,
              0.02 * d.external_work);
  const Points moved = method->fields().front().points - scene.bodies[0].surface().vertices;
  for (Eigen::Index v = 0; v < moved.rows(); ++v) {
    if (scene.bodies[0].surface().vertices(v, 1) < 0.2001) {
      EXPECT_NEAR(moved(v, 1), 0.0, 1e-12);
    }
  }
}

// A body that is shot through the floor is said to be lost, not reported as if nothing were wrong.
TEST(MassSpringMethod, ABodyThatIsLostEndsTheRunWithAReason) {
  SceneSettings settings = falling(false);
  settings.bodies[0].position = Vec3(0, -0.5, 0);  // starts below the ground
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  const StepReport report = method->advance(scene.frame_time(1), k_never);
  EXPECT_EQ(report.status, Status::failed);
  EXPECT_NE(report.message.find("ground"), std::string::npos) << report.message;
}

SceneSettings aluminium_box_thrown_at_the_floor() {
  SceneSettings settings = falling(false);
  settings.time = {0.1, 30, 2};
  BodySettings& body = settings.bodies[0];
  body.surface.box = BoxParams{Vec3(0.04, 0.05, 0.03), {3, 5, 1}};
  body.position = Vec3(0, 0.18, 0);
  body.velocity = Vec3(0, -9.5, 0);
  body.material = {2700, 6.9e10, 0.33, 9.5e7, 8e3, 0.4, 0.2, 0};
  return settings;
}

double lowest_node(const Method& method) {
  for (const Geometry& geometry : method.fields())
    if (geometry.series == "springs") return geometry.points.col(1).minCoeff();
  return -1e9;
}

// Softened springs broke at the strain of the metal, all of them, and the nodes of the cage fell through the floor: the centre
// of mass ended 12 cm below it, with a penetration of nothing.
TEST(MassSpringMethod, AMetalBoxThrownAtTheFloorStaysWholeAndAboveIt) {
  const Scene scene = make_scene(aluminium_box_thrown_at_the_floor(), "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    const StepReport report = method->advance(scene.frame_time(frame), k_never);
    ASSERT_EQ(report.status, Status::ok) << report.message;
  }
  EXPECT_GT(method->diagnostics().centre_of_mass.y(), 0.02);
  EXPECT_NEAR(surface_volume_ratio(scene, method->fields().front()), 1.0, 0.3);
}

// Springs that break at a thousandth: the body is lost, which ends the run, and its nodes lie on the floor.
TEST(MassSpringMethod, ABodyThatFallsToItsNodesEndsTheRunAboveTheFloor) {
  const Scene scene = make_scene(aluminium_box_thrown_at_the_floor(), "");
  Settings own;
  own.strain_limit = 1e-3;
  const auto method = make_method(scene, own);
  const StepReport report = method->advance(scene.frame_time(1), k_never);
  EXPECT_EQ(report.status, Status::failed);
  EXPECT_NE(report.message.find("fallen to its nodes"), std::string::npos) << report.message;
  const double cage = 0.004;  // how far its nodes hang out of the surface
  EXPECT_GT(lowest_node(*method), -cage);
  EXPECT_GT(method->diagnostics().centre_of_mass.y(), 0);
}

TEST(MassSpringMethod, AStiffMaterialIsSoftenedAndSaid) {
  SceneSettings settings = falling(false);
  settings.bodies[0].material.young = 2e11;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  bool is_said = false;
  for (const Note& note : method->notes()) is_said |= note.severity == Severity::warning;
  EXPECT_TRUE(is_said);
  EXPECT_EQ(method->advance(scene.frame_time(2), k_never).status, Status::ok);
}

TEST(MassSpringMethod, SettingsWithoutEffectAreSaid) {
  const Scene scene = make_scene(falling(false), "");
  const auto says = [&](const Settings& settings, const std::string& text) {
    const Notes notes = make_method(scene, settings)->notes();
    return std::any_of(notes.begin(), notes.end(), [&](const Note& note) {
      return note.severity == Severity::warning && note.text.find(text) != std::string::npos;
    });
  };
  Settings settings;
  EXPECT_FALSE(says(settings, "has no effect"));
  settings.spring_constant = 1e4;
  settings.iterations = 7;
  EXPECT_TRUE(says(settings, "methods.mass-spring.spring_constant has no effect"));
  EXPECT_TRUE(says(settings, "methods.mass-spring.iterations has no effect"));
  settings.stiffness = StiffnessRule::uniform;
  settings.integration = Integration::constraints;
  EXPECT_FALSE(says(settings, "has no effect"));
}

TEST(MassSpringMethod, RegionsWithoutANodeAreSaidWithTheirPlace) {
  const auto path_of = [](const SceneSettings& settings) {
    try {
      make_method(make_scene(settings, ""), {});
    } catch (const InputError& error) {
      return error.problems()[0].path;
    }
    return std::string("not refused");
  };
  RegionSettings everything, far_away;
  everything.all = true;
  far_away.sphere = RegionSphere{Vec3(9, 9, 9), 0.1};
  SceneSettings held = falling(false), loaded = held;
  held.bodies[0].supports.resize(2);
  held.bodies[0].supports[0].region = everything;
  held.bodies[0].supports[1].region = far_away;
  EXPECT_EQ(path_of(held), "bodies[0].supports[1]");
  loaded.loads.resize(2);
  loaded.loads[0].region = everything;
  loaded.loads[1].region = far_away;
  EXPECT_EQ(path_of(loaded), "loads[1]");
}

}  // namespace
}  // namespace exemplar::mass_spring
