// A ball that is led through a triangle of free nodes takes them along; where they are pinched it stops.
#include "core/implicit/prescribed_motion.h"

#include <gtest/gtest.h>

#include "tests/core/implicit/implicit_support.h"

namespace exemplar {
namespace {

constexpr double k_reach = 0.01, k_radius = 0.3;

// The ball goes from y = 1 to y = −1; the triangle lies in y = 0.
struct Push {
  std::vector<ObstacleBody> obstacles;
  std::vector<ObstacleState> states;
  Points x = testing::triangle().rest;
  VecX q, q_end;

  explicit Push(bool with_floor) {
    Obstacle moving = testing::ball(k_radius, 0, Vec3(0.1, 1, 0));
    moving.kind = ObstacleKind::keyframed;
    moving.keyframes = {{0, Vec3(0.1, 1, 0), Vec3::Zero()}, {1, Vec3(0.1, -1, 0), Vec3::Zero()}};
    std::vector<Obstacle> all{moving};
    if (with_floor) {
      Obstacle floor;
      floor.name = "floor";
      floor.position = Vec3(0, -0.5, 0);
      all.push_back(floor);
    }
    obstacles = make_obstacles(all);
    for (const ObstacleBody& o : obstacles) states.push_back(o.initial_state());
    q = VecX::Zero(6 * to_row(obstacles.size()));
    q_end = q;
    q_end[1] = -2;
  }
};

double gap_at(ContactPotential& contact, const Points& x, const VecX& q) {
  contact.find_pairs(x, q, x, q);
  return contact.smallest_gap(x, q);
}

TEST(PrescribedMotion, FreeNodesAreCarriedAlongWithoutOverlap) {
  Push push(false);
  ContactPotential contact(testing::triangle(), push.obstacles, {k_reach, 1, 1});
  contact.begin_step(push.states, push.x);
  const Points end = push.x;
  PrescribedMotion motion(contact, push.obstacles, push.states, {}, push.q_end, end);
  Points x = push.x;
  VecX q = push.q;
  EXPECT_TRUE(motion.advance(x, q));
  EXPECT_EQ(motion.progress(), 1);
  EXPECT_LT((q - push.q_end).norm(), 1e-14);
  const double gap = gap_at(contact, x, q);
  EXPECT_GT(gap, 0);
  // All three nodes belong to the pair: they went down as one, to just below the ball.
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(x(i, 1), -1 - k_radius - gap, 1e-9);
    EXPECT_NEAR(x(i, 0), push.x(i, 0), 1e-12);
  }
}

TEST(PrescribedMotion, StopsWhereNodesArePinchedAndGoesOnWhenTheyAreOut) {
  Push push(true);
  ContactPotential contact(testing::triangle(), push.obstacles, {k_reach, 1, 1});
  contact.begin_step(push.states, push.x);
  const Points end = push.x;
  PrescribedMotion motion(contact, push.obstacles, push.states, {}, push.q_end, end);
  Points x = push.x;
  VecX q = push.q;
  EXPECT_FALSE(motion.advance(x, q));
  EXPECT_GT(gap_at(contact, x, q), 0);
  // The ball's centre can come down to one radius above the floor, where the triangle lies between them.
  EXPECT_NEAR(motion.progress(), (1 - (-0.5 + k_radius)) / 2, 2 * k_reach);
  EXPECT_LE(motion.progress(), (1 - (-0.5 + k_radius)) / 2);
  // Something else takes the nodes away: nothing is carried any more, and the ball goes on.
  x.col(0).array() += 10;
  motion.release();
  EXPECT_TRUE(motion.advance(x, q));
  EXPECT_NEAR(x.col(0).mean(), 10, 1e-12);
}

TEST(PrescribedMotion, HeldNodesGoToTheirTargetsWithTheObstacle) {
  Push push(false);
  ContactPotential contact(testing::triangle(), push.obstacles, {k_reach, 1, 1});
  contact.begin_step(push.states, push.x);
  Points end = push.x;
  end.col(1).setConstant(-3);  // ahead of the ball at every moment
  std::vector<SupportedNode> held;
  for (int i = 0; i < 3; ++i) held.push_back({i, {true, true, true}, Vec3(end.row(i)), Vec3::Zero()});
  PrescribedMotion motion(contact, push.obstacles, push.states, held, push.q_end, end);
  Points x = push.x;
  VecX q = push.q;
  EXPECT_TRUE(motion.advance(x, q));
  EXPECT_EQ(x, end);
}

}  // namespace
}  // namespace exemplar
