// Contact in a small implicit solver: resting and colliding bodies, friction by Coulomb's law.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/core/contact/contact_support.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

// A small implicit solver: nodes with mass (and stiff springs to their start) and dynamic obstacles.
struct Solver {
  std::vector<ObstacleBody> bodies;
  std::vector<ObstacleState> states;
  Points x, v;
  double node_mass = 1, spring = 0;
  Vec3 gravity = Vec3::Zero();
  ContactPotential contact;
  Points anchors;
  int most_iterations = 0;

  Solver(const ContactSurface& surface, std::vector<ObstacleBody> obstacles, const ContactOptions& options)
      : bodies(std::move(obstacles)),
        states(states_of(bodies)),
        x(surface.rest),
        v(Points::Zero(surface.rest.rows(), 3)),
        contact(surface, bodies, options),
        anchors(surface.rest) {}

  bool step(double h) {
    const Eigen::Index n = x.rows();
    const System s{&contact, n};
    contact.begin_step(states, x);
    std::vector<RigidInertia> inertia;
    for (std::size_t i = 0; i < bodies.size(); ++i) inertia.emplace_back(bodies[i], states[i], gravity, h);
    const Points predicted = x + h * v + (h * h * gravity).transpose().replicate(n, 1);
    VecX y = s.pack(x, VecX::Zero(6 * static_cast<Eigen::Index>(bodies.size())));
    const auto energy = [&](const VecX& at) {
      double e = s.value(at) + s.friction(at);
      e += 0.5 * node_mass / (h * h) * (s.x(at) - predicted).squaredNorm() +
           0.5 * spring * (s.x(at) - anchors).squaredNorm();
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].dynamic())
          e += inertia[i].value(at.segment<6>(3 * n + 6 * static_cast<Eigen::Index>(i)));
      }
      return e;
    };
    const VecX start = y;
    contact.find_pairs(x, s.q(y), x, s.q(y));
    contact.update_friction(x, s.q(y), h);
    for (int iteration = 0; iteration < 200; ++iteration) {
      most_iterations = std::max(most_iterations, iteration);
      VecX g = s.gradient(y) + s.friction_gradient(y);
      MatX hess = s.hessian(y, Derivatives::projected_hessian) + s.friction_hessian(y);
      const Points dx = node_mass / (h * h) * (s.x(y) - predicted) + spring * (s.x(y) - anchors);
      g.head(3 * n) += flat(dx);
      hess.diagonal().head(3 * n).array() += node_mass / (h * h) + spring;
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Eigen::Index at = 3 * n + 6 * static_cast<Eigen::Index>(i);
        if (bodies[i].dynamic()) {
          g.segment<6>(at) += inertia[i].gradient(y.segment<6>(at));
          hess.block<6, 6>(at, at) += inertia[i].hessian(y.segment<6>(at));
        } else {
          hess.block<6, 6>(at, at).diagonal().array() += 1;
        }
      }
      const VecX d = -hess.ldlt().solve(g);
      if (d.cwiseAbs().maxCoeff() < 1e-11) break;
      contact.find_pairs(s.x(y), s.q(y), s.x(y + d), s.q(y + d));
      double alpha = contact.max_step(s.x(y), s.q(y), s.x(y + d), s.q(y + d));
      const double e = energy(y);
      while (alpha > 1e-14 && !(energy(y + alpha * d) <= e + 1e-4 * alpha * g.dot(d) + 1e-13 * std::abs(e)))
        alpha *= 0.5;
      if (alpha <= 1e-14) break;
      y += alpha * d;
    }
    v = (s.x(y) - x) / h;
    x = s.x(y);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].dynamic())
        states[i] = inertia[i].finish(y.segment<6>(3 * n + 6 * static_cast<Eigen::Index>(i)));
    }
    return std::isfinite(energy(y));
  }

  Vec3 momentum() const {
    Vec3 p = node_mass * v.colwise().sum().transpose();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].dynamic()) p += bodies[i].mass() * states[i].velocity;
    }
    return p;
  }
};

TEST(ContactSolve, BallRestsOnTheFloorWithItsWeight) {
  Obstacle ball = obstacle(ShapeKind::sphere, 0.2, Vec3(0, 0.3, 0));
  Obstacle ground = obstacle(ShapeKind::plane, 1, Vec3::Zero(), false);
  ContactSurface nothing;
  nothing.rest.resize(0, 3);
  nothing.triangles.resize(0, 3);
  Solver solver(nothing, make_obstacles({ground, ball}), {1e-3, 1e5, 1e-3});
  solver.gravity = Vec3(0, -9.81, 0);
  for (int i = 0; i < 120; ++i) ASSERT_TRUE(solver.step(1.0 / 120));
  const double gap = solver.states[1].position.y() - 0.1;
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, 1e-3);
  EXPECT_LT(solver.states[1].velocity.norm(), 1e-4);
  EXPECT_LT(solver.most_iterations, 60);
}

TEST(ContactSolve, FastSmallBallIsStoppedBetweenTheVerticesOfACoarseSheet) {
  for (const ShapeKind kind : {ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule, ShapeKind::mesh}) {
    Obstacle bullet = obstacle(kind, 0.03, Vec3(0.11, 1.7, 0.19));
    bullet.mass = 0.05;
    bullet.velocity = Vec3(5, -200, 3);
    bullet.angular_velocity = Vec3(20, 10, -40);
    Solver solver(sheet(2, 1.0), make_obstacles({bullet}), {2e-3, 1e6, 1e-3});
    solver.node_mass = 0.5;
    const Vec3 before = solver.momentum() + bullet.mass * Vec3::Zero();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(solver.step(1.0 / 60));
    EXPECT_LT((solver.momentum() - before).norm(), 1e-5 * before.norm()) << "kind " << int(kind);
    // The sheet took up momentum and the bullet is still above the plane through the sheet's middle.
    EXPECT_LT(solver.v.col(1).mean(), -0.5);
    EXPECT_GT(solver.states[0].position.y(), solver.x.col(1).minCoeff());
    solver.contact.find_pairs(solver.x, VecX::Zero(6), solver.x, VecX::Zero(6));
  }
}

TEST(ContactSolve, BlockOnASlopeStaysOrSlidesByCoulomb) {
  for (const double mu : {0.3, 0.7}) {
    const double slope = 0.5;  // tan 0.546
    Obstacle ground = obstacle(ShapeKind::plane, 1, Vec3::Zero(), false);
    ground.friction = mu;
    Obstacle box = obstacle(ShapeKind::box, 0.2, Vec3(0, 0.0803, 0));
    box.rotation.setZero();
    box.friction = mu;
    ContactSurface nothing;
    nothing.rest.resize(0, 3);
    nothing.triangles.resize(0, 3);
    Solver solver(nothing, make_obstacles({ground, box}), {1e-3, 1e5, 1e-3});
    solver.gravity = 9.81 * Vec3(std::sin(slope), -std::cos(slope), 0);
    const double h = 1.0 / 200;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(solver.step(h));
    const double expected = std::max(0.0, 9.81 * (std::sin(slope) - mu * std::cos(slope))) * 0.5;
    EXPECT_NEAR(solver.states[1].velocity.x(), expected, 0.03 * expected + 2e-3) << "friction " << mu;
  }
}

}  // namespace
}  // namespace exemplar
