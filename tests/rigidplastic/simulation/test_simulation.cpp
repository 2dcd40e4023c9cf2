#include "core/output/described_state.h"
#include "rigidplastic/simulation/simulation.h"
#include "tests/rigidplastic/simulation/boxes.h"
#include "tests/support/run.h"

#include <gtest/gtest.h>

namespace exemplar::rigid {

namespace {

SceneSettings box_on_floor(const Vec3& velocity, double friction) {
  SceneSettings settings;
  settings.time = {1.0, 60, 4};
  settings.bodies.push_back(box_body("box", {0.4, 0.2, 0.4}, {0, 0.1005, 0}));
  settings.bodies[0].velocity = velocity;
  settings.obstacles.push_back(floor_with(friction));
  return settings;
}

Vec3 sum_on(const std::vector<Contact>& contacts, int object) {
  Vec3 sum = Vec3::Zero();
  for (const Contact& c : contacts) {
    if (c.a == object) sum += c.impulse;
    if (c.b == object) sum -= c.impulse;
  }
  return sum;
}

// The largest difference between a body's change of momentum in a tick and gravity plus logged impulses.
double worst_balance(const SceneSettings& settings, CollisionGeometry geometry, double seconds) {
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(geometry);
  std::vector<Vec3> before(scene.bodies.size());
  double worst = 0;
  TickHooks hooks;
  hooks.before = [&](double) {
    for (std::size_t b = 0; b < before.size(); ++b) before[b] = simulation.bodies()[b].state.velocity;
  };
  hooks.after = [&](double dt) {
    const std::vector<Contact> contacts = simulation.contacts();
    for (std::size_t b = 0; b < before.size(); ++b) {
      const RigidBody& body = simulation.bodies()[b];
      const Vec3 change = body.mass * (body.state.velocity - before[b] - dt * scene.gravity);
      worst = std::max(worst, (change - sum_on(contacts, static_cast<int>(b))).norm() / body.mass);
    }
  };
  for (int frame = 1; scene.frame_time(frame) <= seconds; ++frame)
    simulation.advance(scene.frame_time(frame), k_never, hooks);
  return worst;
}

}  // namespace

TEST(ContactLog, ImpulsesWithFrictionAreTheChangeOfMomentum) {
  EXPECT_LT(worst_balance(box_on_floor({2, 0, 0}, 0.4), CollisionGeometry::hull, 0.5), 1e-12);
  EXPECT_LT(worst_balance(box_on_floor({2, 0, 0}, 0.4), CollisionGeometry::mesh, 0.5), 1e-12);
}

TEST(ContactLog, HoldsAlsoForATumblingStackOfTriangleMeshes) {
  SceneSettings settings = box_on_floor({0, 0, 0}, 0.5);
  for (int k = 1; k < 4; ++k) {
    settings.bodies.push_back(
        box_body("b" + std::to_string(k), {0.3, 0.2, 0.35}, {0.1 * k, 0.1 + 0.25 * k, 0.02 * k}));
    settings.bodies.back().rotation = {Vec3(1, 1, 0), 10.0 * k};
  }
  EXPECT_LT(worst_balance(settings, CollisionGeometry::mesh, 0.6), 1e-12);
}

TEST(ContactLog, VelocitiesAreThoseBeforeTheTick) {
  SceneSettings settings = box_on_floor({0, 0, 0}, 0.5);
  settings.gravity = Vec3::Zero();
  settings.bodies[0].position.y() = 0.13;
  settings.bodies[0].velocity = Vec3(0, -3, 0);
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::hull);
  std::vector<Contact> first;
  TickHooks hooks;
  hooks.after = [&](double) {
    std::vector<Contact> contacts = simulation.contacts();
    std::erase_if(contacts, [](const Contact& c) { return c.normal_impulse == 0; });
    if (first.empty()) first = contacts;
  };
  simulation.advance(scene.frame_time(2), k_never, hooks);
  ASSERT_FALSE(first.empty());
  for (const Contact& c : first) {
    EXPECT_EQ(c.a, 0);
    EXPECT_EQ(c.b, 1);
    EXPECT_LT((c.normal - Vec3::UnitY()).norm(), 1e-12);
    EXPECT_LT((c.velocity_a - Vec3(0, -3, 0)).norm(), 1e-12);
    EXPECT_EQ(c.velocity_b, Vec3::Zero());
  }
}

