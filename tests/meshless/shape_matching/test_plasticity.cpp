#include <gtest/gtest.h>

#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

// Five cubes on top of each other (Fig. 3.9 and 3.10).
ShapeMatchingBody stacked_cubes(PlasticityKind kind,
                                PlasticityReference reference = PlasticityReference::neighbours) {
  BodyOptions options = test::stiff_options();
  options.stiffness.iterations = 4;
  options.plasticity.kind = kind;
  options.plasticity.reference = reference;
  options.plasticity.yield = 0.1;
  return {make_block({-0.5, 0, -0.5}, {0.5, 5, 0.5}, {1, 5, 1}, 1000.0).model, options};
}

std::vector<int> layer(const ShapeMatchingBody& body, double height) {
  std::vector<int> out;
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
    if (std::abs(body.rest_positions()(i, 1) - height) < 1e-9) out.push_back(static_cast<int>(i));
  return out;
}

// Angle between the top and the bottom cube's own up directions.
double bend_angle(const ShapeMatchingBody& body) {
  const Vec3 bottom = body.cells().rotation(0).col(1), top = body.cells().rotation(4).col(1);
  return std::acos(std::clamp(bottom.dot(top), -1.0, 1.0)) * 180.0 / EIGEN_PI;
}

// Bends the stack by holding its two ends and turning the top about z, then lets go.
double residual_bend(ShapeMatchingBody& body, double* held_angle = nullptr) {
  const double target = 90.0 * EIGEN_PI / 180.0;
  std::vector<int> held = layer(body, 0.0);
  for (const int p : layer(body, 1.0)) held.push_back(p);
  for (const int p : layer(body, 4.0)) held.push_back(p);
  const std::vector<int> top = layer(body, 5.0);
  held.insert(held.end(), top.begin(), top.end());
  body.set_held(held);
  const int steps = 200;
  for (int k = 1; k <= steps; ++k) {
    const double angle = target * k / steps, r = 5.0 / angle;
    for (const int p : held) {  // carried along a circular arc
      const Vec3 x = body.rest_positions().row(p);
      const double phi = angle * x.y() / 5.0;
      body.positions.row(p) << r - (r - x.x()) * std::cos(phi), (r - x.x()) * std::sin(phi), x.z();
    }
    body.step(0.01, Vec3::Zero());
  }
  if (held_angle) *held_angle = bend_angle(body);
  body.set_held({});
  body.velocities.setZero();
  for (int k = 0; k < 600; ++k) body.step(0.01, Vec3::Zero());
  return bend_angle(body);
}

TEST(Plasticity, StackedCubesDoNotKeepABendWithStretchOnly) {
  ShapeMatchingBody body = stacked_cubes(PlasticityKind::stretch);
  double held = 0.0;
  const double residual = residual_bend(body, &held);
  RecordProperty("residual_degrees", std::to_string(residual));
  EXPECT_GT(held, 60.0);
  EXPECT_LT(residual, 3.0);
}

TEST(Plasticity, StackedCubesKeepABendWithRotation) {
  for (const auto reference : {PlasticityReference::neighbours, PlasticityReference::body}) {
    ShapeMatchingBody body = stacked_cubes(PlasticityKind::with_rotation, reference);
    const double residual = residual_bend(body);
    RecordProperty(reference == PlasticityReference::body ? "residual_body" : "residual_neighbours",
                   std::to_string(residual));
    EXPECT_GT(residual, 20.0);
    EXPECT_LT(residual, 90.0);
  }
}

TEST(Plasticity, ElasticCubesComeBack) {
  ShapeMatchingBody body = stacked_cubes(PlasticityKind::none);
  EXPECT_LT(residual_bend(body), 0.5);
}

TEST(Plasticity, ASpinningBodyNeverYields) {
  for (const auto reference : {PlasticityReference::neighbours, PlasticityReference::body}) {
    BodyOptions options = test::stiff_options();
    options.stiffness.iterations = 4;
    options.plasticity.kind = PlasticityKind::with_rotation;
    options.plasticity.reference = reference;
    options.plasticity.yield = 0.02;
    ShapeMatchingBody body({make_block({-0.5, 0, -0.5}, {0.5, 2, 0.5}, {2, 4, 2}, 1000.0).model, options});
    for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
      body.velocities.row(i) = Vec3(0.5, 0.3, 3.0).cross(Vec3(body.positions.row(i))).transpose();
    for (int k = 0; k < 2000; ++k) {
      body.step(0.005, Vec3::Zero());
      ASSERT_EQ(body.flowing_cells(), 0) << k;
    }
    EXPECT_EQ(body.largest_plastic_deformation(), 0.0);
  }
}

