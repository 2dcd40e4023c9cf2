// Bonds across gaps and notches; loads and supports at the surface; bodies that cannot be filled as they are.
#include <gtest/gtest.h>

#include <cmath>

#include "core/mesh/models/primitives.h"
#include "meshless/peridynamics/cuts.h"
#include "meshless/peridynamics/filling.h"
#include "meshless/peridynamics/method.h"
#include "meshless/peridynamics/solver.h"
#include "tests/support/run.h"

namespace exemplar::peridynamics {
namespace {

TriMesh box_at(const Vec3& size, const Vec3& centre, int resolution) {
  TriMesh mesh = make_box(BoxParams{size, Eigen::Vector3i::Constant(resolution)});
  mesh.vertices.rowwise() += centre.transpose();
  return mesh;
}

// Two blocks with a slit of half a spacing between them, one surface: not one bond joins them.
TEST(Cuts, BondsDoNotCrossASlitNarrowerThanTheHorizon) {
  const double h = 0.1;
  TriMesh both = box_at({1, 0.5, 0.5}, {0, 0.25 + 0.025, 0}, 2);
  const TriMesh lower = box_at({1, 0.5, 0.5}, {0, -0.25 - 0.025, 0}, 2);
  const auto shift = static_cast<int>(both.vertices.rows());
  both.vertices.conservativeResize(shift + lower.vertices.rows(), 3);
  both.vertices.bottomRows(lower.vertices.rows()) = lower.vertices;
  const Eigen::Index first = both.triangles.rows();
  both.triangles.conservativeResize(first + lower.triangles.rows(), 3);
  both.triangles.bottomRows(lower.triangles.rows()) = lower.triangles.array() + shift;
  ParticleSet set = cube_grid(10, 5, 5, h, Vec3(-0.45, 0.075, -0.2));
  const ParticleSet under = cube_grid(10, 5, 5, h, Vec3(-0.45, -0.475, -0.2));
  ParticleSet all;
  all.append(set, 0);
  all.append(under, 0);
  const Material material{1000, 1e6, 0, 0};
  const Solver solver(all, std::span(&material, 1), Rules{}, 3 * h, h, crosses_surface(both, all.positions));
  const Solver alone(set, std::span(&material, 1), Rules{}, 3 * h, h);
  EXPECT_EQ(solver.bonds().directed_bonds(), 2 * alone.bonds().directed_bonds());
  for (int i = 0; i < 250; ++i) solver.for_each_bond(i, [&](int j, double, double) { EXPECT_LT(j, 250); });
}

TEST(Cuts, NotchesCutWhatCrossesThem) {
  const Notch plane{Notch::Shape::plane, {0, 0, 0}, Vec3::UnitY(), 0, {}, {}};
  EXPECT_TRUE(crosses(plane, {0, 1, 0}, {5, -1, 0}));
  EXPECT_FALSE(crosses(plane, {0, 1, 0}, {5, 2, 0}));
  const Notch disc{Notch::Shape::disc, {1, 0, 0}, Vec3::UnitY(), 0.5, {}, {}};
  EXPECT_TRUE(crosses(disc, {1.4, 1, 0}, {1.4, -1, 0}));
  EXPECT_FALSE(crosses(disc, {1.6, 1, 0}, {1.6, -1, 0}));
  const Notch patch{Notch::Shape::parallelogram, {0, 0, 0}, Vec3::UnitY(), 0, {2, 0, 0}, {0, 0, 1}};
  EXPECT_TRUE(crosses(patch, {1.9, 1, 0.9}, {1.9, -1, 0.9}));
  EXPECT_FALSE(crosses(patch, {-0.1, 1, 0.5}, {-0.1, -1, 0.5}));
  EXPECT_FALSE(crosses(patch, {1, 1, 1.1}, {1, -1, 1.1}));
}

SceneSettings block(int resolution) {
  SceneSettings settings;
  settings.time = {1e-3, 1000, 1};
  settings.gravity = Vec3::Zero();
  BodySettings body;
  body.name = "block";
  body.surface.box = BoxParams{Vec3(0.2, 0.1, 0.1), Eigen::Vector3i::Constant(resolution)};
  body.material.density = 2000;
  body.material.young = 1e7;
  settings.bodies.push_back(body);
  return settings;
}

// Twelve triangles, particles of 1 cm: no particle lies on the face, no triangle lies in the region.
TEST(Cuts, TractionAndPressureActOnTheTributarySurface) {
  for (const ElementKind kind : {ElementKind::cubes, ElementKind::tets, ElementKind::voronoi}) {
    for (const bool is_pressure : {false, true}) {
      SceneSettings settings = block(1);
      LoadSettings load;
      load.kind = is_pressure ? LoadKind::pressure : LoadKind::traction;
      load.region.box = RegionBox{Vec3(0.0999, -1, -1), Vec3(0.11, 1, 1)};
      load.value = Vec3(-1000, 0, 0);
      load.magnitude = 1000;
      settings.loads.push_back(load);
      const Scene scene = make_scene(settings, "");
      Settings own;
      own.elements = kind;
      own.particles = 500;
      const auto method = make_method(scene, own);
      ASSERT_EQ(method->advance(1e-3, k_never).status, Status::ok);
      const double expected = -1000 * 0.01 * 1e-3;
      EXPECT_NEAR(method->diagnostics().linear_momentum.x(), expected, 0.01 * std::abs(expected))
          << static_cast<int>(kind) << is_pressure;
    }
  }
}

TEST(Cuts, ASupportOnTheSurfaceHoldsTheParticlesBelowIt) {
  SceneSettings settings = block(2);
  settings.gravity = Vec3(0, -9.81, 0);
  settings.time = {0.02, 100, 1};
  SupportSettings support;
  support.region.box = RegionBox{Vec3(-0.11, -1, -1), Vec3(-0.0999, 1, 1)};
  settings.bodies[0].supports.push_back(support);
  const Scene scene = make_scene(settings, "");
  Settings own;
  own.elements = ElementKind::cubes;
  own.particles = 800;
  const auto method = make_method(scene, own);
  ASSERT_EQ(method->advance(0.01, k_never).status, Status::ok);
  const Points moved = method->fields()[0].points - scene.bodies[0].surface().vertices;
  const Points& rest = scene.bodies[0].surface().vertices;
  for (Eigen::Index v = 0; v < rest.rows(); ++v) {
    if (rest(v, 0) < -0.0999) {
      EXPECT_LT(moved.row(v).norm(), 1e-4);
    }
  }
  EXPECT_LT(moved.col(1).minCoeff(), -1e-4);
}

// The area vectors of a closed surface add up to nothing; here relative to its area.
double gap_of(const Geometry& surface) {
  Vec3 sum = Vec3::Zero();
  double whole = 0;
  for (std::size_t t = 0; t + 2 < surface.connectivity.size(); t += 3) {
    const Vec3 a = surface.points.row(surface.connectivity[t]),
               b = surface.points.row(surface.connectivity[t + 1]),
               c = surface.points.row(surface.connectivity[t + 2]);
    sum += 0.5 * (b - a).cross(c - a);
    whole += 0.5 * (b - a).cross(c - a).norm();
  }
  return sum.norm() / whole;
}

// A sphere of more triangles than TetGen is given.
TEST(Cuts, BodiesThatCannotBeFilledAsTheyAreKeepTheirMass) {
  for (const ElementKind kind : {ElementKind::cubes, ElementKind::voronoi}) {
    SceneSettings settings = block(1);
    settings.bodies[0].surface.box.reset();
    settings.bodies[0].surface.sphere = SphereParams{};
    settings.bodies[0].surface.sphere->radius = 0.5;
    settings.bodies[0].surface.sphere->resolution = 45;
    const Scene scene = make_scene(settings, "");
    ASSERT_GT(scene.bodies[0].surface().triangles.rows(), 30000);
    Settings own;
    own.elements = kind;
    own.particles = 500;
    own.surface = WrittenSurface::fragments;
    const auto method = make_method(scene, own);
    const double expected = scene.bodies[0].mass_properties().mass;
    EXPECT_NEAR(method->diagnostics().mass, expected, 0.01 * expected);
    EXPECT_LT(gap_of(method->fields()[0]), 1e-9);
  }
}

}  // namespace
}  // namespace exemplar::peridynamics
