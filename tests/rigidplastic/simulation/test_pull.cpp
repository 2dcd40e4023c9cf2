#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

// It hangs on its spring and swings up and down by 5 cm: y = a (1 − cos ωt), ω = √(k/m) = 10 /s. The spring is stretched all the
// time; pressed, it would make the cube turn over.
TEST(RigidPull, AHangingBodySwings) {
  const double swing = 0.05, omega = 10, stiffness = omega * omega * k_mass;
  const Vec3 target(0, 0.1 + 9.81 / (omega * omega) + swing, 0);
  SceneSettings settings = pulled_cube({0, 0.1, 0}, target, stiffness);
  settings.gravity = Vec3(0, -9.81, 0);
  settings.time.duration = 3;
  const Scene scene = make_scene(settings, "");
  const auto spring_energy = [&](double y) { return 0.5 * stiffness * std::pow(target.y() - 0.1 - y, 2); };
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    double off = 0, most = 0, unbalanced = 0;
    for (int frame = 1; frame <= scene.frame_count(); ++frame) {
      ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok) << name;
      const Diagnostics d = method->diagnostics();
      const double y = d.centre_of_mass.y();
      off = std::max(off, std::abs(y - swing * (1 - std::cos(omega * scene.frame_time(frame)))));
      most = std::max(most, std::abs(d.external_work - spring_energy(0) + spring_energy(y)));
      unbalanced =
          std::max(unbalanced, std::abs(d.kinetic_energy + d.gravitational_energy + d.contact_dissipation +
                                        d.plastic_dissipation + d.numerical_dissipation - d.external_work));
    }
    EXPECT_LT(off, 0.04 * swing) << name;
    EXPECT_LT(most, 0.05 * spring_energy(0)) << name;
    EXPECT_LT(unbalanced, 1e-9) << name;
  }
}

// The force points at the target, so that the angular momentum about it stays what it was at the start, wherever the spring
// holds the body and however it tumbles.
TEST(RigidPull, AngularMomentumAboutTheTargetStays) {
  const Vec3 target(0.4, 0.3, -0.2);
  SceneSettings settings = pulled_cube({0.1, 0.05, -0.03}, target, 50 * k_mass);
  settings.bodies[0].velocity = Vec3(0.5, -1, 0.7);
  settings.bodies[0].angular_velocity = Vec3(1, 2, -1.5);
  settings.time.duration = 1.5;
  const Scene scene = make_scene(settings, "");
  const auto about_target = [&](const Diagnostics& d) {
    return Vec3(d.angular_momentum - target.cross(d.linear_momentum));
  };
  for (const auto& [name, make] : rigid_methods()) {
    const auto method = make(scene);
    const Diagnostics start = method->diagnostics();
    const Vec3 whole = about_target(start);
    double turned = 0;
    for (int frame = 1; frame <= scene.frame_count(); ++frame) {
      method->advance(scene.frame_time(frame), k_never);
      const Diagnostics d = method->diagnostics();
      EXPECT_LT((about_target(d) - whole).norm(), 1e-9 * whole.norm()) << name << ", frame " << frame;
      turned = std::max(turned, (d.angular_momentum - start.angular_momentum).norm());
    }
    EXPECT_GT(turned, whole.norm()) << name;
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
