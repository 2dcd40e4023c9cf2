// Step limits against dense sampling of random fast motions.
#include "core/contact/step_limit.h"

#include <gtest/gtest.h>

#include "tests/core/contact/contact_support.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

class StepLimitOfEachShape : public ::testing::TestWithParam<ShapeKind> {};
INSTANTIATE_TEST_SUITE_P(All, StepLimitOfEachShape,
                         ::testing::Values(ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule,
                                           ShapeKind::cylinder, ShapeKind::mesh));

// Random fast motions of sheet and body: on the allowed part of the way the gap stays positive for all pairs
// of the two at densely sampled times (every pair, not only those found), and the limit is not needlessly
// small.
TEST_P(StepLimitOfEachShape, NothingCrossesInRandomFastMotions) {
  const ContactSurface surface = sheet(2, 1.0);
  int limited = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const bool small = trial % 2 == 0;
    Obstacle o = obstacle(GetParam(), small ? 0.05 : 0.4, Vec3(0, 0.8, 0) + random_vector(trial, 50, 0.1));
    const std::vector<ObstacleBody> bodies = make_obstacles({o});
    ContactPotential contact(surface, bodies, {1e-3, 1e4, 1e-3});
    ContactPotential everything(surface, bodies,
                                {100.0, 1e4, 1e-3});  // reach so large that all pairs are found
    const Points x0 = shaken(surface.rest, 0.02, 1000 + trial);
    contact.begin_step(states_of(bodies), x0);
    everything.begin_step(states_of(bodies), x0);
    // Up to 200 m/s in 1/60 s, with up to 6 rad of turn, from an increment that is not zero.
    VecX q0 = VecX::Zero(6), q1(6);
    q0.tail<3>() = random_vector(trial, 60, 0.2);
    q1.head<3>() =
        3.3 * Vec3(0.3 * uniform_random(trial, 1) - 0.15, -1, 0.3 * uniform_random(trial, 2) - 0.15);
    q1.tail<3>() = random_vector(trial, 61, trial % 3 == 0 ? 0.0 : 3.5);
    const Points x1 = shaken(x0, trial % 4 == 0 ? 0.0 : 0.3, 2000 + trial);
    contact.find_pairs(x0, q0, x1, q1);
    const double limit = contact.max_step(x0, q0, x1, q1);
    ASSERT_GT(limit, 0);
    limited += limit < 1;
    everything.find_pairs(x0, q0, x1, q1);
    double smallest = 1e300;
    for (int k = 0; k <= 400; ++k) {
      const double a = limit * k / 400;
      smallest = std::min(smallest, everything.smallest_gap(x0 + a * (x1 - x0), q0 + a * (q1 - q0)));
    }
    EXPECT_GT(smallest, 0) << "trial " << trial << " limit " << limit;
    // A limit below one must have come close to something, and not closer than a fifth of the reach.
    if (limit < 1) {
      const double last = everything.smallest_gap(x0 + limit * (x1 - x0), q0 + limit * (q1 - q0));
      EXPECT_LT(last, 0.25e-3);
      EXPECT_GT(last, 0.15e-3);
    }
  }
  EXPECT_GE(limited, 50);
}

TEST(StepLimit, OvershootIsMeasuredInHalfInnerRadii) {
  const ContactSurface surface = sheet(2, 1.0);
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.2, Vec3(0.1, 0.3, 0.17)),
                      obstacle(ShapeKind::plane, 1, Vec3(0, -3, 0), false)});
  ContactPotential contact(surface, bodies, {1e-3, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), surface.rest);
  const VecX zero = VecX::Zero(12);
  const auto overshoot = [&](double way) {
    VecX end = zero;
    end[1] = -way;
    contact.find_pairs(surface.rest, zero, surface.rest, end);
    return contact.overshoot(surface.rest, zero, surface.rest, end);
  };
  // The ball (radius 0.1) touches after 0.2 m, less the gap that is kept.
  EXPECT_EQ(overshoot(0.1), 0);
  EXPECT_NEAR(overshoot(0.23), 0.03 / 0.05, 0.01);
  EXPECT_NEAR(overshoot(2.2), 2 / 0.05, 0.1);
  // A plane has no behind.
  Points below = surface.rest;
  below.col(1).array() -= 10;
  contact.find_pairs(surface.rest, zero, below, zero);
  EXPECT_LT(contact.max_step(surface.rest, zero, below, zero), 0.31);
  EXPECT_EQ(contact.overshoot(surface.rest, zero, below, zero), 0);
}

}  // namespace
}  // namespace exemplar
