// The bordered Newton step against a dense solve, and whole minimisations against known minima.
#include "core/sparse/newton.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/base/random.h"

namespace exemplar {
namespace {

// ½ zᵀQ z − qᵀz on 4 nodes and 3 border unknowns, plus an optional quartic that makes it non-convex at the
// start.
class QuadraticProblem : public NewtonProblem {
 public:
  QuadraticProblem(bool simplex, double quartic)
      : m_nodes{0, 1, 2, 3}, m_pattern(4, m_nodes, 4), m_quartic(quartic) {
    MatX root(15, 15);
    for (int i = 0; i < 225; ++i) root(i) = normal_random(3, static_cast<std::uint64_t>(i));
    q = root * root.transpose() + MatX::Identity(15, 15);
    linear.resize(15);
    for (int i = 0; i < 15; ++i) linear[i] = 5 * normal_random(4, static_cast<std::uint64_t>(i));
    if (simplex) m_groups.push_back({0, 3});
  }
  const BlockPattern& pattern() const override { return m_pattern; }
  int border_size() const override { return 3; }
  std::span<const SimplexGroup> simplex_groups() const override { return m_groups; }
  double value(const VecX& z) override {
    const double s = z.head(12).squaredNorm();
    return 0.5 * z.dot(q * z) - linear.dot(z) + m_quartic * (0.25 * s * s - 20 * s);
  }
  void gradient(const VecX& z, VecX& g) override {
    g = q * z - linear;
    g.head(12) += m_quartic * (z.head(12).squaredNorm() - 40) * z.head(12);
  }
  void hessian(const VecX& z, bool project, BorderedHessian& h) override {
    MatX full = q.topLeftCorner(12, 12);
    if (!project) {
      full += m_quartic * ((z.head(12).squaredNorm() - 40) * MatX::Identity(12, 12) +
                           2 * z.head(12) * z.head(12).transpose());
    } else {
      full += m_quartic * 2 * z.head(12) * z.head(12).transpose();
    }
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) h.a.add(m_pattern.slot(a, b), full.block<3, 3>(3 * a, 3 * b));
    }
    h.c = q.topRightCorner(12, 3);
    h.d = q.bottomRightCorner(3, 3);
  }
  double force_scale() const override { return 1; }
  double length_scale() const override { return 1; }

  MatX q;
  VecX linear;

 private:
  std::vector<int> m_nodes;
  BlockPattern m_pattern;
  double m_quartic;
  std::vector<SimplexGroup> m_groups;
};

TEST(Newton, SchurStepEqualsDenseSolve) {
  QuadraticProblem problem(false, 0);
  LinearSolver solver(problem.pattern(), LinearMethod::direct);
  VecX z = VecX::Zero(15);
  const NewtonSummary summary = minimise(problem, solver, {}, z);
  EXPECT_TRUE(summary.converged());
  EXPECT_EQ(summary.iterations, 1);
  EXPECT_LT((z - problem.q.lu().solve(problem.linear)).norm(), 1e-11 * z.norm());
}

TEST(Newton, WeightsEndOnTheSimplexAtTheKktPoint) {
  QuadraticProblem problem(true, 0);
  LinearSolver solver(problem.pattern(), LinearMethod::direct);
  VecX z = VecX::Zero(15);
  ASSERT_TRUE(minimise(problem, solver, {}, z).converged());
  const VecX w = z.tail(3);
  EXPECT_GE(w.minCoeff(), 0);
  EXPECT_LE(w.sum(), 1 + 1e-14);
  // Nothing on the simplex is better: compare with many feasible points, nodes eliminated exactly.
  const MatX a = problem.q.topLeftCorner(12, 12), c = problem.q.topRightCorner(12, 3);
  for (std::uint64_t k = 0; k < 2000; ++k) {
    VecX other = Vec3(uniform_random(k, 0), uniform_random(k, 1), uniform_random(k, 2));
    if (other.sum() > 1) other /= other.sum() / uniform_random(k, 3);
    VecX candidate(15);
    candidate.tail(3) = other;
    candidate.head(12) = a.lu().solve(problem.linear.head(12) - c * other);
    EXPECT_GE(problem.value(candidate), problem.value(z) - 1e-9);
  }
}

TEST(Newton, FallsBackToTheProjectedHessianAndStillDescends) {
  QuadraticProblem problem(true, 10);
  for (const LinearMethod method : {LinearMethod::direct, LinearMethod::iterative}) {
    LinearSolver solver(problem.pattern(), method);
    VecX z = VecX::Constant(15, 0.01);
    NewtonOptions options;
    options.force_tolerance = 1e-9;
    const NewtonSummary summary = minimise(problem, solver, options, z);
    EXPECT_TRUE(summary.converged()) << summary.message();
    EXPECT_GT(summary.projections, 0);
    VecX g;
    problem.gradient(z, g);
    EXPECT_LT(g.head(12).norm(), 1e-7);
  }
}

}  // namespace
}  // namespace exemplar
