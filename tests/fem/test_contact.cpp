// Solids against obstacles in one minimisation: momentum exchange with a dynamic sphere, and nothing passes
// through.
#include <gtest/gtest.h>

#include "core/mesh/volume/tet_box.h"
#include "fem/scene_bodies.h"
#include "fem/solid_model.h"

namespace exemplar::fem {
namespace {

ContactSurface boundary(const TetMesh& mesh) {
  ContactSurface surface;
  surface.map = PointMap::identity(static_cast<int>(mesh.vertices.rows()));
  surface.triangles = boundary_triangles(mesh);
  surface.rest = mesh.vertices;
  return surface;
}

SolidModel box_model(const TetMesh& mesh, const Vec3& velocity, std::vector<Obstacle> obstacles,
                     const Vec3& gravity) {
  SolidBody body;
  body.mesh = mesh;
  body.energy = ModifiedStVK{1e5, 2e5};
  body.velocities = Points::Zero(mesh.vertices.rows(), 3).rowwise() + velocity.transpose();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  SolidModel model({std::move(body)}, std::move(options));
  model.solver().add_contact(boundary(mesh), make_obstacles(obstacles), default_contact_options(1, 2.6e5),
                             gravity);
  return model;
}

TEST(FemContact, FreeBodyAndDynamicSphereExchangeMomentumExactly) {
  Obstacle ball;
  ball.name = "ball";
  ball.kind = ObstacleKind::dynamic;
  ball.shape.kind = ShapeKind::sphere;
  ball.shape.radius = 0.1;
  ball.mass = 5;
  ball.position = Vec3(0.03, 0.32, 0.01);
  ball.velocity = Vec3(0, -4, 0);
  SolidModel model = box_model(tet_box({1, 0.4, 1}, {5, 3, 5}), Vec3::Zero(), {ball}, Vec3::Zero());
  const auto momentum = [&]() -> Vec3 {
    return Vec3(model.solver().state().velocities.transpose() * model.solver().masses()) +
           ball.mass * model.solver().state().obstacles[0].velocity;
  };
  const Vec3 before = momentum();
  double smallest = 1;
  for (int step = 0; step < 40; ++step) {
    StepInput input;
    input.dt = 0.0025;
    input.time = input.dt * (step + 1);
    const StepOutcome outcome = model.step(input);
    ASSERT_EQ(outcome.status, StepStatus::ok) << outcome.newton.message();
    smallest = std::min(smallest, model.solver().smallest_gap());
  }
  EXPECT_GT(smallest, 0);
  EXPECT_GT(model.solver().state().obstacles[0].velocity.y(), -2);  // it did hit
  EXPECT_LT((momentum() - before).norm(), 1e-12 * before.norm());   // of 400 kg at x/h = 200 m/s
}

TEST(FemContact, NothingPassesThroughAPlaneAtAnySpeed) {
  Obstacle ground;
  ground.name = "ground";
  ground.shape.kind = ShapeKind::plane;
  for (const double speed : {1.0, 30.0}) {
    TetMesh mesh = tet_box({0.5, 0.5, 0.5}, {3, 3, 3});
    mesh.vertices.col(1).array() += 0.35;
    SolidModel model = box_model(mesh, Vec3(0, -speed, 0), {ground}, Vec3::Zero());
    for (int step = 0; step < 15; ++step) {
      StepInput input;
      input.dt = 0.02;
      input.time = input.dt * (step + 1);
      const StepOutcome outcome = model.step(input);
      ASSERT_EQ(outcome.status, StepStatus::ok) << outcome.newton.message();
      // Of the surface: at 30 m/s the only node inside overtakes it for a moment, which contact does not
      // forbid.
      const Points& x = model.solver().state().positions;
      const Triangles border = boundary_triangles(mesh);
      for (const int node : border.reshaped()) EXPECT_GT(x(node, 1), 0);
    }
    EXPECT_GT(model.solver().state().velocities.col(1).mean(), 0);  // it bounced off
  }
}

// Even when Newton's method and conjugate gradients stop early; what is held takes no part in it.
TEST(FemContact, LoosenedSolverKeepsTheMomentumOfFreeBodies) {
  const Vec3 gravity(0, -9.81, 0);
  SolidBody free, held;
  free.mesh = tet_box({0.5, 0.5, 0.5}, {3, 3, 3});
  free.energy = ModifiedStVK{1e5, 2e5};
  free.velocities = Points::Zero(free.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < free.velocities.rows(); ++i) {
    const Vec3 x = free.mesh.vertices.row(i).transpose();
    free.velocities.row(i) = (Vec3(1, 2, 3) + Vec3(5, 0, 8).cross(x) + 10 * x.cwiseProduct(x)).transpose();
  }
  held = free;
  held.mesh.vertices.col(0).array() += 2;
  held.velocities.setZero();
  ImplicitOptions options;
  options.linear = LinearMethod::iterative;
  options.newton.force_tolerance = 0.1;
  SolidModel model({free, held}, std::move(options));
  const VecX masses = model.solver().masses();
  const int first = model.first_node(1);
  const Points rest = model.body_positions(1);
  const auto momentum = [&]() -> Vec3 { return model.body_velocities(0).transpose() * masses.head(first); };
  const Vec3 before = momentum();
  StepInput input;
  input.dt = 0.01;
  input.forces = Points::Zero(masses.size(), 3);
  input.forces.topRows(first) = masses.head(first) * gravity.transpose();
  input.held = {{first, {true, true, true}, rest.row(0).transpose()},
                {first + 5, {true, false, false}, rest.row(5).transpose()}};
  const int steps = 20;
  for (int step = 0; step < steps; ++step) {
    input.time += input.dt;
    ASSERT_EQ(model.step(input).status, StepStatus::ok);
  }
  const Vec3 expected = before + steps * input.dt * masses.head(first).sum() * gravity;
  EXPECT_LT((momentum() - expected).norm(), 1e-12 * expected.norm());
  EXPECT_LT((model.body_positions(1) - rest).norm(), 1e-12);
}

// Single coordinates that are moved, with and without contact: they are where they were told to be, whatever
// the velocity they had.
TEST(FemContact, MovedSingleCoordinatesArriveAtTheirTargets) {
  for (const bool contact : {false, true}) {
    const TetMesh mesh = tet_box({0.5, 0.5, 0.5}, {2, 2, 2});
    SolidBody body;
    body.mesh = mesh;
    body.energy = ModifiedStVK{1e5, 2e5};
    SolidModel model({std::move(body)}, ImplicitOptions{});
    Obstacle ground;
    ground.name = "ground";
    ground.shape.kind = ShapeKind::plane;
    ground.position = Vec3(0, -5, 0);
    if (contact)
      model.solver().add_contact(boundary(mesh), make_obstacles({ground}), default_contact_options(1, 2.6e5),
                                 Vec3::Zero());
    StepInput input;
    input.dt = 0.01;
    for (int step = 0; step < 10; ++step) {
      input.time += input.dt;
      input.held.clear();
      for (int node = 0; node < 4; ++node) {
        const Vec3 target = mesh.vertices.row(node).transpose() + Vec3(0, 2 * input.time, 0);
        input.held.push_back({node, {false, true, false}, target});
      }
      ASSERT_EQ(model.step(input).status, StepStatus::ok);
      for (const SupportedNode& node : input.held)
        EXPECT_EQ(model.solver().state().positions(node.node, 1), node.position.y()) << step << contact;
    }
  }
}

}  // namespace
}  // namespace exemplar::fem
