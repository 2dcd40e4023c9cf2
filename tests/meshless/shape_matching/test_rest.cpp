// Bodies that lie on the floor: they must come to rest, keep their volume and not sink.
#include <gtest/gtest.h>

#include "core/mesh/mass_properties.h"
#include "core/run/surface_fields.h"
#include "meshless/shape_matching/method.h"

namespace exemplar::shape_matching {
namespace {

const InterruptCheck k_never = [] { return false; };

SceneSettings on_the_floor(double young, int steps_per_second, double duration) {
  SceneSettings settings;
  settings.time = {duration, 60, steps_per_second / 60};
  BodySettings body;
  body.name = "cube";
  body.surface.box = BoxParams{};
  body.surface.box->size = Vec3::Constant(0.3);
  body.surface.box->resolution = {6, 6, 6};
  body.material.density = 1000;
  body.material.young = young;
  body.position = Vec3(0, 0.15, 0);
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  return settings;
}

double rms_speed(const Method& method) {
  const Diagnostics d = method.diagnostics();
  return std::sqrt(2.0 * d.kinetic_energy / d.mass);
}

double volume_ratio(const Scene& scene, const Method& method) {
  return surface_volume_ratio(scene, method.fields().front());
}

TEST(Rest, DISABLED_Trace) {
  const double young = std::stod(getenv("YOUNG"));
  const int rate = std::stoi(getenv("RATE"));
  SceneSettings settings = on_the_floor(young, rate, getenv("SECONDS_") ? std::stod(getenv("SECONDS_")) : 5.0);
  if (getenv("LIFT")) settings.bodies[0].position.y() += std::stod(getenv("LIFT"));
  if (getenv("YIELD")) settings.bodies[0].material.yield_stress = std::stod(getenv("YIELD"));
  Settings own;
  if (getenv("DAMP")) own.damping_ratio = std::stod(getenv("DAMP"));
  if (getenv("SUB")) own.substeps = std::stoi(getenv("SUB"));
  if (getenv("ITER")) own.iterations = std::stoi(getenv("ITER"));
  if (getenv("SLEEP")) own.sleep = true;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, own);
  for (const auto& n : method->notes()) printf("%s\n", n.text.c_str());
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), k_never);
    if (frame % 15 == 0) {
      const Points s = method->fields().front().points;
      const Diagnostics d = method->diagnostics();
      printf("t %.2f rms %.3e com %.5f low %.3e vol %.4f plastic %.3g flow %g sleep %g\n", scene.frame_time(frame), rms_speed(*method), d.centre_of_mass.y(), s.col(1).minCoeff(), volume_ratio(scene, *method), d.plastic_measure, d.extra[0].value, d.extra[1].value);
    }
  }
}

}  // namespace
}  // namespace exemplar::shape_matching
