#include <gtest/gtest.h>

#include "rigidplastic/bullet/shapes.h"
#include "rigidplastic/rigid/checks/validation.h"
#include "rigidplastic/rigid/method.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

SceneSettings barrel_on_floor() {
  SceneSettings settings;
  settings.time = {2.0, 60, 4};
  BodySettings body;
  body.name = "barrel";
  body.surface.barrel = BarrelParams{};
  body.position = Vec3(0, 0.2, 0);
  body.rotation = {Vec3::UnitZ(), 8};
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.1};
  ball.mass = 4;
  ball.position = Vec3(-1.5, 0.4, 0);
  ball.velocity = Vec3(4, 0, 0);
  settings.obstacles.push_back(ball);
  return settings;
}

StateArrays arrays_of(const Method& method) {
  StateWriter out;
  method.save(out);
  return out.arrays();
}

}  // namespace

TEST(Rigid, ClosedFormCases) {
  for (const ValidationCase& validation : validation_cases()) {
    for (const ValidationRecord& record : validation.run({})) {
      EXPECT_TRUE(record.ok) << validation.name << ": " << record.quantity << " measured " << record.measured
                             << " expected " << record.expected;
    }
  }
}

TEST(Rigid, GoesOnFromASavedStateWithTheSameBits) {
  const Scene scene = make_scene(barrel_on_floor(), "");
  const auto whole = make_method(scene, {});
  const auto first = make_method(scene, {});
  const auto second = make_method(scene, {});
  for (int frame = 1; frame <= 60; ++frame) whole->advance(scene.frame_time(frame), k_never);
  for (int frame = 1; frame <= 30; ++frame) first->advance(scene.frame_time(frame), k_never);
  StateWriter saved;
  first->save(saved);
  StateReader reader(saved.arrays());
  second->load(reader);
  for (int frame = 31; frame <= 60; ++frame) second->advance(scene.frame_time(frame), k_never);
  EXPECT_EQ(arrays_of(*whole), arrays_of(*second));
}

TEST(Rigid, ComesToRestWithoutCreepOrSinking) {
  SceneSettings settings = barrel_on_floor();
  settings.obstacles.pop_back();
  settings.bodies[0].rotation.angle = 0;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 120; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics at_two = method->diagnostics();
  for (int frame = 121; frame <= 720; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics at_twelve = method->diagnostics();
  EXPECT_LT((at_twelve.centre_of_mass - at_two.centre_of_mass).norm(), 1e-3);
  EXPECT_NEAR(at_twelve.centre_of_mass.y(), 0.44, 0.01);
}

TEST(Rigid, AFastBallDoesNotTunnel) {
  SceneSettings settings = barrel_on_floor();
  settings.obstacles[1].velocity = Vec3(150, 0, 0);
  settings.bodies[0].rotation.angle = 0;
  settings.bodies[0].position = Vec3(0, 0.01, 0);
  settings.time.steps_per_frame = 1;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; frame <= 3; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Diagnostics d = method->diagnostics();
  EXPECT_GT(d.linear_momentum.x(), 0.5 * 4 * 150);  // the barrel took the ball's momentum
}

TEST(Rigid, AKeyframedBodyFollowsItsSupport) {
  SceneSettings settings = barrel_on_floor();
  settings.obstacles.clear();
  SupportSettings support;
  support.region.all = true;
  support.keyframes = {{0, Vec3::Zero(), {}}, {1, Vec3(0, 1, 0), {Vec3::UnitY(), 90}}};
  support.interpolation = Interpolation::linear;
  support.until = 1.0;
  settings.bodies[0].supports.push_back(support);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  const double start = method->diagnostics().centre_of_mass.y();
  for (int frame = 1; frame <= 30; ++frame) method->advance(scene.frame_time(frame), k_never);
  EXPECT_NEAR(method->diagnostics().centre_of_mass.y() - start, 0.5, 1e-9);
  for (int frame = 31; frame <= 120; ++frame) method->advance(scene.frame_time(frame), k_never);
  EXPECT_LT(method->diagnostics().centre_of_mass.y() - start, 0.0);  // let go at 1 s, fell
}

TEST(BulletShape, HullOnlyWhereItFits) {
  EXPECT_TRUE(BulletShape::from_mesh(make_box(), CollisionGeometry::automatic).is_hull());
  EXPECT_FALSE(BulletShape::from_mesh(make_torus(), CollisionGeometry::automatic).is_hull());
  EXPECT_TRUE(BulletShape::from_mesh(make_torus(), CollisionGeometry::hull).is_hull());
}

// Its principal axes are turned against the floor, so that all of its triangles are tried against it: those above the
// floor must not hide those in it.
TEST(Rigid, ACraneStandsOnItsFourFeet) {
  SceneSettings settings;
  settings.time = {0.2, 60, 4};
  BodySettings body;
  body.name = "crane";
  body.surface.crane = CraneParams{};
  body.surface.crane->resolution = 30;
  body.position = Vec3(0, 0.01, 0);
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  const Scene scene = make_scene(settings, "");
  Settings chosen;
  chosen.collision = CollisionGeometry::mesh;
  const auto method = make_method(scene, chosen);
  const double height = method->diagnostics().centre_of_mass.y();
  for (int frame = 1; frame <= 12; ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    // The margin (0.5 % of 4.9 m) is pushed out of the floor.
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), height + 0.01, 0.015) << frame;
  }
}

}  // namespace exemplar::rigid
