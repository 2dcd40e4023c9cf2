// Loads on the surface: what they do to the particles is what they do to the surface.
#include <gtest/gtest.h>

#include <cmath>

#include "core/mesh/models/primitives.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "meshless/peridynamics/method.h"
#include "meshless/peridynamics/pieces/loaded_surface.h"
#include "tests/support/run.h"

namespace exemplar::peridynamics {
namespace {

SceneSettings free_box(const Vec3& size) {
  SceneSettings settings;
  settings.time = {0.3, 60, 1};
  settings.gravity = Vec3::Zero();
  BodySettings body;
  body.name = "box";
  body.surface.box = BoxParams{size, Eigen::Vector3i(2, 2, 2)};
  body.material.density = 1000;
  body.material.young = 1e6;
  body.material.poisson = 0.25;
  settings.bodies.push_back(body);
  LoadSettings load;
  load.kind = LoadKind::pressure;
  load.magnitude = 2e4;
  load.region.emplace().all = true;
  load.ramp_up = 0.1;
  settings.loads.push_back(load);
  return settings;
}

Settings cells_of(int particles) {
  Settings settings;
  settings.elements = ElementKind::voronoi;
  settings.particles = particles;
  return settings;
}

// It spun up: 233 J after 0.3 s with 3939 particles.
TEST(SurfaceLoads, PressureAllRoundTurnsNothing) {
  const Scene scene = make_scene(free_box(Vec3::Constant(0.2)), "");
  const auto method = make_method(scene, cells_of(300));
  ASSERT_EQ(method->advance(0.3, k_never).status, Status::ok);
  const Diagnostics d = method->diagnostics();
  EXPECT_LT(d.angular_momentum.norm(), 1e-10);
  EXPECT_LT(d.linear_momentum.norm(), 1e-10);
  EXPECT_LT(d.kinetic_energy, 0.01);
  EXPECT_NEAR(d.elastic_energy, 2.8, 0.6);
  EXPECT_NEAR(d.kinetic_energy + d.elastic_energy, d.external_work, 1e-3 * d.elastic_energy);
}

TEST(SurfaceLoads, TractionOnOneSideTurnsTheBody) {
  SceneSettings settings = free_box(Vec3(0.3, 0.1, 0.1));
  settings.loads[0] = {};
  settings.loads[0].kind = LoadKind::traction;
  settings.loads[0].value = Vec3(100, 0, 0);
  settings.loads[0].region->half_space = RegionHalfSpace{Vec3(0, 0.049, 0), Vec3::UnitY()};
  settings.time.duration = 0.05;
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, cells_of(300));
  ASSERT_EQ(method->advance(0.05, k_never).status, Status::ok);
  // 3 N with an arm of 0.05 m for 0.05 s
  EXPECT_NEAR(method->diagnostics().angular_momentum.z(), -7.5e-3, 2e-5);
}

// Two layers, and one: there the normal of the plane carries what no bond does.
TEST(SurfaceLoads, MomentsReachTheParticlesOfPlates) {
  for (const double thickness : {0.04, 0.02}) {
    const TriMesh surface =
        make_box({.size = Vec3(0.2, 0.2, thickness), .resolution = Eigen::Vector3i(2, 2, 1)});
    VolumeOptions options;
    options.allow_cage = false;
    const TetMesh volume = build_volume(surface, options).mesh;
    const Elements elements = make_elements(ElementKind::cubes, surface, volume, 0.02, 1);
    LoadedSurface loaded(elements);
    Points x = elements.particles.positions;
    const Points rest = x;
    const auto bonded = [&](int i, int j) { return i != j && (rest.row(i) - rest.row(j)).norm() < 0.05; };
    BondsOfBody bonds;
    bonds.count = [](int) { return 1; };
    bonds.find = [&](int i, std::vector<int>& found) {
      found.clear();
      for (int j = 0; j < static_cast<int>(rest.rows()); ++j)
        if (bonded(i, j)) found.push_back(j);
    };
    bonds.has = bonded;
    loaded.follow_bonds(bonds);
    for (Eigen::Index i = 0; i < x.rows(); ++i) x(i, 2) += 0.5 * x(i, 0) + 2 * x(i, 1) * x(i, 1);
    const auto unturned = [](int) { return Mat3(Mat3::Identity()); };
    const Points points = loaded.points(x, unturned);
    Points forces(points.rows(), 3);
    for (Eigen::Index k = 0; k < forces.size(); ++k)
      forces.data()[k] = std::sin(1.0 + static_cast<double>(k));
    const Points spread = loaded.spread(forces, x);
    Vec3 moment = Vec3::Zero();
    for (Eigen::Index p = 0; p < points.rows(); ++p) moment += Vec3(points.row(p)).cross(Vec3(forces.row(p)));
    for (Eigen::Index i = 0; i < x.rows(); ++i) moment -= Vec3(x.row(i)).cross(Vec3(spread.row(i)));
    EXPECT_LT(moment.norm(), 1e-12 * forces.norm());
    EXPECT_LT((forces.colwise().sum() - spread.colwise().sum()).norm(), 1e-12 * forces.norm());
  }
}

}  // namespace
}  // namespace exemplar::peridynamics
