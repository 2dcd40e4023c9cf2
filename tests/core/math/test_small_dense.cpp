// SVD, polar rotation, PSD projection, rigid fit and the simplex QP against definitions and brute force.
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/base/random.h"
#include "core/math/polar.h"
#include "core/math/polar_lanes.h"
#include "core/math/psd.h"
#include "core/math/rigid_fit.h"
#include "core/math/simplex_qp.h"
#include "core/math/svd3.h"

namespace exemplar {
namespace {

Mat3 random_matrix(std::uint64_t seed) {
  Mat3 m;
  for (int i = 0; i < 9; ++i) m(i) = normal_random(seed, static_cast<std::uint64_t>(i));
  return m;
}

Mat3 random_rotation(std::uint64_t seed) {
  const Quat q(normal_random(seed, 100), normal_random(seed, 101), normal_random(seed, 102),
               normal_random(seed, 103));
  return q.normalized().toRotationMatrix();
}

void expect_valid_svd(const Mat3& f) {
  const Svd3 svd = signed_svd(f);
  const double scale = std::max(f.norm(), 1e-300);
  EXPECT_LT((svd.u * svd.s.asDiagonal() * svd.v.transpose() - f).norm() / scale, 5e-15);
  EXPECT_LT((svd.u.transpose() * svd.u - Mat3::Identity()).norm(), 2e-14);
  EXPECT_LT((svd.v.transpose() * svd.v - Mat3::Identity()).norm(), 2e-14);
  EXPECT_NEAR(svd.u.determinant(), 1, 1e-13);
  EXPECT_NEAR(svd.v.determinant(), 1, 1e-13);
  EXPECT_GE(svd.s[0], svd.s[1] - 1e-15 * scale);
  EXPECT_GE(svd.s[1], std::abs(svd.s[2]) - 1e-15 * scale);
}

TEST(Svd3, RandomMatricesOfEveryScale) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    expect_valid_svd(random_matrix(seed) * std::pow(10.0, static_cast<double>(seed % 30) - 15));
  }
}

TEST(Svd3, DegenerateMatrices) {
  const Mat3 u = random_rotation(1), v = random_rotation(2);
  for (const Vec3& s : {Vec3(1, 1, 1), Vec3(1, 1, -1), Vec3(2, 2, 0), Vec3(1, 0, 0), Vec3(0, 0, 0),
                        Vec3(1, 1e-9, 1e-17), Vec3(3, 1, -1), Vec3(1, 1, 1e-12), Vec3(5, 5, 1)}) {
    expect_valid_svd(u * s.asDiagonal() * v.transpose());
    expect_valid_svd(Mat3(s.asDiagonal()));
  }
}

TEST(Polar, IsTheClosestProperRotation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Mat3 f = random_matrix(seed);
    const Mat3 r = polar_rotation(f);
    EXPECT_NEAR(r.determinant(), 1, 1e-13);
    for (std::uint64_t k = 0; k < 50; ++k) {
      EXPECT_GE((f - random_rotation(1000 * seed + k)).norm(), (f - r).norm() - 1e-12);
    }
  }
  const Mat3 c = random_matrix(3).transpose() * random_matrix(3);
  EXPECT_LT((symmetric_root(c) * symmetric_root(c) - c).norm(), 1e-13 * c.norm());
}

TEST(Psd, ProjectsAndKeeps) {
  const Mat3 q = random_rotation(4);
  const Mat3 indefinite = q * Vec3(3, -2, 1).asDiagonal() * q.transpose();
  EXPECT_LT((project_psd(indefinite) - q * Vec3(3, 0, 1).asDiagonal() * q.transpose()).norm(), 1e-14);
  EXPECT_LT((make_positive(indefinite, 0.5) - q * Vec3(3, 2, 1.5).asDiagonal() * q.transpose()).norm(),
            1e-14);
}

TEST(RigidFit, FindsTheMotionAndNeverMirrors) {
  Points from(20, 3);
  for (Eigen::Index i = 0; i < from.size(); ++i)
    from.data()[i] = normal_random(8, static_cast<std::uint64_t>(i));
  const RigidTransform motion{random_rotation(5), Vec3(1, -2, 3)};
  const RigidTransform found = fit_rigid(from, transform(motion, from), VecX::LinSpaced(20, 1, 2));
  EXPECT_LT((found.rotation - motion.rotation).norm() + (found.translation - motion.translation).norm(),
            1e-13);
  Points mirrored = from;
  mirrored.col(0) *= -1;
  EXPECT_NEAR(fit_rigid(from, mirrored).rotation.determinant(), 1, 1e-13);
}

