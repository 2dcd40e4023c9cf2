#include "core/run/stepping.h"

#include <gtest/gtest.h>

#include <vector>

namespace exemplar {
namespace {

TEST(HalvingClock, EndsOnTheFrameExactlyWithEqualSteps) {
  HalvingClock clock(0.1, 0.1 + 1.0 / 30, 0.007, 10);
  int steps = 0;
  for (; !clock.done(); ++steps) {
    EXPECT_NEAR(clock.dt(), 1.0 / 150, 1e-15);
    clock.advance();
  }
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(clock.time(), 0.1 + 1.0 / 30);
}

TEST(HalvingClock, HalvedStepsGrowAgainOnMultiplesOfThemselves) {
  HalvingClock clock(0, 1, 0.5, 3);
  clock.halve();
  clock.halve();
  std::vector<double> sizes;
  for (; !clock.done(); clock.advance()) sizes.push_back(clock.dt());
  EXPECT_EQ(sizes, (std::vector<double>{0.125, 0.125, 0.25, 0.5}));
  EXPECT_EQ(clock.time(), 1);
}

TEST(HalvingClock, StopsHalvingAtTheSmallestStep) {
  HalvingClock clock(0, 1, 1, 2);
  EXPECT_TRUE(clock.can_halve());
  clock.halve();
  clock.halve();
  EXPECT_FALSE(clock.can_halve());
  EXPECT_EQ(clock.dt(), 0.25);
}

TEST(HalvingClock, NothingToDoWhenTheTimeHasCome) {
  EXPECT_TRUE(HalvingClock(2, 2, 0.1, 3).done());
}

TEST(AdvanceInSteps, EndsOnTheFrameAndStopsWhereItIsToldTo) {
  double time = 0.1;
  std::vector<double> sizes;
  const auto take = [&](double dt, StepReport& report) {
    sizes.push_back(dt);
    time += dt;
    ++report.steps;
  };
  const auto run = [&](double until, bool interrupt, bool finite) {
    return advance_in_steps(
        time, until, 0.04, [&] { return interrupt; }, take, [&] { return finite; });
  };
  EXPECT_EQ(run(0.2, false, true).steps, 3);
  EXPECT_EQ(time, 0.2);
  EXPECT_NEAR(sizes.back(), 0.02, 1e-15);
  EXPECT_EQ(run(0.3, true, true).status, Status::interrupted);
  EXPECT_EQ(time, 0.2);
  const StepReport failed = run(0.3, false, false);
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.steps, 1);
  EXPECT_LT(time, 0.3);
}

TEST(SetMotion, AgreesWithTwoBodiesByHand) {
  Diagnostics d;
  const Points x = (Points(2, 3) << 1, 0, 0, -1, 2, 0).finished();
  const Points v = (Points(2, 3) << 0, 3, 0, 0, 0, 1).finished();
  set_motion(d, VecX{{2, 1}}, x, v);
  EXPECT_EQ(d.mass, 3);
  EXPECT_LT((d.centre_of_mass - Vec3(1, 2, 0) / 3).norm(), 1e-15);
  EXPECT_EQ(d.linear_momentum, Vec3(0, 6, 1));
  EXPECT_EQ(d.angular_momentum, Vec3(2, 1, 6));  // 2 (1,0,0)×(0,3,0) + (−1,2,0)×(0,0,1)
  EXPECT_EQ(d.kinetic_energy, 9.5);
}

}  // namespace
}  // namespace exemplar
