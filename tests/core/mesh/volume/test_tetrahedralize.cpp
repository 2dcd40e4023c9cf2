#include "core/mesh/volume/tetrahedralize.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/quality.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/cage.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

using testing::box_surface;
using testing::merge_meshes;
using testing::sphere_surface;
using testing::torus_surface;
using testing::unit;

// Every volume must hold what its users rely on.
void expect_sound(const Volume& volume, const TriMesh& surface) {
  const TetReport report = inspect(volume.mesh);
  EXPECT_GT(report.tets, 0);
  EXPECT_EQ(report.inverted, 0);
  const TriMesh boundary = boundary_surface(volume.mesh);
  EXPECT_EQ(boundary_edges(boundary.triangles).rows(), 0);
  EXPECT_EQ(non_manifold_edges(boundary.triangles).rows(), 0);
  EXPECT_TRUE(non_manifold_vertices(boundary.triangles, boundary.vertices.rows()).empty());
  EXPECT_NEAR(signed_volume(boundary.vertices, boundary.triangles), report.volume, 1e-9 * report.volume);
  ASSERT_EQ(volume.surface.tet.size(), surface.vertices.rows());
  const double size = surface.vertices.cwiseAbs().maxCoeff();
  EXPECT_LT((apply(volume.surface, volume.mesh.tets, volume.mesh.vertices) - surface.vertices)
                .cwiseAbs()
                .maxCoeff(),
            1e-9 * size);
  ASSERT_EQ(volume.fill.size(), volume.mesh.tets.rows());
  EXPECT_GT(volume.fill.minCoeff(), 0);
  EXPECT_LE(volume.fill.maxCoeff(), 1);
  // Every node belongs to a tet.
  EXPECT_GE(connected_parts(volume.mesh.tets, volume.mesh.vertices.rows()).of_vertex.minCoeff(), 0);
}

double filled(const Volume& volume) {
  return volume.fill.dot(tet_volumes(volume.mesh.vertices, volume.mesh.tets));
}

TEST(BoxTets, FillTheBoxWithMatchingFaces) {
  for (const Split split : {Split::five, Split::six}) {
    const Vec3 size(2, 3, 0.5);
    const TetMesh mesh = box_tets(size, {4, 3, 2}, split);
    EXPECT_EQ(mesh.tets.rows(), 24 * (split == Split::five ? 5 : 6));
    EXPECT_EQ(mesh.vertices.rows(), 5 * 4 * 3);
    EXPECT_GT(tet_volumes(mesh.vertices, mesh.tets).minCoeff(), 0);
    EXPECT_NEAR(tet_volumes(mesh.vertices, mesh.tets).sum(), 3, 1e-13);
    // Faces that did not match would show up in the boundary.
    const TriMesh boundary = boundary_surface(mesh);
    EXPECT_EQ(boundary.triangles.rows(), 2 * 2 * (4 * 3 + 3 * 2 + 4 * 2));
    EXPECT_NEAR(surface_area(boundary.vertices, boundary.triangles), 2 * (6 + 1.5 + 1), 1e-12);
    EXPECT_LT(mesh.vertices.colwise().sum().norm(), 1e-12);
  }
}

TEST(BoxTets, AbsurdSizesAreRefused) {
  EXPECT_THROW(box_tets(unit, {100000, 100000, 100000}), InputError);
  EXPECT_THROW(box_tets(unit, {0, 1, 1}), InputError);
  EXPECT_THROW(box_tets(Vec3(1, -1, 1), {1, 1, 1}), InputError);
}

TEST(BuildVolume, CoarseBoxIsSplit) {
  const TriMesh box = box_surface(Vec3(-0.6, -0.015, -0.125), Vec3(0.6, 0.015, 0.125));
  const Volume volume = build_volume(box, {.max_tet_volume = 1e-5});
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, box);
  const TetReport report = inspect(volume.mesh);
  EXPECT_NEAR(report.volume, 0.009, 1e-12);
  EXPECT_LE(report.max_volume, 1e-5 * (1 + 1e-9));
  EXPECT_GT(report.min_dihedral, 5);
}

