#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "meshless/mass_spring/method.h"

namespace exemplar::mass_spring {
namespace {

const InterruptCheck k_never = [] { return false; };

SceneSettings falling(bool is_sheet) {
  SceneSettings settings;
  settings.time = {0.3, 60, 2};
  BodySettings body;
  body.name = "body";
  body.material.density = 500;
  body.material.young = 1e5;
  body.position = Vec3(0, 0.3, 0);
  if (is_sheet) {
    body.kind = BodyKind::sheet;
    body.thickness = 0.01;
    body.surface.sheet = SheetParams{};
  } else {
    body.surface.box = BoxParams{};
    body.surface.box->size = Vec3(0.4, 0.2, 0.3);
    body.surface.box->resolution = {4, 2, 3};
  }
  settings.bodies.push_back(body);
  ObstacleSettings ground;
  ground.name = "ground";
  ground.plane = PlaneSettings{};
  settings.obstacles.push_back(ground);
  return settings;
}

StateArrays run(const Scene& scene, const Settings& settings, int frames, int resume_at = 0) {
  auto method = make_method(scene, settings);
  for (int frame = 1; frame <= frames; ++frame) {
    EXPECT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    if (frame != resume_at) continue;
    StateWriter saved;
    method->save(saved);
    StateReader reader(saved.arrays());
    method = make_method(scene, settings);
    method->load(reader);
  }
  StateWriter out;
  method->save(out);
  return out.arrays();
}

TEST(MassSpringMethod, ResumeAndThreadsDoNotChangeABit) {
  for (const bool is_sheet : {false, true}) {
    const Scene scene = make_scene(falling(is_sheet), "");
    set_thread_count(1);
    const StateArrays once = run(scene, {}, 18);
    EXPECT_TRUE(once == run(scene, {}, 18, 9));
    set_thread_count(3);
    EXPECT_TRUE(once == run(scene, {}, 18));
    set_thread_count(0);
  }
}

TEST(MassSpringMethod, LandsOnTheGroundWithForcesAndWithConstraints) {
  for (const Integration integration : {Integration::forces, Integration::constraints}) {
    SceneSettings settings = falling(false);
    settings.time = {2.0, 60, 2};
    settings.bodies[0].volume.grid = IntVec3(8, 4, 6);
    const Scene scene = make_scene(settings, "");
    Settings own;
    own.integration = integration;
    own.air_drag = 3.0;
    const auto method = make_method(scene, own);
    for (int frame = 1; frame <= scene.frame_count(); ++frame)
      method->advance(scene.frame_time(frame), k_never);
    const Points points = method->fields().front().points;
    EXPECT_GT(points.col(1).minCoeff(), -0.005) << static_cast<int>(integration);
    // A lying body must not sink into itself: constraints did while contact came after all their passes.
    EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 0.1, 0.02) << static_cast<int>(integration);
  }
}

TEST(MassSpringMethod, AStiffMaterialIsSoftenedAndSaid) {
  SceneSettings settings = falling(false);
  settings.bodies[0].material.young = 2e11;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, {});
  bool is_said = false;
  for (const Note& note : method->notes()) is_said |= note.severity == Severity::warning;
  EXPECT_TRUE(is_said);
  EXPECT_EQ(method->advance(scene.frame_time(2), k_never).status, Status::ok);
}

}  // namespace
}  // namespace exemplar::mass_spring
