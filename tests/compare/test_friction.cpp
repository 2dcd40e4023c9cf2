// Two slabs of different friction slide on one floor that names none: Coulomb's law with each one's own
// coefficient, in every method. They start below the gap at which the barrier of fem carries them (0.27 mm):
// its first step pushes them out, and must not brake them with the force of the start.
#include <gtest/gtest.h>

#include "compare/registered_methods.h"
#include "tests/support/method_run.h"

namespace exemplar {
namespace {

const char* const k_slabs = R"({
  "time": {"duration": 0.3, "fps": 30, "steps_per_frame": 8}, "gravity": [0, -9.81, 0],
  "bodies": [
    {"name": "rough", "surface": {"box": {"size": [0.2, 0.04, 0.2], "resolution": [4, 1, 4]}},
     "volume": {"grid": [4, 1, 4]}, "position": [0, 0.0202, 0], "velocity": [2, 0, 0],
     "material": {"density": 1000, "young": 1e6, "poisson": 0.25, "friction": 0.5}},
    {"name": "smooth", "surface": {"box": {"size": [0.2, 0.04, 0.2], "resolution": [4, 1, 4]}},
     "volume": {"grid": [4, 1, 4]}, "position": [0, 0.0202, 0.5], "velocity": [2, 0, 0],
     "material": {"density": 1000, "young": 1e6, "poisson": 0.25, "friction": 0}}],
  "obstacles": [{"name": "floor", "plane": {}}],
  "methods": {"peridynamics": {"particles": 400}}
})";

class Friction : public ::testing::TestWithParam<const char*> {};

TEST_P(Friction, EveryBodySlidesWithItsOwn) {
  const Registry registry = registered_methods();
  testing::MethodRun run(registry, k_slabs, {}, GetParam());
  ASSERT_EQ(run.frames(1, run.scene().frame_count()).status, Status::ok);
  const Points x = run.surface();
  const Eigen::Index half = x.rows() / 2;
  const double time = 0.3, way = 2 * time;
  EXPECT_NEAR(x.topRows(half).col(0).mean(), way - 0.5 * 0.5 * 9.81 * time * time, 0.02);
  EXPECT_NEAR(x.bottomRows(half).col(0).mean(), way, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Methods, Friction,
                         ::testing::Values("fem", "rigid", "shape-matching", "mass-spring", "peridynamics"));

}  // namespace
}  // namespace exemplar
