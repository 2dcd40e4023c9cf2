#include "rigidplastic/lbs/method.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "rigidplastic/lbs/checks/validation.h"
#include "tests/rigidplastic/lbs/barrels.h"
#include "tests/support/metric.h"
#include "tests/support/run.h"

namespace exemplar::lbs {

namespace {

// Two barrels fall, one is struck by a ball.
SceneSettings barrels_and_ball() {
  SceneSettings settings;
  settings.time = {0.6, 60, 4};
  BodySettings body = soft_barrel(Vec3::UnitY());
  body.position = Vec3(0, 0.15, 0);
  body.rotation = {Vec3::UnitZ(), 12};
  body.velocity = Vec3(0, -3, 0);
  body.material.restitution = 0.2;
  body.repeat = two_of_them(1.5);
  settings.bodies.push_back(body);
  settings.obstacles.push_back(ground());
  settings.obstacles.push_back(thrown_ball(20, Vec3(-2, 0.5, 0), Vec3(12, 0.8, 0)));
  return settings;
}

SceneSettings cut_barrel_and_ball(int pieces) {
  SceneSettings settings = barrels_and_ball();
  settings.bodies[0].repeat.reset();
  settings.bodies[0].pieces = PiecesSettings{};
  settings.bodies[0].pieces->voronoi = CellPieces{pieces, 2};
  return settings;
}

StateArrays run(const Scene& scene, Method& method, int from, int to) {
  for (int frame = from; frame <= to; ++frame) method.advance(scene.frame_time(frame), k_never);
  StateWriter out;
  method.save(out);
  return out.arrays();
}

}  // namespace

TEST(RigidLbs, ValidationCasesPass) {
  for (const ValidationCase& validation : validation_cases()) {
    for (const ValidationRecord& record : validation.run({})) {
      EXPECT_TRUE(record.ok) << validation.name << ": " << record.quantity << " measured " << record.measured
                             << " expected " << record.expected;
    }
  }
}

TEST(RigidLbs, DeformsWithoutAnySettingAndSaysWhatItChose) {
  const Scene scene = make_scene(barrels_and_ball(), "");
  const auto method = make_method(scene, {});
  run(scene, *method, 1, 36);
  EXPECT_GT(method->diagnostics().plastic_measure, 0.05);
  EXPECT_NE(method->notes().front().text.find("(chosen)"), std::string::npos);
}

TEST(RigidLbs, SameBitsForAnyNumberOfThreads) {
  const Scene scene = make_scene(barrels_and_ball(), "");
  std::vector<StateArrays> states;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const auto method = make_method(scene, {});
    states.push_back(run(scene, *method, 1, 24));
  }
  set_thread_count(0);
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
}

TEST(RigidLbs, GoesOnFromASavedStateWithTheSameBits) {
  const Scene scene = make_scene(barrels_and_ball(), "");
  for (const rigid::CollisionGeometry geometry :
       {rigid::CollisionGeometry::mesh, rigid::CollisionGeometry::hull}) {
    Settings settings;
    settings.collision = geometry;
    const auto whole = make_method(scene, settings);
    const auto resumed = make_method(scene, settings);
    StateReader half(run(scene, *whole, 1, 12));
    const StateArrays end = run(scene, *whole, 13, 30);
    resumed->load(half);
    EXPECT_EQ(run(scene, *resumed, 13, 30), end);
  }
}

TEST(RigidLbs, PiecesPartWhenTheyAreHitAndHoldWhenTheyAreNot) {
  for (const double strength : {1e3, 1e12}) {
    const Scene scene = make_scene(cut_barrel_and_ball(4), "");
    Settings chosen;
    chosen.strength = strength;
    const auto method = make_method(scene, chosen);
    const double mass = method->diagnostics().mass;
    EXPECT_NEAR(mass, scene.bodies[0].mass_properties().mass, 1e-9 * mass);
    StateReader half(run(scene, *method, 1, 15));
    const StateArrays end = run(scene, *method, 16, 30);
    if (strength > 1e6) {
      EXPECT_EQ(metric(*method, "fragments"), 1);
    } else {
      EXPECT_GT(metric(*method, "fragments"), 1);
    }
    const auto resumed = make_method(scene, chosen);
    resumed->load(half);
    EXPECT_EQ(run(scene, *resumed, 16, 30), end);
    EXPECT_TRUE(method->fields()[0].points.allFinite());
  }
}

// A heavy ball breaks a crane whose cuts are jagged: what holds pieces together and what keeps them apart brings no energy
// into the scene, before they part, when they do and afterwards.
TEST(RigidLbs, PiecesThatPartGainNoEnergy) {
  SceneSettings settings;
  settings.time = {0.25, 60, 4};
  BodySettings crane = soft_barrel(Vec3::UnitY());
  crane.surface = {};
  crane.surface.crane = CraneParams{};
  crane.surface.crane->resolution = 30;
  crane.position = Vec3(0, 0.025, 0);
  crane.material.density = 400;
  crane.material.yield_stress = 3e5;
  crane.pieces = PiecesSettings{};
  crane.pieces->planes = {{Vec3(0, 5.5, 0), Vec3::UnitY()}, {Vec3(3.2, 0, 0), Vec3::UnitX()}};
  settings.bodies.push_back(crane);
  settings.obstacles.push_back(ground());
  settings.obstacles.push_back(thrown_ball(4000, Vec3(-3, 4.5, 0.3), Vec3(20, 0, 0)));
  settings.obstacles.back().sphere->radius = 0.8;
  const Scene scene = make_scene(settings, "");
  Settings chosen;
  chosen.strength = 1e6;
  const auto method = make_method(scene, chosen);
  const double brought = 0.5 * 4000 * 20 * 20;
  double lost = 0;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    const Diagnostics d = method->diagnostics();
    const double now = d.contact_dissipation + d.numerical_dissipation;
    EXPECT_GE(now, lost - 1e-3 * brought) << "frame " << frame;
    lost = now;
  }
  EXPECT_EQ(metric(*method, "fragments"), 3);
}

TEST(RigidLbs, ABodyThatYieldsNeedsAnExample) {
  SceneSettings settings = barrels_and_ball();
  settings.bodies[0].examples.clear();
  const Scene scene = make_scene(settings, "");
  try {
    make_method(scene, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems()[0].path, "bodies[0].examples");
  }
  settings.bodies[0].material.yield_stress.reset();
  const Scene stiff = make_scene(settings, "");
  EXPECT_EQ(make_method(stiff, {})->diagnostics().plastic_measure, 0);
}

}  // namespace exemplar::lbs
