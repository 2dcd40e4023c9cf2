// A fixed matrix and a patch beside it: every linear method solves with their sum, as dense algebra does.
#include "core/sparse/patch_matrix.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/sparse/linear_solver.h"

namespace exemplar {
namespace patch_matrix_tests {

constexpr int k_columns = 60;

// A chain of springs between neighbours, held by a weak diagonal, and its dense copy.
BlockMatrix chain(const BlockPattern& pattern, MatX& dense) {
  BlockMatrix a(pattern);
  for (int i = 0; i + 1 < k_columns; ++i) {
    Mat3 k = Mat3::Identity();
    for (int c = 0; c < 3; ++c) k(c, c) += uniform_random(3, static_cast<std::uint64_t>(3 * i + c));
    a.add(pattern.slot(i, i), k);
    a.add(pattern.slot(i + 1, i + 1), k);
    a.add(pattern.slot(i + 1, i), -k);
  }
  for (int i = 0; i < k_columns; ++i) a.add_to_diagonal(i, 0.05);
  dense = a.to_dense();
  return a;
}

std::vector<int> neighbours() {
  std::vector<int> pairs;
  for (int i = 0; i + 1 < k_columns; ++i) pairs.insert(pairs.end(), {i, i + 1});
  return pairs;
}

// Stiff couplings v vᵀ over groups of four columns that the chain does not couple; −1: held.
const std::vector<int> k_groups{3, 41, 40, 57, 10, 30, -1, 31, 3, 55, 20, 21};

PatchMatrix couplings(double stiffness, MatX& dense) {
  PatchMatrix patch(k_groups, 4);
  for (std::size_t g = 0; 4 * g < k_groups.size(); ++g) {
    VecX v(12);
    for (int i = 0; i < 12; ++i) v[i] = normal_random(g + 50, static_cast<std::uint64_t>(i));
    for (int p = 0; p < 4; ++p) {
      for (int q = 0; q < 4; ++q) {
        const int i = k_groups[4 * g + static_cast<std::size_t>(p)],
                  j = k_groups[4 * g + static_cast<std::size_t>(q)];
        if (i < 0 || j < 0) continue;
        const Mat3 block = stiffness * v.segment<3>(3 * p) * v.segment<3>(3 * q).transpose();
        dense.block<3, 3>(3 * i, 3 * j) += block;
        if (q <= p) patch.add(i, j, block);
      }
    }
  }
  return patch;
}

MatX right_hand_sides() {
  MatX rhs(3 * k_columns, 3);
  for (Eigen::Index i = 0; i < rhs.size(); ++i) rhs(i) = normal_random(7, static_cast<std::uint64_t>(i));
  return rhs;
}

TEST(PatchMatrix, MultipliesLikeADenseMatrixAndForgetsMaskedCoordinates) {
  MatX dense = MatX::Zero(3 * k_columns, 3 * k_columns);
  PatchMatrix patch = couplings(2, dense);
  const MatX x = right_hand_sides().leftCols(1);
  VecX y = VecX::Zero(x.rows());
  patch.add_product(x.data(), y.data(), 1);
  EXPECT_LT((y - dense * x).norm(), 1e-13 * y.norm());
  std::vector<char> masked(to_size(3 * k_columns), 0);
  for (const int dof : {9, 125}) {
    masked[to_size(dof)] = 1;
    dense.row(dof).setZero();
    dense.col(dof).setZero();
  }
  patch.clear_masked(masked);
  y.setZero();
  patch.add_product(x.data(), y.data(), 1);
  EXPECT_LT((y - dense * x).norm(), 1e-13 * y.norm());
}

class PatchedSolves : public ::testing::TestWithParam<LinearMethod> {};
INSTANTIATE_TEST_SUITE_P(All, PatchedSolves,
                         ::testing::Values(LinearMethod::direct, LinearMethod::iterative,
                                           LinearMethod::automatic));

TEST_P(PatchedSolves, AgreeWithTheDenseSumForChangingPatches) {
  const std::vector<int> pairs = neighbours();
  const BlockPattern pattern(k_columns, pairs, 2);
  MatX dense;
  const BlockMatrix a = chain(pattern, dense);
  LinearSolver solver(pattern, GetParam());
  Points positions(k_columns, 3);
  for (int i = 0; i < k_columns; ++i) positions.row(i) << i, std::sin(0.3 * i), std::cos(0.2 * i);
  solver.set_positions(positions);
  const MatX rhs = right_hand_sides();
  for (const double stiffness : {0.0, 5.0, 1e4, 0.0}) {
    MatX sum = dense, x;
    const PatchMatrix patch = stiffness > 0 ? couplings(stiffness, sum) : PatchMatrix();
    ASSERT_EQ(solver.solve(a, rhs, 1e-12, x, &patch), LinearStatus::solved);
    EXPECT_LT((sum * x - rhs).norm(), 1e-7 * rhs.norm()) << stiffness;
    EXPECT_LT((x - sum.llt().solve(rhs)).norm(), 1e-6 * x.norm()) << stiffness;
  }
}

TEST(CoarseSpace, OfAMatrixWithAPatchIsThatOfTheirSum) {
  const std::vector<int> pairs = neighbours();
  const BlockPattern pattern(k_columns, pairs, 2);
  MatX dense;
  const BlockMatrix a = chain(pattern, dense);
  const PatchMatrix patch = couplings(30, dense);
  Points positions(k_columns, 3);
  for (int i = 0; i < k_columns; ++i) positions.row(i) << i, std::sin(0.3 * i), std::cos(0.2 * i);
  CoarseSpace coarse(pattern);
  ASSERT_TRUE(coarse.update(a, positions, &patch));
  // z = P (Pᵀ S P)⁻¹ Pᵀ r leaves nothing of the residual in the coarse space: applied to S z it gives z
  // again.
  const VecX r = right_hand_sides().col(0);
  VecX z = VecX::Zero(r.size()), again = VecX::Zero(r.size());
  coarse.add_correction(r.data(), z.data(), 1);
  const VecX back = dense * z;
  coarse.add_correction(back.data(), again.data(), 1);
  EXPECT_GT(z.norm(), 1e-3);
  EXPECT_LT((again - z).norm(), 1e-8 * z.norm());
}

}  // namespace patch_matrix_tests
}  // namespace exemplar
