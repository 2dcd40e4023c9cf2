#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "rigidplastic/bullet/roundness.h"
#include "rigidplastic/bullet/shapes.h"
#include "tests/rigidplastic/simulation/boxes.h"
#include "tests/rigidplastic/simulation/methods.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

BodySettings ball(const Vec3& position) {
  BodySettings body;
  body.name = "ball";
  body.surface.sphere = SphereParams{0.2, 8};
  body.position = position;
  return body;
}

// Its axis along z.
BodySettings lying_cylinder(const Vec3& position) {
  BodySettings body;
  body.name = "cylinder";
  body.surface.cylinder = CylinderParams{0.2, 0.5, 32};
  body.position = position;
  body.rotation = {Vec3::UnitX(), 90};
  return body;
}

SceneSettings scene_with(const BodySettings& body, double seconds) {
  SceneSettings settings;
  settings.time = {seconds, 50, 5};
  settings.bodies.push_back(body);
  settings.obstacles.push_back(floor_with(0.5));
  return settings;
}

double speed_of(const Method& method) {
  const Diagnostics d = method.diagnostics();
  return d.linear_momentum.norm() / d.mass;
}

}  // namespace

// It starts to slide with friction 0.5 and rolls after 2 v/(7 µ g) = 0.12 s, with 5/7 of its speed; then nothing brakes it.
TEST(Rolling, ASlidingBallRollsOnAtFiveSeventhsOfItsSpeed) {
  SceneSettings settings = scene_with(ball({0, 0.2005, 0}), 2.5);
  settings.bodies[0].velocity = Vec3(2, 0, 0);
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    method->advance(scene.frame_time(25), k_never);
    const double rolling = speed_of(*method);
    EXPECT_NEAR(rolling, 5.0 / 7 * 2, 0.02 * 5.0 / 7 * 2) << name;
    method->advance(scene.frame_time(125), k_never);
    EXPECT_NEAR(speed_of(*method), rolling, 0.02 * rolling) << name;
  }
}

TEST(Rolling, ACylinderRollsDownASlope) {
  const double degrees = 20, angle = degrees * std::numbers::pi / 180;
  const Vec3 normal(std::sin(angle), std::cos(angle), 0);
  SceneSettings settings = scene_with(lying_cylinder(0.2005 * normal), 1);
  settings.obstacles[0].rotation = {Vec3::UnitZ(), -degrees};
  const Scene scene = make_scene(settings, "");
  const double expected = 2.0 / 3 * 9.81 * std::sin(angle);
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    method->advance(scene.frame_time(50), k_never);
    EXPECT_NEAR(speed_of(*method), expected, 0.03 * expected) << name;
  }
}

TEST(Rolling, WhatIsRoundLiesStillForAMinute) {
  for (const BodySettings& body : {ball({0, 0.2005, 0}), lying_cylinder({0, 0.2005, 0})}) {
    const Scene scene = make_scene(scene_with(body, 60), "");
    const auto method = rigid::make_method(scene, Settings{});
    method->advance(scene.frame_time(50), k_never);
    const Vec3 start = method->diagnostics().centre_of_mass;
    for (int frame = 51; frame <= scene.frame_count(); ++frame)
      method->advance(scene.frame_time(frame), k_never);
    EXPECT_LT((method->diagnostics().centre_of_mass - start).norm(), 1e-4) << body.name;
    EXPECT_NEAR(start.y(), 0.2, 1e-3) << body.name;
  }
}

TEST(Rolling, AStandingCylinderStands) {
  BodySettings body = lying_cylinder({0, 0.2505, 0});
  body.rotation = {Vec3::UnitX(), 0};
  const Scene scene = make_scene(scene_with(body, 3), "");
  const auto method = rigid::make_method(scene, Settings{});
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    method->advance(scene.frame_time(frame), k_never);
  const Diagnostics d = method->diagnostics();
  EXPECT_LT((d.centre_of_mass - Vec3(0, 0.25, 0)).norm(), 1e-3);
  EXPECT_LT(d.angular_momentum.norm(), 1e-9);
}

