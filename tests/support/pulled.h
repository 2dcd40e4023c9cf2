// Bodies that are pulled (core/world/pull.h), for methods whose surface is carried by particles, against closed forms.
#pragma once

#include <cmath>

#include "core/scene/scene.h"
#include "tests/support/run.h"

namespace exemplar {

// A body of 8 kg without gravity, pulled at the middle of its top face, above its centre, towards a place 5 cm higher.
inline SceneSettings pulled_cube(double young) {
  SceneSettings settings;
  settings.time = {1, 100, 4};
  settings.gravity = Vec3::Zero();
  BodySettings body;
  body.name = "cube";
  body.surface.box = BoxParams{Vec3::Constant(0.2), {4, 4, 4}};
  body.volume.grid = IntVec3(4, 4, 4);
  body.material = {};
  body.material.density = 1000;
  body.material.young = young;
  settings.bodies.push_back(body);
  LoadSettings load;
  load.body = "cube";
  load.pull.emplace();
  load.pull->point = Vec3(0, 0.1, 0);
  load.pull->target = Vec3(0, 0.15, 0);
  load.pull->stiffness = 800;
  settings.loads.push_back(load);
  return settings;
}

struct Swing {
  double error = 0;  // of the height, largest, over the amplitude
  double spin = 0;   // angular momentum at the end, kg m²/s
  double work = 0;   // external_work near the target over what the spring had, less one
};

// A whole turn of √(k/m) = 10/s: what the centre of mass is off from that of a point mass.
inline Swing swing_of(Method& method, const Scene& scene) {
  Swing out;
  const double amplitude = 0.05, omega = std::sqrt(800 / 8.0), stored = 0.5 * 800 * amplitude * amplitude;
  for (int frame = 1; frame <= 63; ++frame) {
    if (method.advance(scene.frame_time(frame), k_never).status != Status::ok) return {1, 1, 1};
    const Diagnostics d = method.diagnostics();
    const double expected = amplitude * (1 - std::cos(omega * 0.01 * frame));
    out.error = std::max(out.error, std::abs(d.centre_of_mass.y() - expected) / amplitude);
    if (frame == 16) {
      const double left = amplitude - d.centre_of_mass.y();
      out.work = d.external_work / (stored - 0.5 * 800 * left * left) - 1;
    }
  }
  out.spin = method.diagnostics().angular_momentum.norm();
  return out;
}

// A bar of 1 m, 0.1 × 0.1 m², E = 1 MPa without gravity, held at one end, the other pulled by 10 N.
inline SceneSettings pulled_bar() {
  SceneSettings settings = pulled_cube(1e6);
  settings.time = {1.26, 100, 4};
  BodySettings& body = settings.bodies[0];
  body.surface.box = BoxParams{Vec3(1, 0.1, 0.1), {20, 2, 2}};
  body.volume.grid = IntVec3(20, 2, 2);
  SupportSettings held;
  held.region.half_space = RegionHalfSpace{Vec3(-0.46, 0, 0), -Vec3::UnitX()};
  body.supports.push_back(held);
  PullSettings& pull = *settings.loads[0].pull;
  pull.point = Vec3(0.5, 0, 0);
  pull.target = Vec3(10, 0, 0);
  pull.max_force = 10;
  return settings;
}

// How far the section half way moves in the mean over the last five of ten swings, over F L/(E A) of what is free of it.
inline double stretch_of(Method& method, const Scene& scene, double held_up_to) {
  const Points& rest = scene.bodies[0].surface().vertices;
  double sum = 0;
  int count = 0;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    if (method.advance(scene.frame_time(frame), k_never).status != Status::ok) return 0;
    if (frame <= scene.frame_count() / 2) continue;
    const Points now = method.fields().front().points;
    for (Eigen::Index i = 0; i < rest.rows(); ++i) {
      if (std::abs(rest(i, 0)) > 1e-9) continue;
      sum += now(i, 0) - rest(i, 0);
      ++count;
    }
  }
  return sum / count / (10 * -held_up_to / (1e6 * 0.01));
}

}  // namespace exemplar
