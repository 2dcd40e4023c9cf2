// Tets between offset layers: where the points lie, what is filled and what stays hollow.
#include "meshless/peridynamics/elements/layers.h"

#include <gtest/gtest.h>

#include <numbers>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/models/primitives.h"
#include "core/run/surface_fields.h"
#include "meshless/peridynamics/filling.h"
#include "meshless/peridynamics/method.h"
#include "tests/support/run.h"

namespace exemplar::peridynamics {
namespace {

double volume_of(const TetMesh& mesh) {
  return tet_volumes(mesh.vertices, mesh.tets).sum();
}

TEST(Layers, PointsLieAtTheirDepthAndKeepTheirDistance) {
  const TriMesh sphere = make_sphere({.radius = 0.5, .resolution = 24});
  for (const double depth : {0.0, 0.1, 0.3}) {
    const Points points = layer_points(sphere, depth, 0.06, 1);
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      // The facets of the sphere lie up to 3 mm below it.
      EXPECT_NEAR(points.row(i).norm(), 0.5 - depth, 4e-3);
      for (Eigen::Index j = 0; j < i; ++j) EXPECT_GE((points.row(i) - points.row(j)).norm(), 0.06);
    }
    // Maximal sets of darts on a plane cover between 0.6 and 0.9 points per squared distance.
    const double area = 4 * std::numbers::pi * (0.5 - depth) * (0.5 - depth);
    const double density = static_cast<double>(points.rows()) * 0.06 * 0.06 / area;
    EXPECT_GT(density, 0.55) << depth;
    EXPECT_LT(density, 0.9) << depth;
  }
}

TEST(Layers, AShellIsHollowAndHasItsVolume) {
  const TriMesh sphere = make_sphere({.radius = 0.5, .resolution = 24});
  LayerOptions options;
  options.layers = 4;
  options.wanted = 6000;
  const LayeredTets shell = make_layered_tets(sphere, options);
  ASSERT_EQ(shell.layers, 4);
  EXPECT_TRUE(shell.is_hollow);
  EXPECT_NEAR(static_cast<double>(shell.mesh.tets.rows()) / 6000, 1, 0.2);
  for (Eigen::Index t = 0; t < shell.mesh.tets.rows(); ++t) {
    std::array<int, 4> layers{};
    for (int k = 0; k < 4; ++k) layers[k] = shell.layer_of[shell.mesh.tets(t, k)];
    EXPECT_FALSE(layers[0] == 3 && layers[1] == 3 && layers[2] == 3 && layers[3] == 3);
  }
  const double inner = 0.5 - 3 * shell.distance;
  const double closed_form = 4.0 / 3 * std::numbers::pi * (0.125 - inner * inner * inner);
  EXPECT_NEAR(volume_of(shell.mesh) / closed_form, 1, 0.03);
}

TEST(Layers, ABoxThatIsTooThinForAllLayersIsFilledUpToItsEdges) {
  const TriMesh box = make_box({Vec3(1, 0.4, 0.7), {6, 3, 5}});
  LayerOptions options;
  options.layers = 30;
  options.wanted = 4000;
  const LayeredTets filled = make_layered_tets(box, options);
  EXPECT_LT(filled.layers, 30);
  EXPECT_FALSE(filled.is_hollow);
  EXPECT_NEAR(volume_of(filled.mesh) / 0.28, 1, 0.01);
}

TEST(Layers, TheHoleOfATorusStaysOpen) {
  const TriMesh torus = make_torus({.major_radius = 0.4, .minor_radius = 0.15, .resolution = 32});
  LayerOptions options;
  options.layers = 20;
  options.wanted = 5000;
  const LayeredTets filled = make_layered_tets(torus, options);
  const double volume = signed_volume(torus.vertices, torus.triangles);
  EXPECT_NEAR(volume_of(filled.mesh) / volume, 1, 0.02);
  for (Eigen::Index t = 0; t < filled.mesh.tets.rows(); ++t) {
    Vec3 centre = Vec3::Zero();
    for (int k = 0; k < 4; ++k) centre += 0.25 * filled.mesh.vertices.row(filled.mesh.tets(t, k)).transpose();
    EXPECT_GT(std::hypot(centre.x(), centre.z()), 0.24);
  }
}

SceneSettings layered_ball() {
  SceneSettings settings;
  settings.time = {2e-4, 10000, 1};
  BodySettings body;
  body.name = "ball";
  body.surface.sphere = SphereParams{.radius = 0.05, .resolution = 10};
  body.material.density = 2000;
  body.material.young = 1e9;
  settings.bodies.push_back(body);
  return settings;
}

double mass_with(int layers) {
  const Scene scene = make_scene(layered_ball(), "");
  Settings settings;
  settings.elements = ElementKind::tets;
  settings.particles = 4000;
  settings.horizon = 2;
  settings.layers = layers;
  return make_method(scene, settings)->diagnostics().mass;
}

TEST(Layers, AHollowBallWeighsWhatItsShellDoesAndAFilledOneItsWhole) {
  const double whole = make_scene(layered_ball(), "").bodies[0].mass_properties().mass;
  EXPECT_NEAR(mass_with(40) / whole, 1, 1e-9);
  const double shell = mass_with(3);
  EXPECT_LT(shell, 0.8 * whole);
  EXPECT_GT(shell, 0.1 * whole);
}

TEST(Layers, SettingsThatMeanNothingAreRefused) {
  const Scene scene = make_scene(layered_ball(), "");
  Settings settings;
  settings.layers = 6;
  EXPECT_THROW(make_method(scene, settings), InputError);  // voronoi
  settings.elements = ElementKind::tets;
  settings.layers = 1;
  EXPECT_THROW(make_method(scene, settings), InputError);
  settings.layers = 0;
  settings.layer_distance = 0.01;
  EXPECT_THROW(make_method(scene, settings), InputError);
}

}  // namespace
}  // namespace exemplar::peridynamics