TEST(BuildVolume, FineSurfaceIsKept) {
  const TriMesh sphere = sphere_surface(0.5, 24, 36);
  const Volume volume = build_volume(sphere);
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, sphere);
  EXPECT_NEAR(filled(volume), signed_volume(sphere.vertices, sphere.triangles), 1e-12);
  // Every vertex of the surface is a node.
  EXPECT_EQ((volume.surface.weights.array() == 1).count(), sphere.vertices.rows());
}

TEST(BuildVolume, CavityStaysEmpty) {
  TriMesh inner = sphere_surface(0.3, 12, 18);
  inner.triangles.col(0).swap(inner.triangles.col(1));
  const TriMesh hollow = merge_meshes(sphere_surface(0.5, 16, 24), inner);
  const Volume volume = build_volume(hollow);
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, hollow);
  EXPECT_NEAR(filled(volume), signed_volume(hollow.vertices, hollow.triangles), 1e-12);
}

TEST(BuildVolume, InsideOutSurfaceIsTurned) {
  TriMesh torus = torus_surface(1, 0.3, 30, 12);
  torus.triangles.col(0).swap(torus.triangles.col(1));
  const Volume volume = build_volume(torus);
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, torus);
  EXPECT_GT(filled(volume), 0);
  EXPECT_FALSE(volume.notes.empty());
}

TEST(BuildVolume, OpenSurfaceGetsACage) {
  const TriMesh open = sphere_surface(0.5, 24, 36, true);
  const Volume volume = build_volume(open);
  EXPECT_TRUE(volume.cage);
  expect_sound(volume, open);
  EXPECT_EQ(volume.problems.boundary_edges.rows(), 36);
  const double ball = 4.0 / 3 * std::numbers::pi / 8;
  EXPECT_NEAR(filled(volume), ball, 0.05 * ball);
  try {
    build_volume(open, {.allow_cage = false});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("36 border edges"), std::string::npos) << error.what();
  }
}

TEST(BuildVolume, FlatSheetGetsACage) {
  TriMesh sheet;
  sheet.vertices.resize(4, 3);
  sheet.vertices << 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0;
  sheet.triangles.resize(2, 3);
  sheet.triangles << 0, 1, 2, 0, 2, 3;
  const Volume volume = build_volume(sheet, {.cage_cell = 0.1});
  EXPECT_TRUE(volume.cage);
  expect_sound(volume, sheet);
  EXPECT_NEAR((volume.mesh.vertices.col(2).maxCoeff() - volume.mesh.vertices.col(2).minCoeff()), 0.1, 1e-12);
}

TEST(BuildVolume, CrossingPartsGetACage) {
  const TriMesh cross = merge_meshes(box_surface(Vec3(-1, -0.2, -0.2), Vec3(1, 0.2, 0.2)),
                                     box_surface(Vec3(-0.15, -1, -0.15), Vec3(0.15, 1, 0.15)));
  const Volume volume = build_volume(cross);
  EXPECT_TRUE(volume.cage);
  expect_sound(volume, cross);
  EXPECT_GT(volume.problems.crossings, 0u);
  EXPECT_EQ(connected_parts(volume.mesh.tets, volume.mesh.vertices.rows()).count, 1);
}

TEST(BuildVolume, SeparatePartsNeedNoCage) {
  const TriMesh both = merge_meshes(box_surface(-unit, unit), box_surface(Vec3(3, -1, -1), Vec3(5, 1, 1)));
  const Volume volume = build_volume(both);
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, both);
  EXPECT_NEAR(filled(volume), 16, 1e-10);
}

TEST(BuildVolume, TooFineGetsACageOfTheRightVolume) {
  const TriMesh sphere = sphere_surface(0.5, 60, 90);
  const Volume volume = build_volume(sphere, {.max_surface_triangles = 5000});
  EXPECT_TRUE(volume.cage);
  expect_sound(volume, sphere);
  const double exact = signed_volume(sphere.vertices, sphere.triangles);
  EXPECT_NEAR(filled(volume), exact, 1e-3 * exact);
  EXPECT_GT(volume.mesh.tets.rows(), 2000);
  EXPECT_LT(volume.mesh.tets.rows(), 20000);
}

