// The whole function that one implicit step minimises, over nodes, example weights and the increments of a
// dynamic obstacle: inertia, W_i with plastic deformation, W_p, damping, loads, contact and friction
// together.
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/cuboid_cases.h"
#include "fem/scene_bodies.h"
#include "tests/support/derivatives.h"

namespace exemplar::fem {
namespace {

SolidBody example_body(bool quadratic = false) {
  SolidBody body;
  body.mesh = tet_box({1, 1, 1}, {2, 2, 3});
  body.density = 100;
  body.energy = ModifiedStVK{50, 100};
  body.damping = 0.035;
  Points stretched = body.mesh.vertices;
  stretched.col(1) *= 1.3;
  ExampleSet set;
  set.poses = {twisted_pose(body.mesh.vertices, 1, 50, 0.8), stretched};
  set.stiffness = 0.8;
  set.on_simplex = false;
  set.initial_weights = VecX{{0.3, 0.2}};
  body.examples.push_back(set);
  PlasticBody plastic;
  plastic.parameters = {1, 5, 0};
  body.plastic = plastic;
  if (quadratic) make_quadratic(body);
  body.positions = body.mesh.vertices;
  body.velocities = Points::Zero(body.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < body.positions.size(); ++i) {
    body.positions.data()[i] += 0.04 * normal_random(21, static_cast<std::uint64_t>(i));
    body.velocities.data()[i] = 0.5 * normal_random(22, static_cast<std::uint64_t>(i));
  }
  return body;
}

// A ball close above the upper face, a rough floor close below the lower one.
void add_obstacles(SolidModel& model, double reach) {
  const Points& x = model.solver().state().positions;
  const TetMesh& mesh = model.body(0).mesh;
  Obstacle ball, floor;
  ball.name = "ball";
  ball.kind = ObstacleKind::dynamic;
  ball.shape.kind = ShapeKind::sphere;
  ball.shape.radius = 0.2;
  ball.mass = 3;
  ball.angular_velocity = Vec3(1, -2, 0.5);
  ball.position = Vec3(0.05, x.col(1).maxCoeff() + ball.shape.radius + 0.3 * reach, 0.1);
  floor.name = "floor";
  floor.shape.kind = ShapeKind::plane;
  floor.position = Vec3(0, x.col(1).minCoeff() - 0.4 * reach, 0);
  ContactSurface surface;
  surface.map = PointMap::identity(static_cast<int>(mesh.vertices.rows()));
  surface.triangles = boundary_triangles(mesh, model.body(0).midsides);
  surface.rest = mesh.vertices;
  model.solver().add_contact(std::move(surface), make_obstacles({floor, ball}), {reach, 200, 0.3},
                             Vec3(0, -9.81, 0));
}

struct StepFunction {
  std::unique_ptr<NewtonProblem> problem;

  double value(const VecX& z) { return problem->value(z); }
  VecX gradient(const VecX& z) {
    VecX g;
    problem->gradient(z, g);
    return g;
  }
  MatX hessian(const VecX& z) {
    BorderedHessian h;
    h.reset(problem->pattern(), problem->border_size());
    problem->hessian(z, false, h);
    MatX all(z.size(), z.size());
    all << h.a.to_dense(), h.c, h.c.transpose(), h.d;
    return all;
  }
};

// The bordered step is the dense Newton step where that is positive definite.
void expect_dense_newton_step(NewtonProblem& problem, const VecX& z, const VecX& gradient) {
  BorderedHessian h;
  h.reset(problem.pattern(), problem.border_size());
  problem.hessian(z, true, h);
  MatX dense(z.size(), z.size());
  dense << h.a.to_dense(), h.c, h.c.transpose(), h.d;
  ASSERT_EQ(Eigen::LLT<MatX>(dense).info(), Eigen::Success);
  LinearSolver linear(problem.pattern(), LinearMethod::direct);
  const NewtonStep step =
      solve_bordered(linear, h, gradient, z.tail(problem.border_size()), problem.simplex_groups(), 1e-12);
  ASSERT_EQ(step.status, LinearStatus::solved);
  const VecX expected = -dense.llt().solve(gradient);
  EXPECT_LT((step.dz - expected).norm(), 1e-8 * expected.norm());
}

class StepDerivatives : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Orders, StepDerivatives, ::testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "Quadratic" : "Linear"; });

TEST_P(StepDerivatives, AllTermsTogether) {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  SolidModel model({example_body(GetParam())}, options);
  // A plastic state that is not the identity: some flow in a first free step.
  StepInput input;
  input.dt = 0.05;
  input.time = input.dt;
  ASSERT_EQ(model.step(input).status, StepStatus::ok);
  ASSERT_GT(model.plasticity(0)->largest(), 1e-3);
  // A ball that rests on the noisy upper face; loads and a held node.
  const double reach = 0.15;
  add_obstacles(model, reach);
  input.forces = Points::Constant(model.node_count(), 3, 2.0);
  SupportedNode held;
  held.node = 0;
  held.held = {true, false, true};
  held.position = model.body_positions(0).row(0).transpose();
  input.held.push_back(held);
  VecX z;
  StepFunction f{model.solver().make_problem(input, z)};
  ASSERT_TRUE(f.problem);
  ASSERT_EQ(f.problem->border_size(), 2 + 6);
  const auto value = [&](const VecX& y) { return f.value(y); };
  const auto gradient = [&](const VecX& y) { return f.gradient(y); };
  // A held coordinate is masked: no gradient there, though the value would change.
  VecX g = gradient(z);
  EXPECT_EQ(g[0], 0);
  const auto free_part = [](const VecX& v) -> VecX {
    VecX out(v.size() - 3);
    out << v.tail(v.size() - 3);
    return out;
  };
  const auto whole = [&](const VecX& v) -> VecX {
    VecX all = z;
    all.tail(v.size()) = v;
    return all;
  };
  const auto gr = testing::check_gradient([&](const VecX& y) { return value(whole(y)); },
                                          [&](const VecX& y) { return free_part(gradient(whole(y))); },
                                          free_part(z), 1e-2, 1e-6);
  EXPECT_TRUE(gr.ok) << gr.message << " " << gr.best_error << " order " << gr.observed_order;
  const auto he = testing::check_hessian([&](const VecX& y) { return free_part(gradient(whole(y))); },
                                         [&](const VecX& y) -> MatX {
                                           const MatX h = f.hessian(whole(y));
                                           return h.bottomRightCorner(h.rows() - 3, h.cols() - 3);
                                         },
                                         free_part(z), 1e-2, 1e-5);
  EXPECT_TRUE(he.ok) << he.message << " " << he.best_error << " order " << he.observed_order;
  // Contact took part: the ball feels more than its inertia.
  EXPECT_GT(g.tail(6).head<3>().norm(), 1e-3);

  expect_dense_newton_step(*f.problem, z, g);
}

TEST(CompatibleStep, Derivatives) {
  SolidBody body = example_body();
  body.plastic.reset();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  SolidModel model({body}, options, ExampleMethod::compatible, 3);
  StepInput input;
  input.dt = 0.05;
  VecX z;
  StepFunction f{model.solver().make_problem(input, z)};
  ASSERT_TRUE(f.problem);
  const auto gr = testing::check_gradient([&](const VecX& y) { return f.value(y); },
                                          [&](const VecX& y) { return f.gradient(y); }, z, 1e-1, 1e-6);
  EXPECT_TRUE(gr.ok) << gr.message << " " << gr.best_error << " order " << gr.observed_order;
}

}  // namespace
}  // namespace exemplar::fem
