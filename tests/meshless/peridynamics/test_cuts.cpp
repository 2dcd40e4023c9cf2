// Bonds across gaps and notches; loads and supports at the surface; bodies that cannot be filled as they are.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/files/files.h"
#include "core/mesh/models/primitives.h"
#include "meshless/peridynamics/cuts.h"
#include "meshless/peridynamics/filling.h"
#include "meshless/peridynamics/method.h"
#include "meshless/peridynamics/solver.h"
#include "tests/meshless/peridynamics/support.h"
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
  EXPECT_FALSE(crosses_surface(lower, under.positions)) << "no line between two points of a block leaves it";
}

TEST(Cuts, NotchesCutWhatCrossesThem) {
  const Notch plane{Notch::Shape::plane, {0, 0, 0}, Vec3::UnitY(), 0, {}, {}};
  EXPECT_TRUE(NotchTest(plane)({0, 1, 0}, {5, -1, 0}));
  EXPECT_FALSE(NotchTest(plane)({0, 1, 0}, {5, 2, 0}));
  const Notch disc{Notch::Shape::disc, {1, 0, 0}, Vec3::UnitY(), 0.5, {}, {}};
  EXPECT_TRUE(NotchTest(disc)({1.4, 1, 0}, {1.4, -1, 0}));
  EXPECT_FALSE(NotchTest(disc)({1.6, 1, 0}, {1.6, -1, 0}));
  const Notch patch{Notch::Shape::parallelogram, {0, 0, 0}, Vec3::UnitY(), 0, {2, 0, 0}, {0, 0, 1}};
  EXPECT_TRUE(NotchTest(patch)({1.9, 1, 0.9}, {1.9, -1, 0.9}));
  EXPECT_FALSE(NotchTest(patch)({-0.1, 1, 0.5}, {-0.1, -1, 0.5}));
  EXPECT_FALSE(NotchTest(patch)({1, 1, 1.1}, {1, -1, 1.1}));
}

