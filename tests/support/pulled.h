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

}  // namespace exemplar