// Best value over all faces of the simplex by solving the equality-constrained problem on each.
double brute_force(const MatX& a, const VecX& b) {
  const int m = static_cast<int>(b.size());
  double best = 1e300;
  for (int mask = 0; mask < (1 << (m + 1)); ++mask) {
    MatX kkt = MatX::Identity(m + 1, m + 1);
    VecX rhs = VecX::Zero(m + 1);
    kkt.topLeftCorner(m, m) = a;
    rhs.head(m) = -b;
    for (int i = 0; i < m; ++i) {
      if (mask & (1 << i)) {
        kkt.row(i).setZero();
        kkt(i, i) = 1;
        rhs[i] = 0;
      }
    }
    if (mask & (1 << m)) {
      for (int i = 0; i < m; ++i) {
        if (!(mask & (1 << i))) kkt(i, m) = 1;
      }
      kkt.row(m).setZero();
      kkt.row(m).head(m).setOnes();
      rhs[m] = 1;
    }
    const Eigen::FullPivLU<MatX> lu(kkt);
    if (!lu.isInvertible()) continue;
    const VecX w = VecX(lu.solve(rhs)).head(m);
    if (w.minCoeff() < -1e-12 || w.sum() > 1 + 1e-12) continue;
    best = std::min(best, 0.5 * w.dot(a * w) + b.dot(w));
  }
  return best;
}

TEST(SimplexQp, AgreesWithAllFacesEnumerated) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const int m = 1 + static_cast<int>(seed % 6);
    MatX root(m, m);
    VecX b(m);
    for (int i = 0; i < m * m; ++i) root(i) = normal_random(seed, static_cast<std::uint64_t>(i));
    for (int i = 0; i < m; ++i) b[i] = normal_random(seed, static_cast<std::uint64_t>(1000 + i));
    const MatX a = root * root.transpose() + 0.01 * MatX::Identity(m, m);
    const SimplexGroup group{0, m};
    const VecX w = minimise_on_simplices(a, b, VecX::Constant(m, 1.0 / (m + 1)), {&group, 1});
    EXPECT_GE(w.minCoeff(), 0.0);
    EXPECT_LE(w.sum(), 1 + 1e-14);
    EXPECT_NEAR(0.5 * w.dot(a * w) + b.dot(w), brute_force(a, b), 1e-10) << seed;
  }
}

TEST(SimplexQp, FreeVariablesAndTwoGroups) {
  // Separable: the free variable goes to its own minimum, the groups to their projections.
  const VecX target = (VecX(5) << 7, 2, 2, -1, 0.25).finished();
  const SimplexGroup groups[] = {{1, 2}, {3, 2}};
  const VecX w = minimise_on_simplices(MatX::Identity(5, 5), -target, VecX::Zero(5), groups);
  EXPECT_LT((w - (VecX(5) << 7, 0.5, 0.5, 0, 0.25).finished()).norm(), 1e-13);
}

TEST(SimplexQp, DependentExamplesStillGiveTheNearestPoint) {
  MatX columns(2, 3);
  columns << 1, 2, 1, 0, 0, 0;
  const VecX w = project_on_simplex_hull(columns, Eigen::Vector2d(1.5, 4));
  EXPECT_NEAR((columns * w)[0], 1.5, 1e-9);
  EXPECT_NEAR(project_on_simplex_hull(columns.col(1), Eigen::Vector2d(3, 1))[0], 1.0, 0);
}

}  // namespace
// Against U Vᵀ of the singular value decomposition, one by one and four at a time, also of what is nearly
// flat or inverted.
TEST(Polar, RotationsAreThoseOfTheSvd) {
  for (int trial = 0; trial < 2000; ++trial) {
    Matrix3<Lanes> four;
    std::array<Mat3, 4> one;
    for (int k = 0; k < 4; ++k) {
      Mat3 f = random_matrix(static_cast<std::uint64_t>(4 * trial + k));
      if (trial % 3 == 1) f = Mat3::Identity() + 0.1 * f;
      if (trial % 5 == 2) f.col(2) = f.col(1) + 1e-4 * f.col(2);
      one[static_cast<std::size_t>(k)] = f * std::pow(10.0, trial % 7 - 3);
      set_lane(four, k, one[static_cast<std::size_t>(k)]);
    }
    const Matrix3<Lanes> rotations = rotation_of(four);
    for (int k = 0; k < 4; ++k) {
      const Mat3& f = one[static_cast<std::size_t>(k)];
      const Svd3 svd = signed_svd(f);
      const Mat3 expected = svd.u * svd.v.transpose();
      // How far rounding may turn it: the two smallest singular values say which way is up.
      const double tolerance = 1e-14 * svd.s[0] / std::abs(svd.s[1] + svd.s[2]) + 1e-14;
      EXPECT_LT((rotation_of(f) - expected).norm(), tolerance) << trial;
      EXPECT_LT((lane(rotations, k) - expected).norm(), tolerance) << trial;
    }
  }
}

}  // namespace exemplar
