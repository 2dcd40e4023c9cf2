#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

CellSet one_cell(const Points& rest, const VecX& masses, const MatchOptions& options) {
  return {rest, masses, single_cell(static_cast<int>(rest.rows())), options};
}

TEST(CellSet, OneCellRecoversCloudMotionsToMachinePrecision) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Points rest = test::random_points(9, seed);
    CellSet cells = one_cell(rest, test::random_masses(9, seed), {});
    const Points now = test::moved(rest, test::random_rotation(seed), Vec3(5, -3, 2));
    EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 3e-14) << seed;
  }
}

TEST(CellSet, OneCellRecoversLinearMapsForBetaOne) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Points rest = test::random_points(9, seed);
    MatchOptions options;
    options.beta = 1.0;
    CellSet cells = one_cell(rest, test::random_masses(9, seed), options);
    const Points now = test::moved(rest, test::random_matrix(seed), Vec3(1, 2, 3));
    EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 1e-12) << seed;
  }
}

Points quadratic_map(const Points& rest, std::uint64_t seed) {
  Points out(rest.rows(), 3);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const Vec3 q = rest.row(i);
    Eigen::Matrix<double, 10, 1> terms;
    terms << 1.0, q.x(), q.y(), q.z(), q.x() * q.x(), q.y() * q.y(), q.z() * q.z(), q.x() * q.y(),
        q.y() * q.z(), q.z() * q.x();
    for (int axis = 0; axis < 3; ++axis) {
      out(i, axis) = 0.0;
      for (int t = 0; t < 10; ++t) out(i, axis) += 0.4 * normal_random(seed, 100 + 10 * axis + t) * terms(t);
    }
  }
  return out;
}

TEST(CellSet, OneCellRecoversQuadraticMapsInQuadraticMode) {
  MatchOptions options;
  options.beta = 1.0;
  options.quadratic = true;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Points rest = test::random_points(27, seed);
    CellSet cells = one_cell(rest, test::random_masses(27, seed), options);
    const Points now = quadratic_map(rest, seed);
    EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 1e-10) << seed;
  }
}

