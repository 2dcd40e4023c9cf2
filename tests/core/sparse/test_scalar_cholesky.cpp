#include <gtest/gtest.h>

#include "core/sparse/scalar_cholesky.h"

namespace exemplar {
namespace {

// The matrix of −u″ on `n` interior points of the unit interval, times h².
SparseMatrix second_differences(int n, double on_diagonal = 2) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, on_diagonal);
    if (i > 0) entries.emplace_back(i, i - 1, -1);
    if (i > 0) entries.emplace_back(i - 1, i, -1);
  }
  SparseMatrix a(n, n);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

TEST(ScalarCholesky, SolvesTheClosedFormOfADiscreteStringForManyColumns) {
  for (const int n : {9, 4000, 9000}) {  // simplicial, supernodal, METIS
    const double h = 1.0 / (n + 1);
    MatX loads = MatX::Ones(n, 3) * h * h;
    loads.col(1) *= 2;
    loads.col(2) *= -1;
    const ScalarCholesky factor(second_differences(n));
    ASSERT_TRUE(factor.positive_definite());
    const MatX u = factor.solve(loads);
    for (int i : {0, n / 3, n - 1}) {
      const double x = (i + 1) * h, exact = x * (1 - x) / 2;  // second differences are exact for parabolas
      EXPECT_NEAR(u(i, 0), exact, 1e-9);
      EXPECT_NEAR(u(i, 1), 2 * exact, 2e-9);
      EXPECT_NEAR(u(i, 2), -exact, 1e-9);
    }
  }
}

TEST(ScalarCholesky, RefactorisesTheSamePatternAndSaysWhenItIsNotPositive) {
  const int n = 50;
  ScalarCholesky factor(second_differences(n));
  EXPECT_TRUE(factor.factorise(second_differences(n, 4)));
  const SparseMatrix a = second_differences(n, 4);
  const VecX b = VecX::LinSpaced(n, -1, 1);
  EXPECT_LT((a * factor.solve(b) - b).norm(), 1e-14 * n);
  EXPECT_FALSE(factor.factorise(second_differences(n, 1)));
  EXPECT_FALSE(factor.positive_definite());
}

// Five-point differences on a grid fill in: blocks of columns with the same rows, and columns of their own.
// Every number of columns up to twice what is solved at once.
TEST(ScalarCholesky, SolvesAGridForAnyNumberOfColumns) {
  const int side = 17, n = side * side;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 4 + 0.01 * i);
    if (i % side > 0) entries.emplace_back(i, i - 1, -1);
    if (i >= side) entries.emplace_back(i, i - side, -1);
  }
  SparseMatrix lower(n, n);
  lower.setFromTriplets(entries.begin(), entries.end());
  const SparseMatrix whole = lower.selfadjointView<Eigen::Lower>();
  const ScalarCholesky factor(lower);
  for (int columns = 1; columns <= 17; ++columns) {
    const MatX b = MatX::Random(n, columns);
    EXPECT_LT((whole * factor.solve(b) - b).norm(), 1e-13 * b.norm() * n) << columns;
  }
}

TEST(ScalarCholesky, ReadsOnlyTheLowerTriangle) {
  SparseMatrix a = second_differences(30);
  const VecX b = VecX::Ones(30);
  const VecX expected = ScalarCholesky(a).solve(b);
  const SparseMatrix lower = a.triangularView<Eigen::Lower>();
  EXPECT_EQ(ScalarCholesky(lower).solve(b), MatX(expected));
}

}  // namespace
}  // namespace exemplar