TEST(Roundness, KnowsBallsAndBodiesOfRevolution) {
  const auto shape = [](const TriMesh& mesh) {
    return std::string(BulletShape::from_mesh(mesh, CollisionGeometry::automatic).description());
  };
  EXPECT_EQ(shape(make_sphere({0.2, 3})), "ball");
  EXPECT_EQ(shape(make_sphere({0.2, 1})), "convex hull");  // an icosahedron is one
  EXPECT_EQ(shape(make_cylinder({0.2, 0.5, 32})), "body of revolution");
  EXPECT_EQ(shape(make_cylinder({0.2, 0.2 * std::sqrt(3.0), 32})), "body of revolution");  // equal moments
  EXPECT_EQ(shape(make_cylinder({0.2, 0.5, 8})), "convex hull");
  EXPECT_EQ(shape(make_box({Vec3(1, 1, 1), {4, 4, 4}})), "convex hull");
  EXPECT_EQ(shape(make_torus()), "triangles");
  TriMesh dented = make_sphere({0.2, 8});
  dented.vertices.row(0) *= 0.98;
  EXPECT_EQ(shape(dented), "convex hull");
}

// What deforms is its triangles from then on; restored where it was, it stays round.
TEST(Roundness, EndsWithTheFirstDent) {
  const TriMesh mesh = make_sphere({0.2, 8});
  BulletShape round = BulletShape::from_mesh(mesh, CollisionGeometry::round_or_mesh);
  EXPECT_FALSE(round.move_vertices(mesh.vertices));
  EXPECT_TRUE(round.is_round());
  Points dented = mesh.vertices;
  dented.row(3) *= 0.9;
  EXPECT_TRUE(round.move_vertices(dented));
  EXPECT_STREQ(round.description(), "triangles");
  EXPECT_TRUE(round.move_vertices(mesh.vertices));
  EXPECT_STREQ(round.description(), "ball");
}

// A ball that falls, dents or bends where the method has it so, and a cylinder that is pulled along.
TEST(Roundness, GoesOnFromASavedStateWithTheSameBits) {
  SceneSettings settings = scene_with(ball({0, 0.5, 0}), 0.5);
  settings.bodies[0].velocity = Vec3(1, -3, 0);
  settings.bodies[0].material.yield_stress = 1e5;
  settings.bodies[0].rig.emplace().automatic = 4;
  ExampleSettings flat;
  flat.name = "flat";
  flat.stretch = StretchMap{Vec3::UnitY(), 0.65, false};
  settings.bodies[0].examples.push_back(flat);
  settings.bodies.push_back(lying_cylinder({0, 0.2005, 1}));
  LoadSettings load;
  load.body = "cylinder";
  load.pull.emplace();
  load.pull->point = Vec3(0, 0.4, 1);
  load.pull->target = Vec3(1, 0.4, 1.2);
  load.pull->stiffness = 500;
  settings.loads.push_back(load);
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto whole = make(scene);
    auto broken = make(scene);
    for (int frame = 1; frame <= scene.frame_count(); ++frame) {
      whole->advance(scene.frame_time(frame), k_never);
      broken->advance(scene.frame_time(frame), k_never);
      StateWriter saved;
      broken->save(saved);
      StateReader reader(saved.arrays());
      broken = make(scene);
      broken->load(reader);
    }
    StateWriter a, b;
    whole->save(a);
    broken->save(b);
    EXPECT_TRUE(a.arrays() == b.arrays()) << name;
    EXPECT_GT(whole->diagnostics().external_work, 1) << name;
  }
}

// One of 0.2 × 0.3 m fell through: across an axis that a direction lies along to rounding there is nothing but rounding.
TEST(Rolling, ACylinderStandsWhateverItsSize) {
  for (const double height : {0.1, 0.2, 0.3, 0.45}) {
    for (const double off : {0.0, 1e-4}) {
      BodySettings body;
      body.name = "cylinder";
      body.surface.cylinder = CylinderParams{0.2, height, 32};
      body.position = Vec3(0, 0.5 * height - off, 0);
      const Scene scene = make_scene(scene_with(body, 0.5), "");
      for (const auto& [name, make] : rigid_methods()) {
        const auto method = make(scene);
        method->advance(scene.frame_time(scene.frame_count()), k_never);
        EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.5 * height, 2e-4) << name << ", " << height;
      }
    }
  }
}

}  // namespace exemplar::rigid
