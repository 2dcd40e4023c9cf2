// Supports, loads and controllers against closed forms: selected nodes, prescribed motion, total force,
// moment and impulse, controller inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "core/world/controllers.h"
#include "core/world/loads.h"
#include "core/world/rotation.h"
#include "core/world/supports.h"

namespace exemplar {
namespace {

Points grid() {
  Points p(27, 3);
  for (int i = 0; i < 27; ++i) p.row(i) << i % 3, i / 3 % 3, i / 9;
  return p;
}

// The face z = 2 of the grid as eight triangles, outwards.
Triangles top() {
  Triangles t(8, 3);
  int k = 0;
  for (int i : {0, 1, 3, 4}) {
    const int a = 18 + i;
    t.row(k++) << a, a + 1, a + 4;
    t.row(k++) << a, a + 4, a + 3;
  }
  return t;
}

VecX masses() {
  VecX m(27);
  for (int i = 0; i < 27; ++i) m[i] = 1 + 0.1 * i;
  return m;
}

Region top_region() {
  Region r;
  r.kind = RegionKind::half_space;
  r.centre = Vec3(0, 0, 2);
  r.normal = Vec3(0, 0, 3);
  return r;
}

Vec3 moment(const Points& x, const Points& f) {
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index i = 0; i < x.rows(); ++i) sum += Vec3(x.row(i)).cross(Vec3(f.row(i)));
  return sum;
}

TEST(Region, SelectsNodes) {
  const Points p = grid();
  EXPECT_EQ(select_nodes(Region{}, p).size(), 27u);
  EXPECT_EQ(select_nodes(top_region(), p).size(), 9u);
  Region box;
  box.kind = RegionKind::box;
  box.centre = Vec3(0, 1, 1);
  box.size = Vec3(0.1, 2, 2);
  EXPECT_EQ(select_nodes(box, p).size(), 9u);
  box.rotation = Vec3(0, 0, std::numbers::pi / 2);
  EXPECT_EQ(select_nodes(box, p).size(), 6u);  // x from −1 to 1, y near 1
  Region sphere;
  sphere.kind = RegionKind::sphere;
  sphere.centre = Vec3(1, 1, 1);
  EXPECT_EQ(select_nodes(sphere, p).size(), 7u);
  Region cylinder;
  cylinder.kind = RegionKind::cylinder;
  cylinder.centre = Vec3(1, 1, 1);
  cylinder.axis = Vec3(0, 2, 0);
  EXPECT_EQ(select_nodes(cylinder, p).size(), 15u);  // three layers of five
  cylinder.hollow = 0.5;
  EXPECT_EQ(select_nodes(cylinder, p).size(), 12u);  // without those on its axis
  cylinder.axis = Vec3(1, 0, 0);
  EXPECT_EQ(select_nodes(cylinder, p).size(), 4u);  // the middle layer alone
  cylinder.hollow = 1;
  EXPECT_THROW(check_region(cylinder), InputError);
  Region nearest;
  nearest.kind = RegionKind::nearest;
  nearest.points = {Vec3(2.2, 2.3, 2.1), Vec3(0.1, 0, 0), Vec3(0, 0.2, 0)};
  EXPECT_EQ(select_nodes(nearest, p), (std::vector<int>{0, 26}));
  nearest.points.clear();
  EXPECT_THROW(check_region(nearest), InputError);
}

TEST(Supports, MoveAsToldAndLetGo) {
  Support turn;
  turn.region = top_region();
  turn.centre = Vec3(1, 1, 0);
  turn.keyframes = {{0, Vec3::Zero(), Vec3::Zero()}, {2, Vec3(0, 0, 0.5), Vec3(0, 0, 3)}};
  turn.release_time = 1.5;
  Support roller;
  roller.region.kind = RegionKind::nearest;
  roller.region.points = {Vec3(0, 0, 0)};
  roller.x = false;
  const Points p = grid();
  const SupportSet set({turn, roller}, "b", p);
  EXPECT_EQ(set.nodes().size(), 10u);
  const auto held = set.at(1.0);
  ASSERT_EQ(held.size(), 10u);
  EXPECT_FALSE(held[0].held[0]);
  EXPECT_TRUE(held[0].held[1]);
  for (std::size_t k = 1; k < held.size(); ++k) {
    const Vec3 arm = exp_rotation(Vec3(0, 0, 1.5)) * (Vec3(p.row(held[k].node)) - turn.centre);
    EXPECT_LT((held[k].position - (turn.centre + Vec3(0, 0, 0.25) + arm)).norm(), 1e-14);
    EXPECT_LT((held[k].velocity - (Vec3(0, 0, 0.25) + Vec3(0, 0, 1.5).cross(arm))).norm(), 1e-14);
  }
  EXPECT_EQ(set.at(1.5).size(), 1u);
  turn.region.centre.z() = 9;
  EXPECT_THROW(SupportSet({turn}, "b", p), InputError);
}

TEST(Supports, ThatOverlapCombineAxisByAxis) {
  Support clamp, plane, lift;
  clamp.region = top_region();
  plane.x = plane.y = false;  // plane strain: all nodes keep their z
  lift.region = top_region();
  lift.x = lift.y = false;
  lift.keyframes = {{0, Vec3::Zero(), Vec3::Zero()}, {1, Vec3(5, 5, 1), Vec3::Zero()}};
  const Points p = grid();
  for (const SupportedNode& node : SupportSet({clamp, plane}, "b", p).at(0)) {
    const bool is_clamped = p(node.node, 2) == 2;
    EXPECT_EQ(node.held, (std::array<bool, 3>{is_clamped, is_clamped, true})) << node.node;
    EXPECT_EQ(node.support, (std::array<int, 3>{is_clamped ? 0 : -1, is_clamped ? 0 : -1, 1})) << node.node;
    if (is_clamped) {
      EXPECT_EQ(node.position, Vec3(p.row(node.node)));
    }
  }
  for (const SupportedNode& node : SupportSet({clamp, lift}, "b", p).at(1)) {
    EXPECT_EQ(node.held, (std::array<bool, 3>{true, true, true}));
    EXPECT_LT((node.position - Vec3(p.row(node.node)) - Vec3(0, 0, 1)).norm(),
              1e-14);  // the last one that holds z
  }
}

// Up to 1, down to −½, cut at both ends.
TEST(Loads, ACurveIsFollowedExactly) {
  Load load;
  load.region = top_region();
  load.value = Vec3(2, 0, 0);
  load.start = 0.05;
  load.end = 0.5;
  load.curve = Curve{{0, 0.1, 0.3}, {0, 1, -0.5}, Interpolation::linear};
  const Points p = grid();
  const LoadSet set({load}, "b", p, masses(), top());
  for (const int steps : {3, 7, 100}) {
    double impulse = 0;
    for (int i = 0; i < steps; ++i)
      impulse += set.forces(p, 0.6 * i / steps, 0.6 * (i + 1) / steps).sum() * 0.6 / steps;
    // 0.05 to 0.1: mean 0.75; 0.1 to 0.3: mean 0.25; 0.3 to 0.5: −0.5.
    EXPECT_NEAR(impulse, 2 * (0.05 * 0.75 + 0.2 * 0.25 - 0.2 * 0.5), 1e-12) << steps;
  }
}

TEST(Loads, ImpulseIsTheSameForEveryStepSize) {
  Load load;
  load.region = top_region();
  load.value = Vec3(3, -4, 5);
  load.start = 0.1;
  load.end = 1.0;
  load.ramp_up = 0.2;
  load.ramp_down = 0.3;
  const LoadSet set({load}, "b", grid(), masses(), top());
  const double area = 0.9 - 0.1 - 0.15;
  for (const int steps : {3, 7, 100}) {
    Vec3 impulse = Vec3::Zero();
    for (int i = 0; i < steps; ++i) {
      const double h = 1.2 / steps;
      impulse += h * Vec3(set.forces(grid(), i * h, (i + 1) * h).colwise().sum());
    }
    EXPECT_LT((impulse - area * load.value).norm(), 1e-13);
  }
  double sum = 0;
  for (int i = 0; i < 120000; ++i) sum += 1e-5 * load.window().at((i + 0.5) * 1e-5);
  EXPECT_NEAR(sum, area, 1e-9);
}

TEST(Loads, TotalsAreAsStated) {
  const Points x = grid();
  Load load;
  load.region = top_region();
  load.value = Vec3(2, -7, 3);
  const auto forces = [&](LoadKind kind) {
    load.kind = kind;
    return LoadSet({load}, "b", x, masses(), top()).forces(x, 0, 0.1);
  };
  EXPECT_LT((Vec3(forces(LoadKind::force).colwise().sum()) - load.value).norm(), 1e-14);
  EXPECT_LT((Vec3(forces(LoadKind::traction).colwise().sum()) - 4 * load.value).norm(), 1e-13);
  EXPECT_LT((Vec3(forces(LoadKind::acceleration).row(20)) - 3.0 * load.value).norm(), 1e-14);
  const Points torque = forces(LoadKind::torque);
  EXPECT_LT(Vec3(torque.colwise().sum()).norm(), 1e-13);
  EXPECT_LT((moment(x, torque) - load.value).norm(), 1e-13);
  load.magnitude = 5;
  EXPECT_LT((Vec3(forces(LoadKind::pressure).colwise().sum()) - Vec3(0, 0, -20)).norm(), 1e-13);
}

TEST(Loads, FollowersTurnWithTheRegion) {
  const Points x = grid();
  const Mat3 r = exp_rotation(Vec3(0.4, -0.8, 1.1));
  const Points turned = (x * r.transpose()).rowwise() + Vec3(1, 2, 3).transpose();
  Load load;
  load.value = Vec3(2, -7, 3);
  for (const LoadKind kind : {LoadKind::force, LoadKind::acceleration, LoadKind::torque}) {
    load.kind = kind;
    load.follower = true;
    const LoadSet follower({load}, "b", x, masses(), top());
    EXPECT_LT((follower.forces(turned, 0, 1) - follower.forces(x, 0, 1) * r.transpose()).norm(), 1e-12);
    load.follower = false;
    const LoadSet dead({load}, "b", x, masses(), top());
    if (kind != LoadKind::torque) {
      EXPECT_LT((dead.forces(turned, 0, 1) - dead.forces(x, 0, 1)).norm(), 1e-12);
    }
  }
}

TEST(Controllers, ReadTheirInputs) {
  const Points x = grid();
  Controller c;
  c.kind = ControllerKind::joint_angle;
  c.points = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(2, 1, 0)};
  c.curve = {{0, std::numbers::pi}, {1, 0}, Interpolation::linear};
  const PreparedController joint(c, x);
  BodySignals s;
  s.positions = &x;
  EXPECT_NEAR(joint.input(s), 0.75 * std::numbers::pi, 1e-14);
  EXPECT_NEAR(joint.weight(s), 0.25, 1e-14);
  c.kind = ControllerKind::turn_angle;
  const PreparedController turn(c, x);
  EXPECT_EQ(turn.input(s), 0);
  s.com_velocity = Vec3(3, 0, 0);
  s.com_acceleration = Vec3(0, 0, -2);  // to the left of +x seen from above
  EXPECT_NEAR(turn.input(s), std::numbers::pi / 2, 1e-14);
  s.com_acceleration = Vec3(0, 0, 2);
  EXPECT_NEAR(turn.input(s), -std::numbers::pi / 2, 1e-14);
  c.kind = ControllerKind::com_velocity;
  c.direction = Vec3(2, 0, 0);
  EXPECT_NEAR(PreparedController(c, x).input(s), 3, 1e-14);
  c.kind = ControllerKind::time;
  s.time = std::numbers::pi / 4;
  EXPECT_NEAR(PreparedController(c, x).weight(s), 0.75, 1e-14);
  c.direction.setZero();
  EXPECT_THROW(PreparedController(c, x), InputError);
}

}  // namespace
}  // namespace exemplar
