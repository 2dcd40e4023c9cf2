#include <gtest/gtest.h>

#include "core/output/described_state.h"
#include "rigidplastic/simulation/simulation.h"
#include "tests/rigidplastic/simulation/boxes.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

BodySettings cube(const std::string& name, const Vec3& position) {
  return box_body(name, Vec3::Constant(0.2), position);
}

SceneSettings cube_on_floor() {
  SceneSettings settings;
  settings.time = {3, 50, 4};
  settings.bodies.push_back(cube("cube", {0, 0.1005, 0}));
  settings.obstacles.push_back(floor_with(0.5));
  return settings;
}

std::vector<RigidState> states_after(const SceneSettings& settings, double seconds) {
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::mesh);
  simulation.advance(seconds, k_never);
  std::vector<RigidState> states;
  for (std::size_t i = 0; i < simulation.object_count(); ++i) states.push_back(simulation.object_state(i));
  return states;
}

RestingObject object(bool free, RestClock& clock, const Vec3& velocity = Vec3::Zero()) {
  RestingObject made;
  made.free = free;
  made.clock = &clock;
  made.state.velocity = velocity;
  return made;
}

}  // namespace

// Objects: the ground, a still one, one that has just moved, one that moves by itself (a driven obstacle).
TEST(Rest, NeedsSomethingThatBearsAndNothingThatMoves) {
  RestClock long_there{Vec3::Zero(), Quat::Identity(), 10}, just_moved;
  const std::vector<RestingObject> objects = {object(false, long_there), object(true, long_there),
                                              object(true, long_there), object(true, just_moved),
                                              object(false, long_there, Vec3::UnitX())};
  using Rests = std::vector<bool>;
  EXPECT_EQ(at_rest(objects, {}), Rests({false, false, false, false, false}));
  EXPECT_EQ(at_rest(objects, {{0, 1}, {2, 1}}), Rests({false, true, true, false, false}));
  EXPECT_EQ(at_rest(objects, {{2, 1}, {1, 0}, {0, 1}}), Rests({false, true, true, false, false}));
  EXPECT_EQ(at_rest(objects, {{1, 2}}), Rests({false, false, false, false, false}));
  EXPECT_EQ(at_rest(objects, {{0, 1}, {1, 2}, {3, 2}}), Rests({false, false, false, false, false}));
  EXPECT_EQ(at_rest(objects, {{0, 1}, {0, 2}, {0, 3}}), Rests({false, true, true, false, false}));
  EXPECT_EQ(at_rest(objects, {{0, 1}, {0, 2}, {4, 2}, {0, 4}}), Rests({false, true, false, false, false}));
}

// A clock starts anew where its object left its place, and with it those of all that it touches or touched in the tick before.
TEST(Rest, WhatTouchedSomethingThatMovesHasToProveItAnew) {
  RestClock still{Vec3::Zero(), Quat::Identity(), 10}, gone = still, apart = still;
  std::vector<RestingObject> objects = {object(true, still), object(true, gone), object(true, apart)};
  for (RestingObject& o : objects) o.gyration = 0.1;
  objects[1].state.position = Vec3(0.1, 0, 0);
  advance_clocks(objects, {{0, 1}}, 9.81, 0.01);
  EXPECT_EQ(still.time, 0);
  EXPECT_EQ(gone.time, 0);
  EXPECT_EQ(apart.time, 10.01);
  advance_clocks(objects, {{0, 1}}, 9.81, 0.01);
  EXPECT_EQ(still.time, 0.01);
}

// One of the two posts of a beam is drawn away faster than it could be carried along: the beam tips.
TEST(Rest, ABeamFallsWhenOneOfItsPostsLeaves) {
  for (const Vec3& way : {Vec3(0, -1, 0), Vec3(0, -10, 0), Vec3(10, 0, 0)}) {
    SceneSettings settings;
    settings.time = {3, 50, 4};
    settings.bodies.push_back(cube("beam", {0, 0.4505, 0}));
    settings.bodies[0].surface.box = BoxParams{Vec3(1.2, 0.1, 0.1), {6, 1, 1}};
    for (const double side : {-0.5, 0.5}) {
      ObstacleSettings post;
      post.name = side < 0 ? "left" : "right";
      post.box = BoxSettings{Vec3(0.1, 0.4, 0.3)};
      if (side < 0) {
        post.position = Vec3(side, 0.2, 0);
      } else {
        const Vec3 place(side, 0.2, 0);
        post.interpolation = Interpolation::linear;
        post.keyframes = {{0, place, {}}, {1.5, place, {}}, {2.5, place + way, {}}};
      }
      settings.obstacles.push_back(post);
    }
    EXPECT_EQ(states_after(settings, 1.4)[0].velocity, Vec3::Zero());
    EXPECT_LT(states_after(settings, 2.2)[0].position.y(), 0.3);
  }
}

// A light ball bounces off a heavy cube that has lain there for a second: what it lost, the cube has.
TEST(Rest, AShortBlowIsNotLost) {
  SceneSettings settings = cube_on_floor();
  settings.bodies[0].material.density = 50000;
  settings.bodies.push_back(cube("light", {-6, 0.1005, 0}));
  settings.bodies[1].velocity = Vec3(6, 0, 0);
  for (BodySettings& body : settings.bodies) {
    body.material.friction = 0;
    body.material.restitution = 1;
  }
  settings.obstacles[0].friction = 0;
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::mesh);
  const double start = simulation.diagnostics().linear_momentum.x();
  simulation.advance(2.5, k_never);
  EXPECT_NEAR(simulation.diagnostics().linear_momentum.x(), start, 1e-3 * start);
}

