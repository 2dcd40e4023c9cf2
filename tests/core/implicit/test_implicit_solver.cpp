// The implicit solver on springs: what terms are told, nodes that are no places in space, momentum.
#include "core/implicit/implicit_solver.h"

#include <gtest/gtest.h>

#include "tests/core/implicit/implicit_support.h"

namespace exemplar {
namespace {

using testing::random_points;
using testing::SpringTerm;

// ½ k (x_n,0 − 0.1 |x_0 − x_1|)² + ½ k (x_n,1² + x_n,2²) with an abstract node n: its first number follows
// the length of an edge.
class FollowerTerm : public NodeTerm {
 public:
  explicit FollowerTerm(int node) : m_nodes{0, 1, node} {}
  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back({m_nodes, 3});
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override {
    m_slots = pattern.slots(
        std::vector<int>{column_of_node[0], column_of_node[1], column_of_node[to_size(m_nodes[2])]});
  }
  double value(const Points& x, const VecX&) override {
    const Vec3 r = residual(x);
    return 0.5 * m_stiffness * r.squaredNorm();
  }
  void add_gradient(const Points& x, const VecX&, Points& g, Eigen::Ref<VecX>) override {
    const Vec3 r = residual(x), n = (x.row(1) - x.row(0)).normalized();
    g.row(m_nodes[2]) += m_stiffness * r.transpose();
    g.row(0) += 0.1 * m_stiffness * r[0] * n.transpose();
    g.row(1) -= 0.1 * m_stiffness * r[0] * n.transpose();
  }
  // Gauss–Newton: positive semi-definite.
  void add_hessian(const Points& x, const VecX&, bool, BlockMatrix& a, Eigen::Ref<MatX>,
                   Eigen::Ref<MatX>) override {
    const Vec3 n = (x.row(1) - x.row(0)).normalized();
    const Mat3 along = 0.01 * m_stiffness * n * n.transpose();
    const Mat3 mixed = 0.1 * m_stiffness * Vec3::UnitX() * n.transpose();
    const Mat3 blocks[6] = {along, -along, along, mixed, -mixed, m_stiffness * Mat3::Identity()};
    for (std::size_t k = 0; k < 6; ++k) a.add(m_slots[k], blocks[k]);
  }

 private:
  Vec3 residual(const Points& x) const {
    return x.row(m_nodes[2]).transpose() - 0.1 * (x.row(1) - x.row(0)).norm() * Vec3::UnitX();
  }
  std::vector<int> m_nodes;
  double m_stiffness = 5;
  std::vector<BlockSlot> m_slots;
};

struct Chain {
  std::shared_ptr<SpringTerm> springs = std::make_shared<SpringTerm>(std::vector<int>{0, 1, 1, 2}, 20);
  Points x = (Points(4, 3) << 0, 0, 0, 1.1, 0, 0, 2, 0.2, 0, 0.5, 0.3, -0.2).finished();
  Points v = Points::Zero(4, 3);
  VecX masses{{1, 2, 0.5, 0}};
  ImplicitOptions options;

  Chain() {
    v.topRows(3) = random_points(3, 3);
    options.newton.force_tolerance = 1e-10;
  }
  std::unique_ptr<ImplicitSolver> make(LinearMethod method) {
    options.linear = method;
    return std::make_unique<ImplicitSolver>(
        x, v, masses, std::vector<std::shared_ptr<NodeTerm>>{springs, std::make_shared<FollowerTerm>(3)},
        options, std::vector<char>{0, 0, 0, 1});
  }
};

TEST(ImplicitSolver, AbstractNodesAreSolvedForAndLeftOutOfTheMotionOfTheWhole) {
  for (const LinearMethod method : {LinearMethod::direct, LinearMethod::iterative}) {
    Chain chain;
    const auto solver = chain.make(method);
    StepInput input;
    input.dt = 0.05;
    input.forces = Points::Zero(4, 3);
    input.forces.topRows(3) = random_points(3, 11);
    Vec3 momentum = solver->state().velocities.transpose() * chain.masses;
    for (int step = 0; step < 20; ++step) {
      ASSERT_EQ(solver->step(input).status, StepStatus::ok);
      const Points& now = solver->state().positions;
      EXPECT_NEAR(now(3, 0), 0.1 * (now.row(1) - now.row(0)).norm(), 1e-8);
      EXPECT_LT(now.row(3).tail<2>().norm(), 1e-8);
      momentum += input.dt * Vec3(input.forces.colwise().sum().transpose());
      const Vec3 is = solver->state().velocities.transpose() * chain.masses;
      EXPECT_LT((is - momentum).norm(), 1e-13 * (1 + momentum.norm()));
    }
  }
}

TEST(ImplicitSolver, TermsAreToldOfStepsAndIterates) {
  Chain chain;
  const auto solver = chain.make(LinearMethod::direct);
  StepInput input;
  input.dt = 0.05;
  const StepOutcome outcome = solver->step(input);
  ASSERT_EQ(outcome.status, StepStatus::ok);
  const std::string expected =
      "b" + std::string(static_cast<std::size_t>(outcome.newton.iterations) + 1, 'a') + "e";
  EXPECT_EQ(chain.springs->told, expected);
  EXPECT_LT((chain.springs->last_accepted - solver->state().positions).norm(), 1e-12);
  EXPECT_EQ(chain.springs->ended, solver->state().positions);
}

TEST(ImplicitSolver, AFailedStepEndsNothing) {
  Chain chain;
  const auto solver = chain.make(LinearMethod::direct);
  solver->options().newton.max_iterations = 1;
  StepInput input;
  input.dt = 1;
  ASSERT_EQ(solver->step(input).status, StepStatus::not_converged);
  EXPECT_EQ(chain.springs->told.find('e'), std::string::npos);
  EXPECT_EQ(solver->state().positions, chain.x);
  solver->options().newton.max_iterations = 100;
  input.dt = 0.05;
  ASSERT_EQ(solver->step(input).status, StepStatus::ok);
  EXPECT_EQ(std::count(chain.springs->told.begin(), chain.springs->told.end(), 'b'), 2);
}

TEST(ImplicitSolver, ATermsStepLimitIsKept) {
  Chain chain;
  const auto solver = chain.make(LinearMethod::direct);
  chain.springs->limit = 0.5;  // of every Newton step: convergence becomes linear with this rate
  StepInput input;
  input.dt = 0.05;
  const StepOutcome slow = solver->step(input);
  ASSERT_EQ(slow.status, StepStatus::ok);
  EXPECT_GT(slow.newton.iterations, 20);
}

}  // namespace
}  // namespace exemplar
