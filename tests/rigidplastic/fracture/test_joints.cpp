#include "rigidplastic/fracture/joints.h"

#include <gtest/gtest.h>

namespace exemplar::rigid {

namespace {

// Two boxes end to end, one held, joined over their common face of 0.04 m².
struct Beam {
  Scene scene;
  std::unique_ptr<Simulation> simulation;
  BreakableJoints joints{0.004};

  explicit Beam(double strength, int steps) : scene(make_scene(settings(steps), "")) {
    simulation = std::make_unique<Simulation>(scene, Options{0.004, 100});
    simulation->add_scene_bodies(CollisionGeometry::mesh);
    joints.add(simulation->bodies(), 0, 1, Vec3(0, -0.1, 0), 0.04, strength);
    simulation->set_joints(joints.holding());
  }

  static SceneSettings settings(int steps) {
    SceneSettings s;
    s.time = {1, 50, steps};
    for (int k = 0; k < 2; ++k) {
      BodySettings body;
      body.name = k == 0 ? "held" : "hanging";
      body.surface.box = BoxParams{Vec3(0.2, 0.2, 0.2), {1, 1, 1}};
      body.position = Vec3(0, -0.2 * k, 0);
      s.bodies.push_back(body);
    }
    SupportSettings support;
    support.region.all = true;
    s.bodies[0].supports.push_back(support);
    return s;
  }

  // Whether it still holds after some frames.
  bool holds(int frames) {
    TickHooks hooks;
    hooks.after = [this](double dt) {
      if (joints.update(*simulation, dt)) simulation->set_joints(joints.holding());
    };
    for (int frame = 1; frame <= frames; ++frame)
      simulation->advance(
          scene.frame_time(frame), [] { return false; }, hooks);
    return !joints.joints()[0].broken;
  }
};

}  // namespace

// The window's sum of a steady force F over ticks dt is F dt/(1 − e^(−dt/t)), between F t and F (t + dt/2).
TEST(BreakableJoints, ASteadyLoadBreaksAtItsStressWhateverTheStep) {
  const double weight = 8 * 9.81;  // 0.008 m³ of water
  const double stress = weight / 0.04;
  for (const int steps : {5, 20}) {
    EXPECT_TRUE(Beam(1.7 * stress, steps).holds(20)) << steps;
    EXPECT_FALSE(Beam(0.95 * stress, steps).holds(20)) << steps;
  }
}

TEST(BreakableJoints, ComponentsAreWhatHoldsTogether) {
  Beam beam(1e9, 5);
  EXPECT_EQ(beam.joints.components(3), (std::vector<int>{0, 0, 2}));
  Beam weak(1, 5);
  weak.holds(3);
  EXPECT_EQ(weak.joints.components(2), (std::vector<int>{0, 1}));
  EXPECT_TRUE(weak.joints.holding().empty());
}

}  // namespace exemplar::rigid
