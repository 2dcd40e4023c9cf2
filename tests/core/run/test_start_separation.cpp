// Where free obstacles start when the scene puts them in exact touch.
#include "core/run/start_separation.h"

#include <gtest/gtest.h>

#include "tests/support/run.h"

namespace exemplar {
namespace {

ObstacleSettings free_obstacle(const std::string& name, const Vec3& position) {
  ObstacleSettings settings;
  settings.name = name;
  settings.position = position;
  settings.mass = 2;
  return settings;
}

// Two crates on each other and two balls side by side, all flush on the floor: before, the barrier of contact
// was infinite at the start.
TEST(StartSeparation, FreeObstaclesThatTouchGetRoom) {
  SceneSettings settings;
  BodySettings body;
  body.name = "body";
  body.surface.box = BoxParams{Vec3::Constant(0.2), {1, 1, 1}};
  body.position = Vec3(-2, 1, 0);
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles = {free_obstacle("lower", {0, 0.1, 0}), free_obstacle("upper", {0, 0.3, 0}),
                        free_obstacle("ball", {1, 0.1, 0}), free_obstacle("other ball", {1.2, 0.1, 0}),
                        floor};
  settings.obstacles[0].box = settings.obstacles[1].box = BoxSettings{Vec3::Constant(0.2)};
  settings.obstacles[2].sphere = settings.obstacles[3].sphere = SphereSettings{0.1};
  const Scene scene = make_scene(settings, "");
  constexpr double reach = 1e-3;
  const std::vector<ObstacleBody> placed = obstacles_with_room(scene, reach);
  const auto shift = [&](std::size_t o) {
    return Vec3(placed[o].initial_state().position - scene.obstacles[o].initial_state().position);
  };
  EXPECT_NEAR((shift(0) - Vec3(0, 1.01 * reach, 0)).norm(), 0, 1e-12);
  EXPECT_NEAR((shift(1) - Vec3(0, 2.02 * reach, 0)).norm(), 0, 1e-12);
  // Balls are seen by their triangles, which are 0.85 mm inside them.
  EXPECT_NEAR((shift(2) - Vec3(0, 1.01 * (reach + 0.85e-3), 0)).norm(), 0, 2e-5);
  EXPECT_GE((placed[3].initial_state().position - placed[2].initial_state().position).norm(), 0.2 + reach);
  EXPECT_GE(placed[3].initial_state().position.y(), 0.1 + reach);
  EXPECT_LT(shift(3).norm(), 4 * reach);
  EXPECT_EQ(shift(4), Vec3::Zero());
  // Where there is room nothing moves.
  const Scene apart = [&] {
    for (ObstacleSettings& obstacle : settings.obstacles) obstacle.position.y() *= 1.1;
    settings.obstacles[3].position.x() += 0.1;
    return make_scene(settings, "");
  }();
  const std::vector<ObstacleBody> same = obstacles_with_room(apart, reach);
  for (std::size_t o = 0; o < same.size(); ++o)
    EXPECT_EQ(same[o].initial_state().position, apart.obstacles[o].initial_state().position);
}

}  // namespace
}  // namespace exemplar
