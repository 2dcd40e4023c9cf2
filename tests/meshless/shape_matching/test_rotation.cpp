#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "meshless/shape_matching/rotation.h"
#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

using namespace lanes;

LaneQuat identity() {
  LaneQuat q;
  q.w = splat(1.0);
  return q;
}

Mat3 extract_one(const Mat3& a, const Quat& start = Quat::Identity()) {
  LaneMat m;
  LaneQuat q = identity();
  for (int lane = 0; lane < width; ++lane) insert(m, lane, Mat3::Identity());
  insert(m, 2, a);
  q.w[2] = start.w(), q.x[2] = start.x(), q.y[2] = start.y(), q.z[2] = start.z();
  return extract(extract_rotations(m, q), 2);
}

// The value that the nearest proper rotation reaches, from singular values: σ1 + σ2 ± σ3.
double best_trace(const Mat3& a) {
  const Vec3 s = Eigen::JacobiSVD<Mat3>(a).singularValues();
  return s(0) + s(1) + (a.determinant() < 0 ? -s(2) : s(2));
}

TEST(Rotation, IsTheBestProperRotationOfAnyMatrixFromAnyStart) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Mat3 a = test::random_matrix(seed);
    const Mat3 r = extract_one(a, Quat(test::random_rotation(seed + 5000)));
    EXPECT_NEAR((r.transpose() * a).trace(), best_trace(a), 1e-10 * a.norm()) << "seed " << seed;
  }
}

TEST(Rotation, RecoversARotationToMachinePrecision) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Mat3 r = test::random_rotation(seed);
    EXPECT_LT((extract_one(r * Vec3(1.0, 2.0, 0.5).asDiagonal() * 3.0) -
               Mat3(Eigen::JacobiSVD<Mat3>(r * Vec3(1.0, 2.0, 0.5).asDiagonal(),
                                           Eigen::ComputeFullU | Eigen::ComputeFullV)
                        .matrixU() *
                    Eigen::JacobiSVD<Mat3>(r * Vec3(1.0, 2.0, 0.5).asDiagonal(),
                                           Eigen::ComputeFullU | Eigen::ComputeFullV)
                        .matrixV()
                        .transpose()))
                  .norm(),
              1e-13);
  }
}

TEST(Rotation, AHalfTurnIsNotAFixedPoint) {
  for (int axis = 0; axis < 3; ++axis) {
    const Mat3 half_turn = Eigen::AngleAxisd(EIGEN_PI, Vec3::Unit(axis)).toRotationMatrix();
    EXPECT_LT((extract_one(half_turn) - half_turn).norm(), 1e-12);
    // Exactly symmetric, so that the axial vector of the first round is exactly zero.
    Mat3 exact = -Mat3::Identity();
    exact(axis, axis) = 1.0;
    EXPECT_LT((extract_one(exact) - exact).norm(), 1e-12);
    const Mat3 stretched = exact * Vec3(1.0, 2.0, 3.0).asDiagonal();
    EXPECT_LT((extract_one(stretched) - exact).norm(), 1e-12);
  }
}

TEST(Rotation, AReflectionGivesAProperRotation) {
  const Mat3 a = Vec3(3.0, 2.0, -1.0).asDiagonal();
  EXPECT_LT((extract_one(a) - Mat3::Identity()).norm(), 1e-12);
  const Mat3 r = extract_one(-Mat3::Identity());  // not unique: any proper rotation, but a rotation
  EXPECT_NEAR((r.transpose() * r - Mat3::Identity()).norm(), 0.0, 1e-12);
  EXPECT_GT(r.determinant(), 0.0);
}

TEST(Rotation, FlatAndThinMatricesAndNothingAtAll) {
  const Mat3 r = test::random_rotation(3);
  EXPECT_LT((extract_one(r * Vec3(1.0, 0.5, 0.0).asDiagonal()) - r).norm(), 1e-12);
  const Mat3 rod = extract_one(r * Vec3(1.0, 0.0, 0.0).asDiagonal());
  EXPECT_LT((rod.col(0) - r.col(0)).norm(), 1e-7);
  EXPECT_LT((rod.transpose() * rod - Mat3::Identity()).norm(), 1e-12);
  const Quat start(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  EXPECT_LT((extract_one(Mat3::Zero(), start) - start.toRotationMatrix()).norm(), 1e-14);
  const Mat3 nan = Mat3::Constant(std::nan(""));
  EXPECT_LT((extract_one(nan, start) - start.toRotationMatrix()).norm(), 1e-14);
}

TEST(Rotation, DoesNotDependOnTheScaleOfTheMatrix) {
  const Mat3 a = test::random_matrix(8);
  const Mat3 r = extract_one(a);
  for (const double scale : {1e-30, 1e-12, 1e12, 1e30}) EXPECT_LT((extract_one(scale * a) - r).norm(), 1e-12);
}

}  // namespace
}  // namespace exemplar::shape_matching