TEST(Simulation, ARestitutionFactorScalesTheRebound) {
  double rebound[2];
  for (int k = 0; k < 2; ++k) {
    SceneSettings settings = box_on_floor({0, -4, 0}, 0);
    settings.gravity = Vec3::Zero();
    settings.bodies[0].position.y() = 0.2;
    settings.bodies[0].material.restitution = 0.8;
    const Scene scene = make_scene(settings, "");
    Simulation simulation(scene, {});
    simulation.add_scene_bodies(CollisionGeometry::hull);
    if (k == 1) simulation.set_restitution_factor(0, 0.25);
    for (int frame = 1; frame <= 12; ++frame) simulation.advance(scene.frame_time(frame), k_never);
    rebound[k] = simulation.bodies()[0].state.velocity.y();
  }
  EXPECT_NEAR(rebound[0], 3.2, 1e-6);
  EXPECT_NEAR(rebound[1], 0.8, 1e-6);
}

namespace {

// What turns freely: Euler's equations have closed forms for its momentum, its energy and the axis of a symmetric top.
struct FreeTurn {
  Vec3 momentum;  // kg m²/s
  double energy;  // J
  Vec3 axis;      // the body's y
};

FreeTurn turn_of(const RigidBody& body) {
  const Vec3 momentum = spin_momentum(body.state, body.frame.inertia);
  const Vec3 axis = body.state.orientation * Vec3(body.frame.axes.transpose() * Vec3::UnitY());
  return {momentum, 0.5 * momentum.dot(body.state.angular_velocity), axis};
}

std::pair<FreeTurn, FreeTurn> before_and_after(const Vec3& size, const Vec3& velocity, double seconds) {
  SceneSettings settings;
  settings.gravity = Vec3::Zero();
  settings.time = {seconds, 60, 4};
  settings.bodies.push_back(box_body("box", size, Vec3::Zero()));
  settings.bodies[0].angular_velocity = velocity;
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::hull);
  const FreeTurn before = turn_of(simulation.bodies()[0]);
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    simulation.advance(scene.frame_time(frame), k_never, {});
  return {before, turn_of(simulation.bodies()[0])};
}

}  // namespace

TEST(Simulation, AFreeBodyKeepsItsAngularMomentumAndItsEnergy) {
  // About the middle axis it turns over again and again.
  for (const Vec3& velocity : {Vec3(10, 1, 2), Vec3(0.1, 10, 0.1), Vec3(0.1, 0.1, 10)}) {
    const auto [before, after] = before_and_after({0.2, 0.5, 0.1}, velocity, 20);
    EXPECT_NEAR((after.momentum - before.momentum).norm() / before.momentum.norm(), 0, 1e-11);
    EXPECT_NEAR(after.energy / before.energy, 1, 1e-6);
  }
}

TEST(Simulation, ASymmetricTopPrecessesAsEulerSays) {
  const double seconds = 5, width = 0.2, height = 0.6;
  const Vec3 velocity(1, 8, 0);
  const auto [before, after] = before_and_after({width, height, width}, velocity, seconds);
  const double mass_over_inertia = 12 / (width * width + height * height);
  const Vec3 momentum_over_mass(velocity.x() / mass_over_inertia, velocity.y() * width * width / 6, 0);
  const double rate = momentum_over_mass.norm() * mass_over_inertia;
  const Vec3 expected = Eigen::AngleAxisd(rate * seconds, momentum_over_mass.normalized()) * Vec3::UnitY();
  EXPECT_LT((before.axis - Vec3::UnitY()).norm(), 1e-12);
  EXPECT_NEAR((after.axis - expected).norm(), 0, 1e-4);
}

// A wall that is driven at 1 m/s against a box without friction: it leaves with 1 + e.
TEST(Simulation, ADrivenObstacleGivesItsVelocity) {
  for (const double restitution : {0.0, 0.5}) {
    SceneSettings settings = box_on_floor(Vec3::Zero(), 0);
    settings.bodies[0].material.friction = 0;
    ObstacleSettings wall;
    wall.name = "wall";
    wall.box = BoxSettings{Vec3(0.1, 0.15, 0.6)};
    wall.friction = 0;
    wall.restitution = restitution;
    wall.interpolation = Interpolation::linear;
    wall.keyframes = {{0, Vec3(-0.5, 0.1, 0), {}}, {1, Vec3(0.5, 0.1, 0), {}}};
    settings.obstacles.push_back(wall);
    const Scene scene = make_scene(settings, "");
    Simulation simulation(scene, {});
    simulation.add_scene_bodies(CollisionGeometry::hull);
    simulation.advance(0.5, k_never);
    EXPECT_NEAR(simulation.bodies()[0].state.velocity.x(), 1 + restitution,
                0.05);  // Bullet acts before they touch
  }
}