TEST(CellSet, EightCornersInQuadraticModeStayFiniteAndKeepBilinearMaps) {
  // Ã_qq of a cube's corners has rank 6 (x, y, z, xy, yz, zx): of the squares nothing is seen, the rest is
  // exact.
  const CubicalModel block = make_block({0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1.0);
  MatchOptions options;
  options.beta = 1.0;
  options.quadratic = true;
  CellSet cells = one_cell(block.model.rest_positions, block.model.masses, options);
  Points now = block.model.rest_positions;
  for (Eigen::Index i = 0; i < 8; ++i) now(i, 0) += 0.3 * now(i, 1) * now(i, 2) - 0.2 * now(i, 0) * now(i, 1);
  EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(CellSet, QuadraticModeWithBetaZeroIsRigid) {
  const Points rest = test::random_points(20, 4);
  MatchOptions options;
  options.quadratic = true;
  CellSet quadratic = one_cell(rest, test::random_masses(20, 4), options);
  CellSet linear = one_cell(rest, test::random_masses(20, 4), {});
  const Points now = quadratic_map(rest, 5);
  EXPECT_LT((test::goals_of(quadratic, now) - test::goals_of(linear, now)).cwiseAbs().maxCoeff(), 1e-12);
}

// Momentum of the matching itself: Σ m g = Σ m x and Σ m x × (g − x) = 0.
TEST(CellSet, GoalsKeepLinearAndAngularMomentum) {
  const CubicalModel block = make_block({0, 0, 0}, {2, 1, 1}, {4, 3, 2}, 700.0);
  const auto n = static_cast<int>(block.model.rest_positions.rows());
  const VecX masses = test::random_masses(n, 6);
  for (const double beta : {0.0, 0.5, 0.9})
    for (const bool volume : {false, true})
      for (const bool quadratic : {false, true}) {
        MatchOptions options{beta, volume, quadratic};
        CellSet cells(block.model.rest_positions, masses, block.model.cells, options);
        const Points x = block.model.rest_positions + test::random_points(n, 7, 0.15);
        const Points g = test::goals_of(cells, x);
        EXPECT_LT((masses.transpose() * (g - x)).norm(), 1e-12 * masses.sum());
        Vec3 torque = Vec3::Zero();
        for (int i = 0; i < n; ++i) torque += masses(i) * Vec3(x.row(i)).cross(Vec3(g.row(i) - x.row(i)));
        EXPECT_LT(torque.norm(), 1e-11 * masses.sum()) << beta << volume << quadratic;
      }
}

TEST(CellSet, ManyCellsKeepCloudMotionsExactly) {
  const CubicalModel block = make_block({0, 0, 0}, {3, 1, 1}, {12, 4, 5}, 700.0, 1);
  CellSet cells(block.model.rest_positions, block.model.masses, block.model.cells, {});
  const Points now = test::moved(block.model.rest_positions, test::random_rotation(1), Vec3(100, 200, -50));
  EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 1e-12);
}

// The same numbers one cell after the other with Eigen's SVD, no lanes, no blocks.
Points reference_goals(const CellModel& model, const Points& x, double beta) {
  Points sum = Points::Zero(x.rows(), 3);
  VecX counts = VecX::Zero(x.rows());
  for (const int p : model.cells.particles) counts(p) += 1.0;
  for (int c = 0; c < model.cells.count(); ++c) {
    Vec3 x_cm = Vec3::Zero(), q_cm = Vec3::Zero();
    double weight = 0.0;
    for (const int p : model.cells.of(c)) {
      const double w = model.masses(p) / counts(p);
      weight += w;
      x_cm += w * x.row(p).transpose();
      q_cm += w * model.rest_positions.row(p).transpose();
    }
    x_cm /= weight, q_cm /= weight;
    Mat3 a_pq = Mat3::Zero(), a_qq = Mat3::Zero();
    for (const int p : model.cells.of(c)) {
      const double w = model.masses(p) / counts(p);
      const Vec3 q = model.rest_positions.row(p).transpose() - q_cm, d = x.row(p).transpose() - x_cm;
      a_pq += w * d * q.transpose();
      a_qq += w * q * q.transpose();
    }
    const Mat3 t = beta * a_pq * a_qq.inverse() + (1.0 - beta) * nearest_rotation(a_pq, Mat3::Identity());
    for (const int p : model.cells.of(c))
      sum.row(p) += (t * (model.rest_positions.row(p).transpose() - q_cm) + x_cm).transpose();
  }
  return counts.cwiseInverse().asDiagonal() * sum;
}

TEST(CellSet, AgreesWithAPlainImplementation) {
  const CubicalModel block = make_block({0, 0, 0}, {3, 2, 1}, {7, 5, 3}, 300.0, 1);
  for (const double beta : {0.0, 0.7}) {
    MatchOptions options;
    options.beta = beta;
    CellSet cells(block.model.rest_positions, block.model.masses, block.model.cells, options);
    const Points x = test::moved(block.model.rest_positions, test::random_rotation(3), Vec3(1, 2, 3)) +
                     test::random_points(static_cast<int>(block.model.rest_positions.rows()), 9, 0.05);
    EXPECT_LT((test::goals_of(cells, x) - reference_goals(block.model, x, beta)).cwiseAbs().maxCoeff(),
              1e-12);
  }
}

TEST(CellSet, VolumeStepGivesTransformationsOfDeterminantOne) {
  const Points rest = test::random_points(12, 1);
  MatchOptions options;
  options.beta = 0.6;
  options.conserve_volume = true;
  CellSet cells = one_cell(rest, test::random_masses(12, 1), options);
  test::goals_of(cells, test::moved(rest, Vec3(0.5, 1.3, 0.9).asDiagonal(), Vec3::Zero()));
  EXPECT_NEAR(cells.transformation(0).determinant(), 1.0, 1e-12);
  // A flipped cell: finite goals, no blow-up.
  const Points goals =
      test::goals_of(cells, test::moved(rest, Vec3(-1.0, 1.0, 1.0).asDiagonal(), Vec3::Zero()));
  EXPECT_TRUE(goals.allFinite());
  EXPECT_LT(goals.cwiseAbs().maxCoeff(), 3.0 * rest.cwiseAbs().maxCoeff());
}

TEST(CellSet, FlatThinAndPointCellsAreRigidInWhatTheyHave) {
  for (int dimensions = 0; dimensions < 3; ++dimensions) {
    Points rest = test::random_points(9, 20 + dimensions);
    for (int axis = dimensions; axis < 3; ++axis) rest.col(axis).setZero();
    for (const double beta : {0.0, 0.8}) {
      MatchOptions options;
      options.beta = beta;
      options.conserve_volume = beta > 0.0;
      CellSet cells = one_cell(rest, VecX::Ones(9), options);
      const Points now = test::moved(rest, test::random_rotation(2), Vec3(1, 1, 1));
      EXPECT_LT((test::goals_of(cells, now) - now).cwiseAbs().maxCoeff(), 1e-8) << dimensions << " " << beta;
    }
  }
}

TEST(CellSet, ThreadsDoNotChangeABit) {
  const CubicalModel block = make_block({0, 0, 0}, {3, 2, 1}, {30, 20, 10}, 300.0);
  const Points x = block.model.rest_positions +
                   test::random_points(static_cast<int>(block.model.rest_positions.rows()), 3, 0.02);
  std::vector<Points> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    CellSet cells(block.model.rest_positions, block.model.masses, block.model.cells, {});
    Points goals = test::goals_of(cells, x);
    for (int k = 0; k < 3; ++k) goals = test::goals_of(cells, goals);
    results.push_back(goals);
  }
  set_thread_count(0);
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
}

TEST(CellSet, ParticlesWithoutACellAreRefused) {
  const Points rest = test::random_points(4, 1);
  EXPECT_THROW(CellSet(rest, VecX::Ones(4), single_cell(3), {}), InputError);
  Cells empty;
  EXPECT_THROW(CellSet(rest, VecX::Ones(4), empty, {}), InputError);
}

}  // namespace
}  // namespace exemplar::shape_matching
