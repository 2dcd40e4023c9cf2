// The shipped scenes of sheets, coarser and shorter than they are: which example is active when, and that it
// shows.
#include <cmath>
#include <iostream>

#include "tests/shells/shell_run.h"

namespace exemplar::testing {
namespace {

TEST(ShellScenes, TheDirectionOfThePullChoosesTheExample) {
  ShellRun run(shipped_scene("stretching-sheet"),
               {"bodies[0].surface.sheet.resolution_x=10", "bodies[0].surface.sheet.resolution_z=10",
                "bodies[1].surface.sheet.resolution_x=10", "bodies[1].surface.sheet.resolution_z=10",
                "time.steps_per_frame=1"});
  ASSERT_EQ(run.frames(1, 40).status, Status::ok);
  EXPECT_GT(run.extra("weight_along-x_ridges"), 0.5);
  EXPECT_LT(run.extra("weight_along-x_bumps"), 0.2);
  EXPECT_GT(run.extra("weight_along-z_bumps"), 0.5);
  EXPECT_LT(run.extra("weight_along-z_ridges"), 0.2);
}

// The wrinkles of a drape that hangs from a rod along x: how far vertices stand out of the mean of their row.
VecX wrinkles(const ShellRun& run) {
  const Points x = run.surface();
  const Points& flat = run.scene().bodies[0].surface().vertices;
  VecX out(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double sum = 0, count = 0;
    for (Eigen::Index k = 0; k < x.rows(); ++k) {
      if (std::abs(flat(k, 1) - flat(i, 1)) > 1e-6) continue;
      sum += x(k, 2);
      ++count;
    }
    out[i] = x(i, 2) - sum / count;
  }
  return out;
}

double rms(const VecX& values) {
  return std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
}

TEST(ShellScenes, TheDrapeWrinklesOtherwiseForwardsThanBackwards) {
  const std::vector<std::string> coarse{"bodies[0].surface.sheet.resolution_x=20",
                                        "bodies[0].surface.sheet.resolution_z=14", "time.steps_per_frame=1"};
  ShellRun run(shipped_scene("swinging-drape"), coarse);
  ASSERT_EQ(run.frames(1, 20).status, Status::ok);  // 0.8 s: on its way forwards
  EXPECT_GT(run.extra("weight_drape_forwards"), 0.5);
  EXPECT_LT(run.extra("weight_drape_backwards"), 0.2);
  const VecX forwards = wrinkles(run);
  ASSERT_EQ(run.frames(21, 45).status, Status::ok);  // 1.8 s: on its way back
  EXPECT_GT(run.extra("weight_drape_backwards"), 0.5);
  EXPECT_LT(run.extra("weight_drape_forwards"), 0.2);
  const VecX backwards = wrinkles(run);
  std::cout << "wrinkles, rms: forwards " << rms(forwards) << " m, backwards " << rms(backwards)
            << " m, difference " << rms(forwards - backwards) << " m\n";
  EXPECT_GT(rms(forwards), 0.005);
  EXPECT_GT(rms(backwards), 0.005);
  // As unlike as two patterns that have nothing in common: the difference is no smaller than either.
  EXPECT_GT(rms(forwards - backwards), 0.8 * std::max(rms(forwards), rms(backwards)));
}

}  // namespace
}  // namespace exemplar::testing
