// Bodies of tetrahedral cells are as stiff as their material.
#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/output/described_state.h"
#include "meshless/shape_matching/checks/experiments.h"
#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

TetMesh regular_tet() {
  TetMesh mesh;
  mesh.vertices.resize(4, 3);
  mesh.vertices << 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1;
  mesh.tets.resize(1, 4);
  mesh.tets << 0, 2, 1, 3;
  return mesh;
}

// Its corners are at ±1 along every axis; what is alike in all directions strains uniformly.
TEST(TetStiffness, ARegularTetHasTheVarianceOfItsCorners) {
  TetMesh mesh = regular_tet();
  EXPECT_NEAR(make_tet_cells(mesh, 700.0).square_radius, 1.0, 1e-12);
  mesh.tets << 2, 0, 1, 3;  // the other way round
  EXPECT_NEAR(make_tet_cells(mesh, 700.0).square_radius, 1.0, 1e-12);
  EXPECT_NEAR(make_tet_cells(mesh, 700.0, VecX::Constant(1, 0.3)).square_radius, 1.0, 1e-12);
}

// Below the mean that all tets straining alike would have, and above what all of them under the same stress would.
TEST(TetStiffness, LiesBetweenTheBoundsOfVoigtAndReuss) {
  const TetMesh mesh = uneven_tet_bar(8);
  const CellModel model = make_tet_cells(mesh, 1.0);
  VecX counts = VecX::Zero(model.masses.size());
  for (const int p : model.cells.particles) counts(p) += 1.0;
  double voigt = 0.0, reuss = 0.0, volume = 0.0;
  for (int c = 0; c < model.cells.count(); ++c) {
    Eigen::Matrix<double, 4, 3> x;
    Eigen::RowVector4d w;
    for (int i = 0; i < 4; ++i) {
      const int p = model.cells.of(c)[static_cast<std::size_t>(i)];
      x.row(i) = model.rest_positions.row(p);
      w(i) = model.masses(p) / counts(p);
    }
    const Mat3 edges = (x.bottomRows<3>().rowwise() - x.row(0)).transpose();
    const double v = std::abs(edges.determinant()) / 6.0;
    const Eigen::RowVector3d centre = w * x / w.sum();
    x.rowwise() -= centre;
    const Mat3 second = x.transpose() * w.transpose().asDiagonal() * x;
    // Along y, which counts for nearly all of a bar's length.
    voigt += second(1, 1);
    reuss += v * v * Mat3(second.inverse())(1, 1);
    volume += v;
  }
  EXPECT_LT(model.square_radius, voigt / volume);
  EXPECT_GT(model.square_radius, volume / reuss);
}

TEST(TetStiffness, DoesNotDependOnUnitsOrThreads) {
  TetMesh mesh = uneven_tet_bar(24);
  std::vector<double> found;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    found.push_back(make_tet_cells(mesh, 1000.0).square_radius);
  }
  set_thread_count(0);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  mesh.vertices *= 1000.0;
  EXPECT_NEAR(make_tet_cells(mesh, 3.0).square_radius / found[0], 1e6, 1.0);
}

// With the mean of the tets' own s² it hung down 1.7 times as far; with two passes where one and a half would do, 0.75 times.
TEST(TetStiffness, AHangingBarStretchesAsItsMaterial) {
  for (const int cubes : {8, 16})
    for (const int passes : {1, 2, 4})
      EXPECT_NEAR(hanging_tet_bar_stretch(cubes, passes), 1.0, 0.05) << cubes << " cubes, " << passes;
}

TEST(TetStiffness, BodiesKeepBothMomentaAndTheirBits) {
  BodyOptions options;
  options.stiffness.wave_speed = 20.0;
  options.levels = 2;
  options.plasticity.kind = PlasticityKind::with_rotation;
  options.plasticity.yield = 0.02;
  std::vector<StateArrays> states;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const CellModel model = make_tet_cells(uneven_tet_bar(16), 1000.0);
    const double step = std::sqrt(2.5 * model.square_radius) / options.stiffness.wave_speed;
    ShapeMatchingBody body(model, options), resumed(model, options);
    body.velocities = test::random_points(static_cast<int>(body.positions.rows()), 4, 1.0);
    ASSERT_LT(body.plan(step).last_pass, 1.0);
    const Vec3 p = test::linear_momentum(body), l = test::angular_momentum(body);
    for (int k = 0; k < 20; ++k) {
      resumed.set_state(body.state());
      body.step(step, Vec3::Zero());
      resumed.step(step, Vec3::Zero());
      ASSERT_TRUE(same_state(resumed.state(), body.state())) << k;
    }
    const double scale = body.masses().sum();
    EXPECT_LT((test::linear_momentum(body) - p).norm(), 1e-11 * scale);
    EXPECT_LT((test::angular_momentum(body) - l).norm(), 1e-11 * scale);
    states.push_back(arrays_of_state(body.state()));
  }
  set_thread_count(0);
  EXPECT_TRUE(states[0] == states[1]);
  EXPECT_TRUE(states[0] == states[2]);
}

}  // namespace
}  // namespace exemplar::shape_matching
