#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/rigidplastic/simulation/boxes.h"
#include "tests/rigidplastic/simulation/methods.h"
#include "tests/support/run.h"

namespace exemplar::rigid {

namespace {

constexpr double k_mass = 8;  // kg, a cube of 0.2 m

SceneSettings pulled_cube(const Vec3& point, const Vec3& target, double stiffness) {
  SceneSettings settings;
  settings.gravity.setZero();
  settings.time = {1, 250, 1};
  settings.bodies.push_back(box_body("cube", Vec3::Constant(0.2), Vec3::Zero()));
  settings.bodies[0].material.density = 1000;
  LoadSettings load;
  load.body = "cube";
  load.pull.emplace();
  load.pull->point = point;
  load.pull->target = target;
  load.pull->stiffness = stiffness;
  settings.loads.push_back(load);
  return settings;
}

void advance_to(Method& method, const Scene& scene, double time) {
  for (int frame = 1; scene.frame_time(frame) <= time + 1e-9; ++frame)
    if (scene.frame_time(frame) > 0) method.advance(scene.frame_time(frame), k_never);
}

}  // namespace

// Pulled in the line of its centre: y = a (1 − cos ωt), ω = √(k/m) = 10 /s.
TEST(RigidPull, AFreeBodySwings) {
  SceneSettings settings = pulled_cube({0, 0.1, 0}, {0, 0.2, 0}, 100 * k_mass);
  settings.time.duration = 7;
  const Scene scene = make_scene(settings, "");
  const double half = std::numbers::pi / 10;
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    advance_to(*method, scene, half);
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.2, 0.002) << name;
    const Diagnostics d = method->diagnostics();
    EXPECT_NEAR(d.external_work, d.kinetic_energy + d.numerical_dissipation, 1e-9) << name;
    advance_to(*method, scene, 10.5 * 2 * half);
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.2, 0.005) << name;
    advance_to(*method, scene, 10.75 * 2 * half);
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.1, 0.005) << name;
  }
}

// A far target and a largest force of 2 N: a constant force, and the torque r × F.
TEST(RigidPull, TurnsTheBodyWithItsForceAtItsPoint) {
  const Vec3 point(0.1, 0.1, 0), force(0, 0, 2);
  SceneSettings settings = pulled_cube(point, point + 100 * force, 1e4);
  settings.loads[0].pull->max_force = 2;
  const Scene scene = make_scene(settings, "");
  const Vec3 momentum = 0.1 * force, spin = 0.1 * point.cross(force);
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    advance_to(*method, scene, 0.1);
    const Diagnostics d = method->diagnostics();
    EXPECT_LT((d.linear_momentum - momentum).norm(), 1e-3 * momentum.norm()) << name;
    const Vec3 about_centre = d.angular_momentum - d.centre_of_mass.cross(d.linear_momentum);
    EXPECT_LT((about_centre - spin).norm(), 5e-3 * spin.norm()) << name;
  }
}

// 10⁶ times stiffer than the step could follow: it hangs where it is held.
TEST(RigidPull, AVeryStiffOneHolds) {
  SceneSettings settings = pulled_cube({0, 0.1, 0}, {0, 0.15, 0}, 1e12);
  settings.gravity = Vec3(0, -9.81, 0);
  settings.time.duration = 3;
  const Scene scene = make_scene(settings, "");
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    for (int frame = 1; frame <= scene.frame_count(); ++frame) {
      ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok) << name;
      ASSERT_LT(method->diagnostics().centre_of_mass.norm(), 0.5) << name << frame;
    }
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.05, 1e-3) << name;
  }
}

}  // namespace exemplar::rigid
