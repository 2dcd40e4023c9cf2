// Pulls against closed forms.
#include <gtest/gtest.h>

#include "meshless/shape_matching/method.h"
#include "tests/support/pulled.h"

namespace exemplar::shape_matching {
namespace {

Settings settings_of_test() {
  Settings settings;
  return settings;
}

TEST(Pull, AStiffCubeSwingsLikeAPointMass) {
  const Scene scene = make_scene(pulled_cube(1e7), "");
  const auto method = make_method(scene, settings_of_test());
  const Swing swing = swing_of(*method, scene);
  EXPECT_LT(swing.error, 2e-2);
  EXPECT_LT(swing.spin, 1e-6);
  EXPECT_NEAR(swing.work, 0, 3e-2);
}

// A spring ten thousand times stiffer than a step could bear explicitly holds the point at its target.
TEST(Pull, AVeryStiffSpringIsStable) {
  SceneSettings settings = pulled_cube(1e7);
  settings.loads[0].pull->stiffness = 1e9;
  settings.loads[0].pull->target = Vec3(0, 0.101, 0);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, settings_of_test());
  for (int frame = 1; frame <= 20; ++frame)
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
  EXPECT_NEAR(method->diagnostics().centre_of_mass.y(), 1e-3, 1e-3);
  EXPECT_LT(method->diagnostics().kinetic_energy, 0.5);  // of the 500 J that the spring holds at first
}

TEST(Pull, TheLargestForceActsFromAndUntilItsTimes) {
  SceneSettings settings = pulled_cube(1e7);
  settings.loads[0].pull->max_force = 4;
  settings.loads[0].pull->target = Vec3(0, 50, 0);
  settings.loads[0].from = 0.1;
  settings.loads[0].until = 0.3;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, settings_of_test());
  ASSERT_EQ(method->advance(0.1, k_never).status, Status::ok);
  EXPECT_LT(method->diagnostics().linear_momentum.norm(), 1e-12);
  ASSERT_EQ(method->advance(0.4, k_never).status, Status::ok);
  EXPECT_NEAR(method->diagnostics().linear_momentum.y(), 4 * 0.2, 1e-6);
}

TEST(Pull, GoesOnWithTheSameBits) {
  const Scene scene = make_scene(pulled_cube(1e7), "");
  const auto whole = make_method(scene, settings_of_test()), half = make_method(scene, settings_of_test());
  whole->advance(0.02, k_never);
  whole->advance(0.04, k_never);
  StateWriter saved, one, two;
  half->advance(0.02, k_never);
  half->save(saved);
  const auto resumed = make_method(scene, settings_of_test());
  StateReader reader(saved.arrays());
  resumed->load(reader);
  resumed->advance(0.04, k_never);
  whole->save(one);
  resumed->save(two);
  EXPECT_TRUE(one.arrays() == two.arrays());
}

}  // namespace
}  // namespace exemplar::shape_matching
