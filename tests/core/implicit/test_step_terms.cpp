// Every term of an implicit step alone: derivatives against differences, and what it is by its formula.
#include "core/implicit/step_terms.h"

#include <gtest/gtest.h>

#include "core/implicit/contact_term.h"
#include "core/implicit/pressure_term.h"
#include "core/implicit/pull_term.h"
#include "core/implicit/step_problem.h"
#include "tests/core/implicit/implicit_support.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using testing::random_points;
using testing::SpringTerm;

// Four nodes, node 3 held; a spring term with one weight; one dynamic obstacle.
struct World {
  std::shared_ptr<SpringTerm> springs =
      std::make_shared<SpringTerm>(std::vector<int>{0, 1, 1, 2, 0, 2, 2, 3});
  NodeColumns columns{4, std::vector<int>{3}};
  std::vector<int> cliques = columns.columns_of(std::vector<int>{0, 1, 2, 3});
  BlockPattern pattern{3, cliques, 4};
  StepPoint start{random_points(4, 5), {VecX{{0.3}}}, 0.1 * VecX::LinSpaced(6, -1, 1)};
  std::unique_ptr<StepProblem> problem;

  World() {
    springs->connect(pattern, columns.of_nodes());
    StepUnknowns unknowns(columns, {});
    unknowns.add_weights(1, false, false);
    unknowns.add_obstacle(true);
    problem = std::make_unique<StepProblem>(pattern, std::move(unknowns), start, StepScales{1, 1});
  }
  VecX gradient(const VecX& z) {
    VecX g;
    problem->gradient(z, g);
    return g;
  }
  MatX hessian(const VecX& z) {
    BorderedHessian h;
    h.reset(pattern, problem->border_size());
    problem->hessian(z, false, h);
    MatX all(z.size(), z.size());
    all << h.a.to_dense(), h.c, h.c.transpose(), h.d;
    return all;
  }
  void check(double scale = 1, double tolerance = 1e-7) {
    const VecX z = problem->pack();
    const auto g = testing::check_gradient([&](const VecX& y) { return problem->value(y); },
                                           [&](const VecX& y) { return gradient(y); }, z, scale, tolerance);
    EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
    const auto h =
        testing::check_hessian([&](const VecX& y) { return gradient(y); },
                               [&](const VecX& y) { return hessian(y); }, z, scale, 10 * tolerance);
    EXPECT_TRUE(h.ok) << h.message << " " << h.best_error;
  }
};

TEST(StepTerms, PullTermSharesItsForceAmongTheNodesOfItsPoint) {
  World world;
  const std::vector<PulledNodes> pulls{
      {{0, 1, 3}, {0.5, 0.2, 0.3}, {Vec3(0.3, -0.2, 0.1), 40, std::numeric_limits<double>::infinity()}},
      {{1, 2}, {0.75, 0.25}, {Vec3(9, 0, 0), 40, 11}}};
  world.problem->add(std::make_unique<PullTerm>(pulls, world.problem->unknowns()));
  world.check();
  StepGradient g{Points::Zero(4, 3), VecX()};
  PullTerm(pulls, world.problem->unknowns()).add_gradient(world.start, g);
  Vec3 sum = Vec3::Zero();
  for (const PulledNodes& pull : pulls) sum += pull.spring.gradient(pull.place(world.start.x));
  EXPECT_LT((g.nodes.colwise().sum().transpose() - sum).norm(), 1e-12);
}

TEST(StepTerms, WeightedTermHandsOnItsOwnWeights) {
  World w;
  w.problem->add_internal(std::make_unique<WeightedTerm>(*w.springs, 0, w.problem->unknowns()));
  EXPECT_NEAR(w.problem->value(w.problem->pack()), w.springs->value(w.start.x, w.start.weights[0]), 1e-14);
  w.check();
  w.springs->limit = 0.25;
  EXPECT_EQ(w.problem->max_step(w.problem->pack(), VecX::Ones(w.problem->unknowns().size())), 0.25);
}

TEST(StepTerms, GivenWeightsAreNoUnknownsButAct) {
  World w;
  StepUnknowns unknowns(w.columns, {});
  unknowns.add_weights(1, true, false);
  StepProblem given(w.pattern, std::move(unknowns), w.start, {1, 1});
  given.add_internal(std::make_unique<WeightedTerm>(*w.springs, 0, given.unknowns()));
  EXPECT_EQ(given.border_size(), 0);
  const VecX z = given.pack();
  EXPECT_NEAR(given.value(z), w.springs->value(w.start.x, w.start.weights[0]), 1e-14);
  VecX g;
  given.gradient(z, g);
  EXPECT_EQ(g.size(), 9);
  BorderedHessian h;
  h.reset(w.pattern, 0);
  given.hessian(z, false, h);
  EXPECT_GT(h.a.to_dense().norm(), 0);
}

