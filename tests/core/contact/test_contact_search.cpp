// The search against trying every pair at densely sampled times.
#include "core/contact/contact_search.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/core/contact/contact_support.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

using Key = std::array<int, 6>;

Key key_of(const ContactPair& p) {
  return {static_cast<int>(p.kind), p.shape, p.points[0], p.points[1], p.points[2], p.points[3]};
}

TEST(ContactSearch, FindsEveryPairThatComesWithinReachOnTheWay) {
  const ContactSurface surface = sheet(3, 1.0);
  constexpr double reach = 0.02;
  std::size_t expected = 0;
  for (std::uint64_t trial = 0; trial < 12; ++trial) {
    const std::vector<ObstacleBody> bodies =
        make_obstacles({obstacle(trial % 2 ? ShapeKind::mesh : ShapeKind::box, 0.3, Vec3(0, 0.3, 0)),
                        obstacle(ShapeKind::sphere, 0.2, Vec3(0.2, 0.5, 0.1))});
    const ContactPoints near(surface, bodies, {reach, 1, 1}), all(surface, bodies, {100, 1, 1});
    const Points x0 = shaken(surface.rest, 0.02, trial), x1 = shaken(x0, 0.2, 100 + trial);
    VecX q0 = VecX::Zero(12), q1 = VecX::Zero(12);
    q1.head<3>() = random_vector(trial, 3, 0.5);
    q1.segment<3>(3) = random_vector(trial, 4, 1.0);
    q1.segment<3>(6) = random_vector(trial, 5, 0.5);
    const ContactPath path{q0, q1, near.place(x0, q0), near.place(x1, q1)};
    std::set<Key> found;
    for (const ContactPair& pair : find_contact_pairs(near, path)) found.insert(key_of(pair));
    const std::vector<ContactPair> candidates = find_contact_pairs(all, path);
    for (int k = 0; k <= 50; ++k) {
      const double a = k / 50.0;
      const ContactPoints::Placed at = all.placed(x0 + a * (x1 - x0), path.at(a));
      for (const ContactPair& pair : candidates) {
        if (all.gap(pair, at) >= reach) continue;
        ++expected;
        EXPECT_TRUE(found.count(key_of(pair))) << "trial " << trial << " at " << a;
      }
    }
    EXPECT_LT(found.size(), candidates.size());
  }
  EXPECT_GT(expected, 1000u);
}

// Two triangles side by side over a floor, bodies of their own.
ContactSurface two_bodies() {
  ContactSurface one;
  one.map = PointMap::identity(3);
  one.rest.resize(3, 3);
  one.rest << 0, 0, 0, 1, 0, 0, 0, 0, 1;
  one.triangles.resize(1, 3);
  one.triangles << 0, 2, 1;
  ContactSurface other = one, all;
  other.rest.col(0).array() += 5;
  one.bodies = {{1e-3, 2e4, 0.1}};
  other.bodies = {{1e-2, 5e3, 0.8}};
  append(all, one, 0);
  append(all, other, 3);
  return all;
}

TEST(ContactSearch, ReachAndStiffnessBelongToThePair) {
  const ContactSurface surface = two_bodies();
  const std::vector<ObstacleBody> floor =
      make_obstacles({obstacle(ShapeKind::plane, 1, Vec3(0, -5e-3, 0), false)});
  ContactPotential contact(surface, floor, {1e-2, 2e4, 1e-3});
  const VecX q = VecX::Zero(6);
  contact.begin_step(states_of(floor), surface.rest);
  contact.find_pairs(surface.rest, q, surface.rest, q);
  // 5 mm above the floor only the second body is within its reach.
  const std::vector<ContactBlock> blocks = contact.blocks(surface.rest, q, Derivatives::gradient);
  ASSERT_EQ(blocks.size(), 3u);
  for (const ContactBlock& block : blocks) EXPECT_GE(block.points[0], 3);
  for (const ContactPair& pair : contact.pairs()) {
    EXPECT_EQ(pair.reach, pair.points[0] < 3 ? 1e-3 : 1e-2);
    EXPECT_EQ(pair.stiffness, pair.points[0] < 3 ? 2e4 : 5e3);
  }
  EXPECT_EQ(contact.points().smallest_reach(), 1e-3);
  EXPECT_EQ(contact.points().largest_reach(), 1e-2);
}

TEST(ContactSearch, FrictionIsTheObstaclesOwnOrThatOfTheTouchingBody) {
  const ContactSurface surface = two_bodies();
  Obstacle silent = obstacle(ShapeKind::plane, 1, Vec3(0, -5e-4, 0), false);
  silent.friction = 0.33;
  silent.has_friction = false;
  for (const bool says : {false, true}) {
    silent.has_friction = says;
    const std::vector<ObstacleBody> floor = make_obstacles({silent});
    ContactPotential contact(surface, floor, {1e-3, 1e4, 1e-3});
    const VecX q = VecX::Zero(6);
    contact.find_pairs(surface.rest, q, surface.rest, q);
    ASSERT_EQ(contact.pairs().size(), 6u);
    for (const ContactPair& pair : contact.pairs())
      EXPECT_EQ(contact.points().friction_of(pair), says ? 0.33 : pair.points[0] < 3 ? 0.1 : 0.8);
  }
}

TEST(ContactSearch, GapsAreMeasuredBetweenThickSurfaces) {
  ContactSurface surface = sheet(2, 1.0);
  surface.radius = VecX::Constant(surface.map.size(), 0.05);
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::plane, 1, Vec3(0, -0.06, 0), false),
                      obstacle(ShapeKind::sphere, 0.2, Vec3(0.1, 0.17, 0.2), false)});
  ContactPotential contact(surface, bodies, {0.03, 1e4, 1e-3});
  const VecX q = VecX::Zero(12);
  contact.find_pairs(surface.rest, q, surface.rest, q);
  double floor_gap = 1, ball_gap = 1;
  const ContactPoints::Placed at = contact.points().placed(surface.rest, q);
  for (const ContactPair& pair : contact.pairs()) {
    const bool floor = contact.points().obstacles_of(pair)[0] == 0;
    double& gap = floor ? floor_gap : ball_gap;
    gap = std::min(gap, contact.points().gap(pair, at));
  }
  EXPECT_NEAR(floor_gap, 0.06 - 0.05, 1e-12);
  EXPECT_NEAR(ball_gap, 0.17 - 0.1 - 0.05, 1e-12);
  // The step limit stops a fall before the thick surface meets the floor.
  Points down = surface.rest;
  down.col(1).array() -= 1;
  contact.find_pairs(surface.rest, q, down, q);
  const double limit = contact.max_step(surface.rest, q, down, q);
  EXPECT_GT(limit, 0.5 * 0.01);
  EXPECT_LT(limit, 0.01);
}

}  // namespace
}  // namespace exemplar