TEST(BuildVolume, TooFineIsFilledItselfWhereCagesAreNotAllowed) {
  const TriMesh sphere = sphere_surface(0.5, 12, 20);
  const Volume volume = build_volume(sphere, {.allow_cage = false, .max_surface_triangles = 100});
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, sphere);
}

TEST(BuildVolume, DuplicateVerticesAndUnusedOnesKeepTheirPlace) {
  const TriMesh box = box_surface(-unit, unit);
  TriMesh soup;  // three vertices of its own for each triangle, as in STL
  soup.vertices.resize(37, 3);
  soup.triangles.resize(12, 3);
  for (int t = 0; t < 12; ++t) {
    for (int k = 0; k < 3; ++k) {
      soup.vertices.row(3 * t + k) = box.vertices.row(box.triangles(t, k));
      soup.triangles(t, k) = 3 * t + k;
    }
  }
  soup.vertices.row(36) << 0.1, 0.2, 0.3;
  const Volume volume = build_volume(soup);
  EXPECT_FALSE(volume.cage);
  expect_sound(volume, soup);
}

TEST(BuildVolume, BadInputIsRefused) {
  EXPECT_THROW(build_volume(TriMesh{}), InputError);
  TriMesh box = box_surface(-unit, unit);
  EXPECT_THROW(build_volume(box, {.max_tet_volume = 1e-12}), InputError);
  EXPECT_THROW(build_volume(box, {.max_tet_volume = -1}), InputError);
  EXPECT_THROW(build_volume(box, {.force_cage = true, .cage_cell = 1e-6}), InputError);
  EXPECT_THROW(build_volume(sphere_surface(1, 9, 9, true), {.max_tet_volume = 1e-14}), InputError);
  box.vertices(3, 1) = std::nan("");
  EXPECT_THROW(build_volume(box), InputError);
  TriMesh flat = box_surface(Vec3(0, 0, 0), Vec3(0, 0, 0));
  EXPECT_THROW(build_volume(flat), InputError);
}

TEST(BuildVolume, RandomSoupNeverFails) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TriMesh soup;
    soup.vertices = testing::random_points(60, 1, seed);
    soup.triangles.resize(80, 3);
    for (Eigen::Index i = 0; i < soup.triangles.size(); ++i) {
      soup.triangles.data()[i] =
          static_cast<int>(60 * uniform_random(seed + 99, static_cast<std::uint64_t>(i)));
    }
    expect_sound(build_volume(soup), soup);
  }
}

TEST(BuildVolume, SizesFarFromOneWork) {
  for (const double scale : {1e-6, 1e6}) {
    TriMesh sphere = sphere_surface(scale, 12, 18);
    const Volume volume = build_volume(sphere);
    EXPECT_FALSE(volume.cage);
    expect_sound(volume, sphere);
    sphere.triangles.conservativeResize(sphere.triangles.rows() - 1, 3);
    const Volume cage = build_volume(sphere);
    EXPECT_TRUE(cage.cage);
    expect_sound(cage, sphere);
  }
}

TEST(Cage, TriangleBoxMatchesSampling) {
  int touching = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Points x = testing::random_points(3, 1.5, 1000 + seed);
    const Vec3 half(0.5, 0.4, 0.3);
    const Vec3 a = x.row(0), b = x.row(1), c = x.row(2);
    bool sampled = false;
    const int n = 150;
    for (int i = 0; i <= n && !sampled; ++i) {
      for (int j = 0; i + j <= n && !sampled; ++j) {
        sampled = (((i * a + j * b + (n - i - j) * c) / n).cwiseAbs().array() <= half.array()).all();
      }
    }
    const bool found = triangle_touches_box(Vec3::Zero(), half, a, b, c);
    EXPECT_TRUE(found || !sampled) << seed;
    // What sampling missed can only be a graze.
    const bool well_inside = triangle_touches_box(Vec3::Zero(), half - Vec3::Constant(0.02), a, b, c);
    EXPECT_TRUE(sampled || !well_inside) << seed;
    touching += found;
  }
  EXPECT_GT(touching, 50);
}

}  // namespace
}  // namespace exemplar