TEST(StepTerms, LoadsWorkAlongTheDisplacement) {
  World w;
  const Points forces = random_points(4, 6), x0 = random_points(4, 7);
  w.problem->add(std::make_unique<LoadTerm>(forces, x0));
  const VecX z = w.problem->pack();
  double work = 0;
  for (int i = 0; i < 4; ++i) work += forces.row(i).dot(w.start.x.row(i) - x0.row(i));
  EXPECT_NEAR(w.problem->value(z), -work, 1e-13);
  const VecX g = w.gradient(z);
  for (int i = 0; i < 3; ++i) EXPECT_LT((g.segment<3>(3 * i) + forces.row(i).transpose()).norm(), 1e-14);
  EXPECT_NEAR(w.problem->force_scale(), std::max(1.0, forces.rowwise().norm().maxCoeff()), 1e-14);
}

TEST(StepTerms, InertiaPullsToFreeFlight) {
  World w;
  const VecX masses{{1, 2, 0.5, 4}};
  const double dt = 0.5;
  w.problem->add(std::make_unique<InertiaTerm>(masses, random_points(4, 8), dt, w.problem->unknowns()));
  w.check();
  // The Hessian is M/h² and nothing else.
  const MatX h = w.hessian(w.problem->pack());
  VecX expected = VecX::Zero(h.rows());
  for (int i = 0; i < 3; ++i) expected.segment<3>(3 * i).setConstant(masses[i] / (dt * dt));
  EXPECT_LT((h - MatX(expected.asDiagonal())).norm(), 1e-12);
}

// On a closed surface, where it has a potential: p times the volume.
TEST(StepTerms, PressureDerivatives) {
  World w;
  const std::vector<PressedTriangle> faces{{{0, 2, 1}, 7}, {{0, 1, 3}, 7}, {{1, 2, 3}, 7}, {{2, 0, 3}, 7}};
  w.problem->add(std::make_unique<PressureTerm>(faces, w.start.x, w.problem->unknowns()));
  w.check();
  // What it says of a long way is the work along it.
  const auto volume = [](const Points& x) {
    const Vec3 a = x.row(0), b = x.row(1), c = x.row(2), d = x.row(3);
    return (b - a).dot((c - a).cross(d - a)) / 6;
  };
  StepPoint end = w.start;
  end.x.topRows(3) += random_points(3, 11);
  EXPECT_NEAR(pressure_work(faces, w.start.x, end.x), 7 * (volume(w.start.x) - volume(end.x)), 1e-12);
}

TEST(StepTerms, RigidInertiaDerivatives) {
  World w;
  const std::vector<ObstacleBody> obstacles = make_obstacles({testing::ball(0.4, 3, Vec3(1, 2, 3))});
  ObstacleState state = obstacles[0].initial_state();
  state.angular_velocity = Vec3(1, -2, 0.5);
  w.problem->add(std::make_unique<RigidInertiaTerm>(RigidInertia(obstacles[0], state, Vec3(0, -9.81, 0), 0.1),
                                                    0, w.problem->unknowns()));
  w.check();
}

// A ball between the triangle of nodes 0 to 2 and the plane below it, all within reach.
TEST(StepTerms, ContactDerivativesWithFriction) {
  World w;
  constexpr double reach = 0.05;
  Obstacle plane;
  plane.name = "plane";
  plane.position = Vec3(0, -1, 0);
  const std::vector<ObstacleBody> obstacles =
      make_obstacles({testing::ball(0.3, 2, Vec3(0.1, 0.3 + 0.4 * reach, 0.05)), plane});
  ContactPotential contact(testing::triangle(), obstacles, {reach, 30, 0.5});
  StepUnknowns unknowns(w.columns, {});
  unknowns.add_weights(1, false, false);
  unknowns.add_obstacle(true);
  unknowns.add_obstacle(false);
  StepPoint start{Points::Zero(4, 3), w.start.weights, VecX::Zero(12)};
  start.x.topRows(3) = testing::triangle().rest;
  std::vector<ObstacleState> states;
  for (const ObstacleBody& o : obstacles) states.push_back(o.initial_state());
  contact.begin_step(states, start.x);
  w.problem = std::make_unique<StepProblem>(w.pattern, std::move(unknowns), start, StepScales{1, 1});
  w.problem->add(std::make_unique<ContactTerm>(contact, w.problem->unknowns(), 0.1, 0.0));
  VecX z = w.problem->pack();
  w.problem->begin_solve(z);
  w.problem->lag(z);
  ASSERT_GT(contact.friction().contacts(), 0u);
  EXPECT_GT(w.problem->value(z), 0);
  // The ball has moved a little since friction was fixed.
  start.q.head<6>() << 0.004, 0.001, -0.003, 0.01, 0.02, -0.01;
  start.x(0, 0) += 0.002;
  w.problem->unpack(w.problem->unknowns().pack(start));
  w.check(0.01, 1e-6);
  // A way straight through the triangle is cut.
  VecX down = VecX::Zero(z.size());
  down[w.problem->unknowns().dofs() + w.problem->unknowns().border_of_obstacle(0) + 1] = -1;
  const double limit = w.problem->max_step(z, down);
  EXPECT_GT(limit, 0.5 * 0.4 * reach);
  EXPECT_LT(limit, 0.4 * reach);
}

}  // namespace
}  // namespace exemplar