TEST(Rest, WhatLiesStillHasNoVelocityAndStaysThere) {
  const RigidState early = states_after(cube_on_floor(), 1)[0], late = states_after(cube_on_floor(), 3)[0];
  EXPECT_EQ(late.velocity, Vec3::Zero());
  EXPECT_EQ(late.angular_velocity, Vec3::Zero());
  EXPECT_EQ(early.position, late.position);
}

// Gravity leans by tan 0.51 over a friction of 0.5: 0.175 m in 2 s by g cos (0.51 − 0.5) t²/2. Bullet's friction lets it slide
// by 0.069, held or not; what counts here is that nothing is held that begins slowly.
TEST(Rest, WhatBeginsToSlideSlowlyGoesOn) {
  SceneSettings settings = cube_on_floor();
  const double lean = std::atan(0.51);
  settings.gravity = 9.81 * Vec3(std::sin(lean), -std::cos(lean), 0);
  EXPECT_GT(states_after(settings, 2)[0].position.x(), 0.06);
}

// A pull that begins at 2 s and ends at 2.5 s: still before, moved by it, still afterwards.
TEST(Rest, ALoadKeepsABodyAwakeOnlyWhileItActs) {
  SceneSettings settings = cube_on_floor();
  settings.time.duration = 6;
  LoadSettings pull;
  pull.region.emplace().all = true;
  pull.value = Vec3(60, 0, 0);
  pull.from = 2;
  pull.until = 2.5;
  settings.loads.push_back(pull);
  const RigidState before = states_after(settings, 1.9)[0], during = states_after(settings, 2.4)[0],
                   after = states_after(settings, 4)[0], late = states_after(settings, 6)[0];
  EXPECT_EQ(before.velocity, Vec3::Zero());
  EXPECT_GT(during.velocity.x(), 0.5);
  EXPECT_EQ(after.velocity, Vec3::Zero());
  EXPECT_GT(after.position.x(), before.position.x() + 0.1);
  EXPECT_EQ(after.position, late.position);
}

// Without anything below it a body drifts on, however slowly.
TEST(Rest, WhatFloatsIsNotHeld) {
  SceneSettings settings = cube_on_floor();
  settings.gravity.setZero();
  settings.bodies[0].position.y() = 0.5;
  settings.bodies[0].velocity = Vec3(1e-5, 0, 0);
  EXPECT_NEAR(states_after(settings, 3)[0].position.x(), 3e-5, 1e-12);
}

// A cube that slides into a resting one moves it, and a board that is drawn away carries what lies on it.
TEST(Rest, WhatIsHitOrCarriedMovesOn) {
  SceneSettings struck = cube_on_floor();
  struck.bodies.push_back(cube("other", {-6, 0.1005, 0}));
  struck.bodies[1].velocity = Vec3(6, 0, 0);
  struck.bodies[1].material.friction = 0;
  struck.obstacles[0].friction = 0;
  struck.bodies[0].material.friction = 0;
  EXPECT_EQ(states_after(struck, 0.9)[0].velocity, Vec3::Zero());
  EXPECT_GT(states_after(struck, 1.2)[0].velocity.x(), 1);

  SceneSettings carried = cube_on_floor();
  ObstacleSettings board;
  board.name = "board";
  board.box = BoxSettings{Vec3(2, 0.1, 0.4)};
  board.position = Vec3(0, 0.05, 0);
  board.friction = 0.5;
  board.keyframes = {{0, Vec3::Zero(), {}}, {1.5, Vec3::Zero(), {}}, {2.5, Vec3(0.2, 0, 0), {}}};
  carried.obstacles = {board};
  carried.bodies[0].position.y() = 0.2005;
  EXPECT_EQ(states_after(carried, 1.4)[0].velocity, Vec3::Zero());
  EXPECT_NEAR(states_after(carried, 3)[0].position.x(), 0.2, 0.01);
}

TEST(Rest, GoesOnFromASavedStateWithTheSameBits) {
  SceneSettings settings = cube_on_floor();
  settings.bodies.push_back(cube("upper", {0.03, 0.302, 0}));
  const Scene scene = make_scene(settings, "");
  Simulation whole(scene, {});
  whole.add_scene_bodies(CollisionGeometry::mesh);
  auto broken = std::make_unique<Simulation>(scene, Options{});
  broken->add_scene_bodies(CollisionGeometry::mesh);
  for (int frame = 1; frame <= 100; ++frame) {
    whole.advance(scene.frame_time(frame), k_never);
    broken->advance(scene.frame_time(frame), k_never);
    const SimulationState saved = broken->state();
    broken = std::make_unique<Simulation>(scene, Options{});
    broken->add_scene_bodies(CollisionGeometry::mesh);
    broken->restore(saved);
  }
  EXPECT_TRUE(same_state(whole.state(), broken->state()));
  EXPECT_EQ(whole.bodies()[1].state.velocity, Vec3::Zero());
}

}  // namespace exemplar::rigid
