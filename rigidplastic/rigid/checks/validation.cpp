#include "rigidplastic/rigid/checks/validation.h"

#include <cmath>
#include <numbers>

#include "rigidplastic/rigid/method.h"

namespace exemplar::rigid {

namespace {

SceneSettings single_body(SurfaceSettings surface) {
  SceneSettings settings;
  settings.time = {1.0, 50, 4};
  BodySettings body;
  body.name = "body";
  body.surface = std::move(surface);
  settings.bodies.push_back(body);
  return settings;
}

SurfaceSettings box_surface(const Vec3& size) {
  SurfaceSettings surface;
  surface.box = BoxParams{size, {1, 1, 1}};
  return surface;
}

Diagnostics state_after(const SceneSettings& settings, double time) {
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  for (int frame = 1; scene.frame_time(frame) <= time + 1e-9; ++frame) {
    method->advance(scene.frame_time(frame), [] { return false; });
  }
  return method->diagnostics();
}

// Semi-implicit Euler: v_n = −g n h, y_n = −g h² n(n+1)/2.
std::vector<ValidationRecord> free_fall(const ValidationContext&) {
  SceneSettings settings = single_body(box_surface({0.2, 0.3, 0.4}));
  const Diagnostics d = state_after(settings, 1.0);
  const double h = 1.0 / 400, n = 400;  // the longest step of 4 ms halves the scene's 5 ms
  return {near("height after 1 s [m]", d.centre_of_mass.y(), -9.81 * h * h * n * (n + 1) / 2, 1e-10,
               "exact discrete solution of semi-implicit Euler"),
          near("momentum after 1 s [kg m/s]", d.linear_momentum.y(), -9.81 * d.mass, 1e-8, "m g t")};
}

// Dzhanibekov's case: spin about the middle axis. Bullet's integrator keeps momentum only to first order in
// the step.
std::vector<ValidationRecord> free_spin(const ValidationContext&) {
  SceneSettings settings = single_body(box_surface({0.1, 0.3, 0.6}));
  settings.gravity = Vec3::Zero();
  settings.bodies[0].angular_velocity = Vec3(0, 0, 3);
  settings.bodies[0].velocity = Vec3(1, 2, 3);
  const Vec3 before = state_after(settings, 0).linear_momentum;
  const Diagnostics d = state_after(settings, 1.0);
  const double inertia = d.mass * (0.1 * 0.1 + 0.3 * 0.3) / 12;
  return {near("change of momentum [kg m/s]", (d.linear_momentum - before).norm(), 0, 1e-9, "conservation"),
          near_relative("spin about a principal axis: angular momentum",
                        (d.angular_momentum - d.centre_of_mass.cross(d.linear_momentum)).z(), inertia * 3,
                        1e-6, "I ω, I = m (a² + b²)/12")};
}

SceneSettings incline(double degrees, double friction, SurfaceSettings surface, double clearance) {
  SceneSettings settings = single_body(std::move(surface));
  const double a = degrees * std::numbers::pi / 180;
  const Vec3 normal(std::sin(a), std::cos(a), 0);
  settings.bodies[0].position = clearance * normal;
  settings.bodies[0].rotation = {Vec3::UnitZ(), -degrees};
  ObstacleSettings plane;
  plane.name = "incline";
  plane.plane = PlaneSettings{};
  plane.rotation = {Vec3::UnitZ(), -degrees};
  plane.friction = friction;
  settings.obstacles.push_back(plane);
  return settings;
}

// A box on an incline of 30°: a = g (sin α − µ cos α), or rest when µ > tan α.
std::vector<ValidationRecord> incline_sliding(const ValidationContext&) {
  const double a = std::numbers::pi / 6;
  const Diagnostics slides = state_after(incline(30, 0.2, box_surface({0.4, 0.1, 0.4}), 0.0505), 1.0);
  const Diagnostics rests = state_after(incline(30, 0.8, box_surface({0.4, 0.1, 0.4}), 0.0505), 1.0);
  const double expected = 9.81 * (std::sin(a) - 0.2 * std::cos(a));
  return {near_relative("speed down the incline after 1 s", slides.linear_momentum.norm() / slides.mass,
                        expected, 0.02, "g (sin α − µ cos α) t"),
          at_most("speed with µ > tan α [m/s]", rests.linear_momentum.norm() / rests.mass, 1e-3, "sticks")};
}

// A solid ball rolling down 20° without slipping: a = 5/7 g sin α.
std::vector<ValidationRecord> incline_rolling(const ValidationContext&) {
  SurfaceSettings ball;
  ball.sphere = SphereParams{0.2, 24};
  const Diagnostics d = state_after(incline(20, 0.9, ball, 0.2005), 1.0);
  const double expected = 5.0 / 7.0 * 9.81 * std::sin(20 * std::numbers::pi / 180);
  return {near_relative("speed of a rolling ball after 1 s", d.linear_momentum.norm() / d.mass, expected,
                        0.001, "5/7 g sin α t")};
}

// It slides until friction has turned it, and goes on at 5/7 of its speed (2/3: cylinder), whatever the friction.
std::vector<ValidationRecord> slide_to_roll(const ValidationContext&) {
  SurfaceSettings ball, cylinder;
  ball.sphere = SphereParams{0.2, 8};
  cylinder.cylinder = CylinderParams{0.2, 0.5, 32};
  const auto speed = [](const SurfaceSettings& surface, bool lies, double time) {
    SceneSettings settings = incline(0, 0.5, surface, 0.2005);
    if (lies) settings.bodies[0].rotation = {Vec3::UnitX(), 90};
    settings.bodies[0].velocity = Vec3(2, 0, 0);
    settings.time.duration = 3;
    const Diagnostics d = state_after(settings, time);
    return d.linear_momentum.norm() / d.mass;
  };
  return {near_relative("speed of a ball that slid at 2 m/s, after 1 s [m/s]", speed(ball, false, 1),
                        10.0 / 7, 0.004, "5/7 of it"),
          near_relative("after 3 s [m/s]", speed(ball, false, 3), 10.0 / 7, 0.004, "nothing brakes it"),
          near_relative("speed of a cylinder that slid at 2 m/s, after 1 s [m/s]", speed(cylinder, true, 1),
                        4.0 / 3, 0.004, "2/3 of it"),
          near_relative("after 3 s [m/s]", speed(cylinder, true, 3), 4.0 / 3, 0.004, "nothing brakes it")};
}

// A ball dropped from 1 m with restitution e comes back to e².
std::vector<ValidationRecord> bounce(const ValidationContext&) {
  SurfaceSettings ball;
  ball.sphere = SphereParams{0.1, 8};
  SceneSettings settings = single_body(ball);
  settings.time = {1.0, 500, 1};
  settings.bodies[0].position = Vec3(0, 1.1, 0);
  ObstacleSettings plane;
  plane.name = "floor";
  plane.plane = PlaneSettings{};
  plane.restitution = 0.7;
  settings.obstacles.push_back(plane);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  double apex = 0;
  for (int frame = 1; frame <= 400; ++frame) {
    method->advance(scene.frame_time(frame), [] { return false; });
    if (scene.frame_time(frame) > 0.55) apex = std::max(apex, method->diagnostics().centre_of_mass.y() - 0.1);
  }
  return {near("apex after the first bounce [m]", apex, 0.49, 0.02, "e² h with e = 0.7, h = 1 m")};
}

}  // namespace

std::vector<ValidationCase> validation_cases() {
  return {{"rigid", "free-fall", false, free_fall},
          {"rigid", "free-spin", false, free_spin},
          {"rigid", "incline-sliding", false, incline_sliding},
          {"rigid", "incline-rolling", false, incline_rolling},
          {"rigid", "slide-to-roll", false, slide_to_roll},
          {"rigid", "bounce", false, bounce}};
}

}  // namespace exemplar::rigid