TEST(Plasticity, StretchFlowsAboveYieldAndStaysBounded) {
  BodyOptions options = test::stiff_options();
  options.plasticity.kind = PlasticityKind::stretch;
  options.plasticity.yield = 0.1;
  options.plasticity.max = 0.5;
  for (const double stretch : {1.03, 1.4, 3.0}) {
    ShapeMatchingBody body({make_block({0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1000.0).model, options});
    body.set_held({0, 1, 2, 3, 4, 5, 6, 7});
    for (int k = 1; k <= 50; ++k) {  // pulled apart at constant volume, then let go
      const double now = 1.0 + (stretch - 1.0) * k / 50.0;
      body.positions =
          body.rest_positions() * Vec3(1.0 / std::sqrt(now), now, 1.0 / std::sqrt(now)).asDiagonal();
      body.step(0.01, Vec3::Zero());
    }
    body.set_held({});
    for (int k = 0; k < 200; ++k) body.step(0.01, Vec3::Zero());
    const double length = body.positions.col(1).maxCoeff() - body.positions.col(1).minCoeff();
    // What is left is the stretch less the elastic part: ‖S − I‖ = yield, S = diag(1/√s, s, 1/√s).
    const double elastic = 1.0 + 0.1 / std::sqrt(1.5);
    if (stretch < 1.05) {
      EXPECT_NEAR(length, 1.0, 1e-9);
    }
    if (stretch > 1.05 && stretch < 2.0) {
      EXPECT_NEAR(length, stretch / elastic, 0.02);
    }
    if (stretch > 2.0) {
      EXPECT_NEAR(body.largest_plastic_deformation(), 0.5, 1e-12);
    }
    EXPECT_LT(length, 1.5);
  }
}

TEST(Plasticity, CreepIsARate) {
  // Held stretched: plastic deformation grows with time, alike at different steps.
  std::vector<double> deformation;
  for (const double h : {0.01, 0.005, 0.0025}) {
    BodyOptions options = test::stiff_options(0.5);
    options.plasticity.kind = PlasticityKind::stretch;
    options.plasticity.yield = 0.05;
    options.plasticity.creep = 2.0;
    ShapeMatchingBody body({make_block({0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1000.0).model, options});
    body.positions.col(1) *= 1.5;
    body.set_held({0, 1, 2, 3, 4, 5, 6, 7});
    for (int k = 0; k < static_cast<int>(0.5 / h + 0.5); ++k) body.step(h, Vec3::Zero());
    deformation.push_back(body.largest_plastic_deformation());
  }
  EXPECT_GT(deformation[0], 0.05);
  EXPECT_NEAR(deformation[0], deformation[2], 0.03 * deformation[2]);
  EXPECT_NEAR(deformation[1], deformation[2], 0.015 * deformation[2]);
}

TEST(Plasticity, NeighboursOfACubeShareFaces) {
  const CubicalModel block = make_block({0, 0, 0}, {3, 3, 3}, {3, 3, 3}, 1.0);
  const auto neighbours = neighbouring_cells(block.model.cells, 64);
  EXPECT_EQ(neighbours[13].size(), 6U);
  EXPECT_EQ(neighbours[0].size(), 3U);
}

}  // namespace
}  // namespace exemplar::shape_matching

namespace exemplar::shape_matching {
namespace {

// Coarser levels must follow what flowed below them, or they would straighten the body again.
TEST(Plasticity, ABendIsKeptUnderCoarserLevels) {
  BodyOptions options = test::stiff_options();
  options.stiffness.frequency = 1e3;
  options.levels = 4;
  options.plasticity.kind = PlasticityKind::with_rotation;
  options.plasticity.yield = 0.05;
  ShapeMatchingBody body({make_block({-0.5, 0, -0.5}, {0.5, 8, 0.5}, {1, 8, 1}, 1000.0).model, options});
  ASSERT_GT(body.levels().size(), 2U);
  for (int k = 0; k < 150; ++k) {  // bent into an arc by moving all particles, then let go
    const double angle = 0.5 * EIGEN_PI * (k + 1) / 150.0, r = 8.0 / angle;
    for (Eigen::Index i = 0; i < body.positions.rows(); ++i) {
      const Vec3 x = body.rest_positions().row(i);
      const double phi = angle * x.y() / 8.0;
      body.positions.row(i) << r - (r - x.x()) * std::cos(phi), (r - x.x()) * std::sin(phi), x.z();
    }
    body.velocities.setZero();
    body.step(0.01, Vec3::Zero());
  }
  for (int k = 0; k < 600; ++k) body.step(0.01, Vec3::Zero());
  const double angle =
      std::acos(body.cells().rotation(0).col(1).dot(body.cells().rotation(7).col(1))) * 180.0 / EIGEN_PI;
  EXPECT_GT(angle, 45.0);
  EXPECT_LT(angle, 95.0);
}

}  // namespace
}  // namespace exemplar::shape_matching
