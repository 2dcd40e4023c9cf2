#include "core/sparse/conjugate_gradients.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace exemplar {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, 4>;

// Inverses of the diagonal blocks; false if one is not positive definite.
bool invert_diagonal(const BlockMatrix& a, std::vector<Mat3>& inverses) {
  const int n = a.pattern().columns();
  inverses.resize(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    const Eigen::LLT<Mat3> llt(a.diagonal_block(j));
    if (llt.info() != Eigen::Success) return false;
    inverses[static_cast<std::size_t>(j)] = llt.solve(Mat3::Identity());
  }
  return true;
}

Row dots(const RowMatrix& a, const RowMatrix& b) {
  Row result = Row::Zero(a.cols());
  const Eigen::Index k = a.cols();
  for (Eigen::Index c = 0; c < k; ++c) {
    using Strided = Eigen::Map<const VecX, 0, Eigen::InnerStride<>>;
    const Eigen::InnerStride<> stride(k);
    result[c] = Strided(a.data() + c, a.rows(), stride).dot(Strided(b.data() + c, b.rows(), stride));
  }
  return result;
}

void precondition(const std::vector<Mat3>& inverses, const RowMatrix& r, RowMatrix& z) {
  for (std::size_t j = 0; j < inverses.size(); ++j) {
    const auto row = 3 * static_cast<Eigen::Index>(j);
    if (r.cols() == 1) {
      Eigen::Map<Vec3>(z.data() + row).noalias() = inverses[j] * Eigen::Map<const Vec3>(r.data() + row);
    } else {
      z.middleRows<3>(row).noalias() = inverses[j] * r.middleRows<3>(row);
    }
  }
}

// One batch of at most four columns.
CgResult solve_batch(BlockProduct& product, const BlockMatrix& a, const std::vector<Mat3>& inverses,
                     const RowMatrix& rhs, double tolerance, int max_iterations, RowMatrix& x) {
  CgResult result;
  const int k = static_cast<int>(rhs.cols());
  RowMatrix ad(rhs.rows(), k), z(rhs.rows(), k);
  product.multiply(a, x.data(), ad.data(), k);
  RowMatrix r = rhs - ad;
  precondition(inverses, rhs, z);
  const Row target = tolerance * tolerance * dots(rhs, z);
  precondition(inverses, r, z);
  RowMatrix d = z;
  Row rho = dots(r, z);
  while (!(result.converged = (rho <= target).all()) && result.iterations < max_iterations) {
    product.multiply(a, d.data(), ad.data(), k);
    const Row curvature = dots(d, ad);
    ++result.iterations;
    Row alpha(k);
    for (int c = 0; c < k; ++c) {
      const bool active = rho[c] > target[c];
      if (active && !(curvature[c] > 0)) {
        result.negative_curvature = true;
        return result;
      }
      alpha[c] = active ? rho[c] / curvature[c] : 0.0;
    }
    const auto step = alpha.matrix().asDiagonal();
    x += d * step;
    r -= ad * step;
    precondition(inverses, r, z);
    const Row next = dots(r, z);
    const Row beta = (rho > 0).select(next / rho, 0.0);
    d = z + d * beta.matrix().asDiagonal();
    rho = next;
  }
  return result;
}

}  // namespace

CgResult ConjugateGradients::solve(const BlockMatrix& a, const MatX& rhs, double tolerance,
                                   int max_iterations, MatX& x) {
  CgResult total;
  total.converged = true;
  std::vector<Mat3> inverses;
  if (!invert_diagonal(a, inverses)) return {false, true, 0};
  for (Eigen::Index first = 0; first < rhs.cols(); first += 4) {
    const Eigen::Index count = std::min<Eigen::Index>(4, rhs.cols() - first);
    RowMatrix part = x.middleCols(first, count);
    const CgResult result =
        solve_batch(m_product, a, inverses, rhs.middleCols(first, count), tolerance, max_iterations, part);
    x.middleCols(first, count) = part;
    total.iterations += result.iterations;
    total.converged = total.converged && result.converged;
    total.negative_curvature = total.negative_curvature || result.negative_curvature;
    if (!result.converged) break;
  }
  return total;
}

}  // namespace exemplar