TEST(Simulation, AJointReportsTheWeightItCarries) {
  SceneSettings settings;
  settings.time = {1.0, 60, 4};
  settings.bodies.push_back(box_body("held", {0.2, 0.2, 0.2}, {0, 0, 0}));
  settings.bodies.push_back(box_body("arm", {0.4, 0.1, 0.1}, {0.3, 0, 0}));
  SupportSettings support;
  support.region.all = true;
  settings.bodies[0].supports.push_back(support);
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {0.002, 200});
  simulation.add_scene_bodies(CollisionGeometry::mesh);
  Joint joint{0, 1, {}, {}, {}, {}, true};
  const Vec3 pivot(0.1, 0, 0);
  joint.pivot_a = simulation.bodies()[0].state.to_local(pivot);
  joint.pivot_b = simulation.bodies()[1].state.to_local(pivot);
  joint.frame_a = simulation.bodies()[0].state.orientation.conjugate();
  joint.frame_b = simulation.bodies()[1].state.orientation.conjugate();
  simulation.set_joints({joint});
  JointLoad load;
  double tick = 0;
  TickHooks hooks;
  hooks.after = [&](double dt) {
    load = simulation.joint_load(0);
    tick = dt;
  };
  for (int frame = 1; frame <= 60; ++frame) simulation.advance(scene.frame_time(frame), k_never, hooks);
  const double weight = simulation.bodies()[1].mass * 9.81;
  EXPECT_NEAR(load.impulse.y() / tick, -weight, 1e-3 * weight);                // pulls the held one down
  EXPECT_NEAR(load.angular_impulse.z() / tick, -0.2 * weight, 2e-4 * weight);  // arm of 0.2 m
  EXPECT_LT(std::abs(simulation.bodies()[1].state.position.y()), 1e-3);
}

TEST(Simulation, ObjectsOfOneComponentPassThroughEachOther) {
  SceneSettings settings;
  settings.gravity = Vec3::Zero();
  settings.time = {1.0, 60, 4};
  settings.bodies.push_back(box_body("a", {0.2, 0.2, 0.2}, {0, 0, 0}));
  settings.bodies.push_back(box_body("b", {0.2, 0.2, 0.2}, {0.5, 0, 0}));
  settings.bodies[1].velocity = Vec3(-2, 0, 0);
  const Scene scene = make_scene(settings, "");
  Simulation simulation(scene, {});
  simulation.add_scene_bodies(CollisionGeometry::mesh);
  simulation.set_component(0, 3);
  simulation.set_component(1, 3);
  for (int frame = 1; frame <= 30; ++frame) simulation.advance(scene.frame_time(frame), k_never);
  EXPECT_NEAR(simulation.bodies()[1].state.position.x(), -0.5, 1e-9);
}

// Half of the ticks refit the triangles: the saved state and the vertices are all there is to the future.
TEST(Simulation, ReshapingInMidFrameAndGoingOnFromASavedStateGiveTheSameBits) {
  SceneSettings settings = box_on_floor({1, 0, 0.3}, 0.5);
  settings.bodies[0].position.y() = 0.4;
  settings.bodies[0].rotation = {Vec3(1, 0, 1), 25};
  const Scene scene = make_scene(settings, "");
  const Points model = scene.bodies[0].surface().vertices;
  auto shape_at = [&](double time) {
    Points points = model;
    const double share = std::min(1.0, 2 * time);
    for (Eigen::Index i = 0; i < points.rows(); ++i)
      if (points(i, 0) > 0) points(i, 0) *= 1 - 0.4 * share;
    return points;
  };
  double shaped_at = 0;  // may differ from the end of the frame by rounding
  auto reshape = [&](Simulation& simulation) {
    shaped_at = simulation.time();
    const Points points = shape_at(shaped_at);
    const Triangles& triangles = scene.bodies[0].surface().triangles;
    const MassProperties mass = solid_mass_properties(
        points, triangles, simulation.bodies()[0].mass / signed_volume(points, triangles));
    const BodyFrame frame = principal_frame(mass, simulation.bodies()[0].frame.axes);
    simulation.reshape(0, frame, frame.to_local(points));
  };
  auto run = [&](Simulation& simulation, int from, int to) {
    TickHooks hooks;
    hooks.after = [&](double) { reshape(simulation); };
    for (int frame = from; frame <= to; ++frame) simulation.advance(scene.frame_time(frame), k_never, hooks);
  };
  Simulation whole(scene, {}), first(scene, {}), second(scene, {});
  for (Simulation* s : {&whole, &first, &second}) s->add_scene_bodies(CollisionGeometry::mesh);
  run(whole, 1, 40);
  run(first, 1, 20);
  SimulationState saved;
  read_state(StateReader(arrays_of_state(first.state())), saved);
  second.restore(saved);
  second.restore_shape(0, second.bodies()[0].frame.to_local(shape_at(shaped_at)));
  run(second, 21, 40);
  EXPECT_TRUE(same_state(whole.state(), second.state()));
}

}  // namespace exemplar::rigid
