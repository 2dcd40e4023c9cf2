// Pattern, products, Cholesky and conjugate gradients against dense algebra.
#include "core/sparse/linear_solver.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "core/base/parallel.h"
#include "core/base/random.h"

namespace exemplar {
namespace {

// A chain with some long-range couplings: cliques of four nodes, one node held (−1).
std::vector<int> test_cliques(int columns) {
  std::vector<int> cliques;
  for (int i = 0; i + 3 < columns; i += 2) {
    const int far = (i * 7 + 5) % columns;
    const bool repeated = far == i || far == i + 2 || far == i + 3;
    for (const int node : {i, repeated ? -1 : far, i + 2, i % 5 == 0 ? -1 : i + 3}) cliques.push_back(node);
  }
  return cliques;
}

// Element contributions v vᵀ over the 12 coordinates plus a diagonal: positive definite.
BlockMatrix random_matrix(const BlockPattern& pattern, const std::vector<int>& cliques, double shift,
                          MatX* dense) {
  BlockMatrix a(pattern);
  if (dense) dense->setZero(pattern.dofs(), pattern.dofs());
  for (std::size_t e = 0; 4 * e < cliques.size(); ++e) {
    const std::span<const int> nodes(cliques.data() + 4 * e, 4);
    const std::vector<BlockSlot> slots = pattern.slots(nodes);
    VecX v(12);
    for (int i = 0; i < 12; ++i) v[i] = normal_random(e, static_cast<std::uint64_t>(i));
    for (std::size_t p = 0, k = 0; p < 4; ++p) {
      for (std::size_t q = 0; q <= p; ++q, ++k) {
        const auto i = 3 * static_cast<Eigen::Index>(p), j = 3 * static_cast<Eigen::Index>(q);
        const Mat3 block = v.segment<3>(i) * v.segment<3>(j).transpose();
        a.add(slots[k], block);
        if (dense && nodes[p] >= 0 && nodes[q] >= 0) {
          dense->block<3, 3>(3 * nodes[p], 3 * nodes[q]) += block;
          if (p != q) dense->block<3, 3>(3 * nodes[q], 3 * nodes[p]) += block.transpose();
        }
      }
    }
  }
  for (int j = 0; j < pattern.columns(); ++j) a.add_to_diagonal(j, shift);
  if (dense) dense->diagonal().array() += shift;
  return a;
}

MatX random_rhs(Eigen::Index rows, Eigen::Index cols) {
  MatX rhs(rows, cols);
  for (Eigen::Index i = 0; i < rhs.size(); ++i) rhs(i) = normal_random(77, static_cast<std::uint64_t>(i));
  return rhs;
}

TEST(BlockMatrix, ScattersAndMultipliesLikeADenseMatrix) {
  const std::vector<int> cliques = test_cliques(41);
  const BlockPattern pattern(41, cliques, 4);
  MatX dense;
  const BlockMatrix a = random_matrix(pattern, cliques, 0.5, &dense);
  EXPECT_LT((a.to_dense() - dense).norm(), 1e-13 * dense.norm());
  const VecX x = random_rhs(pattern.dofs(), 1);
  VecX y;
  a.multiply(x, y);
  EXPECT_LT((y - dense * x).norm(), 1e-13 * y.norm());
}

class LinearMethods : public ::testing::TestWithParam<std::pair<int, LinearMethod>> {};

TEST_P(LinearMethods, SolveSeveralRightHandSides) {
  const auto [columns, method] = GetParam();
  const std::vector<int> cliques = test_cliques(columns);
  const BlockPattern pattern(columns, cliques, 4);
  const BlockMatrix a = random_matrix(pattern, cliques, 0.5, nullptr);
  const MatX rhs = random_rhs(pattern.dofs(), 6);
  LinearSolver solver(pattern, method);
  MatX x;
  ASSERT_EQ(solver.solve(a, rhs, 1e-12, x), LinearStatus::solved);
  for (Eigen::Index k = 0; k < rhs.cols(); ++k) {
    VecX product;
    a.multiply(x.col(k), product);
    EXPECT_LT((product - rhs.col(k)).norm(), 1e-10 * rhs.col(k).norm());
  }
}

TEST_P(LinearMethods, ReportIndefiniteMatrices) {
  const auto [columns, method] = GetParam();
  const std::vector<int> cliques = test_cliques(columns);
  const BlockPattern pattern(columns, cliques, 4);
  BlockMatrix a = random_matrix(pattern, cliques, 0.5, nullptr);
  a.add_to_diagonal(columns / 2, -50);
  LinearSolver solver(pattern, method);
  MatX x;
  EXPECT_EQ(solver.solve(a, random_rhs(pattern.dofs(), 1), 1e-10, x), LinearStatus::not_positive_definite);
  // A good matrix afterwards must work again.
  a.add_to_diagonal(columns / 2, 50);
  EXPECT_EQ(solver.solve(a, random_rhs(pattern.dofs(), 1), 1e-10, x), LinearStatus::solved);
}

// 201 columns: simplicial and AMD; 1001: supernodal and AMD; 3001: supernodal and METIS, several product
// ranges.
INSTANTIATE_TEST_SUITE_P(
    Sizes, LinearMethods,
    ::testing::Values(std::pair{201, LinearMethod::direct}, std::pair{1001, LinearMethod::direct},
                      std::pair{3001, LinearMethod::direct}, std::pair{201, LinearMethod::iterative},
                      std::pair{3001, LinearMethod::iterative}, std::pair{3001, LinearMethod::automatic}));

TEST(LinearSolver, SameBitsForAnyNumberOfThreads) {
  const std::vector<int> cliques = test_cliques(3001);
  const BlockPattern pattern(3001, cliques, 4);
  const BlockMatrix a = random_matrix(pattern, cliques, 0.5, nullptr);
  const MatX rhs = random_rhs(pattern.dofs(), 2);
  MatX reference[2];
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    int k = 0;
    for (const LinearMethod method : {LinearMethod::direct, LinearMethod::iterative}) {
      LinearSolver solver(pattern, method);
      MatX x;
      ASSERT_EQ(solver.solve(a, rhs, 1e-8, x), LinearStatus::solved);
      if (threads == 1) reference[k] = x;
      EXPECT_TRUE((x.array() == reference[k].array()).all());
      ++k;
    }
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace exemplar