// Bonds that meet the very tip of a notch: rounding must not cut one and spare its mirror image.
TEST(Cuts, ANotchTreatsMirrorImagesAlike) {
  Notch patch{Notch::Shape::parallelogram, {-0.06, 0, -0.01}, {0, 1, 0}, 1, {0.06, 0, 0}, {0, 0, 0.02}};
  const double h = 0.04 / 160;
  int at_tip = 0;
  for (int k = 0; k < 4; ++k)
    for (int x = 1; x < 5; ++x)
      for (int y = 1; y < 5; ++y) {
        // From (−(2x − 1), 2y − 1) to its point reflection: through the tip at (0, 0).
        const Vec3 a(-(x - 0.5) * h, (y - 0.5) * h, (k - 1.5) * h), b(-a.x(), -a.y(), a.z());
        const Vec3 c(a.x(), -a.y(), a.z()), d(b.x(), -b.y(), b.z());
        EXPECT_TRUE(NotchTest(patch)(a, b));
        EXPECT_TRUE(NotchTest(patch)(c, d));
        ++at_tip;
      }
  EXPECT_EQ(at_tip, 64);
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
      load.region.emplace().box = RegionBox{Vec3(0.0999, -1, -1), Vec3(0.11, 1, 1)};
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

// Whatever of a body cannot be filled as it is keeps its mass, and its pieces are closed by their edges.
void expect_kept(const SceneSettings& settings, ElementKind kind) {
  const Scene scene = make_scene(settings, "");
  Settings own;
  own.elements = kind;
  own.particles = 500;
  own.surface = WrittenSurface::fragments;
  own.notches.push_back({NotchPlane{Vec3(0.02, 0, 0), Vec3(1, 0.2, 0).normalized()}, {}, {}});
  const auto method = make_method(scene, own);
  const double expected = scene.bodies[0].mass_properties().mass;
  EXPECT_NEAR(method->diagnostics().mass, expected, 0.01 * expected);
  const Geometry surface = method->fields()[0];
  EXPECT_EQ(open_edges_of(surface), 0);
  std::set<double> pieces;
  double inside = 0;
  for (const double f : array_of(surface, "fragment", Association::cell).values) pieces.insert(f);
  for (const double i : array_of(surface, "interior", Association::cell).values) inside += i;
  EXPECT_GE(pieces.size(), 2u);
  EXPECT_GT(inside, 20);
}

class Filled : public ::testing::TestWithParam<ElementKind> {};

// A sphere of more triangles than TetGen is given.
TEST_P(Filled, AFineSphereKeepsItsMassAndItsPiecesAreClosed) {
  SceneSettings settings = block(1);
  settings.bodies[0].surface.box.reset();
  settings.bodies[0].surface.sphere = SphereParams{};
  settings.bodies[0].surface.sphere->radius = 0.5;
  settings.bodies[0].surface.sphere->resolution = 45;
  ASSERT_EQ(make_scene(settings, "").bodies[0].surface().triangles.rows(), 40500);
  expect_kept(settings, GetParam());
}

// Two boxes through each other in one file: the surface crosses itself.
TEST_P(Filled, ASelfCrossingImportKeepsItsMassAndItsPiecesAreClosed) {
  TriMesh both = box_at({0.6, 0.2, 0.2}, {0, 0, 0}, 4);
  const TriMesh other = box_at({0.2, 0.6, 0.17}, {0.05, 0.03, 0.01}, 4);
  const auto shift = static_cast<int>(both.vertices.rows());
  both.vertices.conservativeResize(shift + other.vertices.rows(), 3);
  both.vertices.bottomRows(other.vertices.rows()) = other.vertices;
  const Eigen::Index first = both.triangles.rows();
  both.triangles.conservativeResize(first + other.triangles.rows(), 3);
  both.triangles.bottomRows(other.triangles.rows()) = other.triangles.array() + shift;
  const std::string path = ::testing::TempDir() + "/crossing.obj";
  write_surface(path, both);
  SceneSettings settings = block(1);
  settings.bodies[0].surface.box.reset();
  settings.bodies[0].surface.file = path;
  expect_kept(settings, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Filled,
                         ::testing::Values(ElementKind::cubes, ElementKind::tets, ElementKind::voronoi));

// v = G (x − c) + ω × (x − c) on top of the body's own velocity, exactly.
TEST(Cuts, VelocityFieldsAreUniformLinearOrTurning) {
  SceneSettings settings = block(2);
  settings.bodies[0].velocity = Vec3(1, 0, 0);
  const Scene scene = make_scene(settings, "");
  Settings own;
  own.elements = ElementKind::cubes;
  own.particles = 250;
  VelocityField ramp;
  ramp.gradient = {Vec3(3, 0, 0), Vec3(0, -1, 0), Vec3(0, 0, 2)};
  ramp.angular_velocity = Vec3(0, 0, 5);
  ramp.centre = Vec3(0.01, 0, 0);
  VelocityField half;
  half.region.half_space = RegionHalfSpace{Vec3::Zero(), Vec3::UnitX()};
  half.velocity = Vec3(0, 7, 0);
  own.velocities = {ramp, half};
  const auto method = make_method(scene, own);
  const Geometry particles = method->fields()[1];
  const std::vector<double>& v = array_of(particles, "velocity", Association::point).values;
  for (Eigen::Index i = 0; i < particles.points.rows(); ++i) {
    const Vec3 x = particles.points.row(i);
    const Vec3 expected(1 + 3 * (x.x() - 0.01) - 5 * x.y(),
                        -x.y() + 5 * (x.x() - 0.01) + (x.x() >= 0 ? 7 : 0), 2 * x.z());
    EXPECT_LT((Vec3(v.data() + 3 * i) - expected).norm(), 1e-12);
  }
  own.velocities[1].region.half_space->point = Vec3(9, 0, 0);
  EXPECT_THROW(make_method(scene, own), InputError);
}

TEST(Cuts, AHorizonInMetresIsTheSameForAnyNumberOfParticles) {
  const Scene scene = make_scene(block(2), "");
  const auto horizon_of = [&](int particles, double length) {
    Settings own;
    own.elements = ElementKind::cubes;
    own.particles = particles;
    own.horizon_length = length;
    for (const Note& note : make_method(scene, own)->notes())
      if (const auto at = note.text.find("horizon "); at != std::string::npos)
        return std::stod(note.text.substr(at + 8));
    return 0.0;
  };
  EXPECT_NEAR(horizon_of(500, 0.05), 0.05, 1e-9);
  EXPECT_NEAR(horizon_of(2000, 0.05), 0.05, 1e-9);
  EXPECT_THROW(horizon_of(500, 0.001), InputError);
}

// Two planes cut the block into four, a third takes a thin slice off: the slice is dust.
TEST(Cuts, DustIsHiddenOrWrittenAsPoints) {
  const Scene scene = make_scene(block(2), "");
  Settings own;
  own.elements = ElementKind::cubes;
  own.particles = 2000;  // 0.2 × 0.1 × 0.1 m in cubes of 1 cm
  own.horizon = 1.5;
  own.surface = WrittenSurface::fragments;
  own.notches.push_back({NotchPlane{Vec3(0.09, 0, 0), Vec3::UnitX()}, {}, {}});
  own.dust_size = 0.05;  // the slice is 1e-4 m³, a cube of 0.046
  const auto cells = [&](DustDisplay dust) {
    own.dust = dust;
    return make_method(scene, own)->fields();
  };
  const auto whole = cells(DustDisplay::surface), hidden = cells(DustDisplay::hidden),
             points = cells(DustDisplay::points);
  EXPECT_NEAR(whole[0].points.col(0).maxCoeff(), 0.1, 1e-12);
  EXPECT_NEAR(hidden[0].points.col(0).maxCoeff(), 0.09, 1e-9);
  ASSERT_EQ(points.size(), 3u);
  ASSERT_EQ(points[2].points.rows(), 1);
  EXPECT_NEAR(points[2].points(0, 0), 0.095, 1e-9);
  EXPECT_NEAR(4.0 / 3 * M_PI * std::pow(array_of(points[2], "radius", Association::point).values[0], 3), 1e-4,
              1e-9);
}

}  // namespace
}  // namespace exemplar::peridynamics
