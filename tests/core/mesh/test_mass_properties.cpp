#include "core/mesh/mass_properties.h"

#include <gtest/gtest.h>

#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

using testing::box_surface;
using testing::some_rotation;

Mat3 box_inertia(double mass, const Vec3& size) {
  const Vec3 s = size.cwiseAbs2();
  return mass / 12.0 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()).asDiagonal().toDenseMatrix();
}

TEST(MassProperties, RotatedBoxFarFromTheOrigin) {
  const Vec3 half(0.3, 0.5, 0.8);
  TriMesh box = box_surface(-half, half);
  const Mat3 rotation = some_rotation();
  const Vec3 centre(100, -20, 7);
  box.vertices = (box.vertices * rotation.transpose()).rowwise() + centre.transpose();
  const MassProperties result = solid_mass_properties(box.vertices, box.triangles, 2000);
  const double mass = 2000 * 8 * half.prod();
  EXPECT_NEAR(result.mass, mass, 1e-9 * mass);
  EXPECT_LT((result.centre - centre).norm(), 1e-11);
  const Mat3 expected = rotation * box_inertia(mass, 2 * half) * rotation.transpose();
  EXPECT_LT((result.inertia - expected).norm(), 1e-9 * expected.norm());
}

TEST(MassProperties, TetsAgreeWithTheirSurface) {
  TetMesh mesh;
  mesh.vertices = testing::random_points(4, 1, 3);
  mesh.tets.resize(1, 4);
  mesh.tets << 0, 1, 2, 3;
  if (tet_volumes(mesh.vertices, mesh.tets)[0] < 0) mesh.tets << 1, 0, 2, 3;
  Triangles faces(4, 3);
  const auto t = mesh.tets.row(0);
  faces << t[1], t[2], t[3], t[0], t[3], t[2], t[0], t[1], t[3], t[0], t[2], t[1];
  const MassProperties a = solid_mass_properties(mesh.vertices, mesh.tets, 3.0);
  const MassProperties b = solid_mass_properties(mesh.vertices, faces, 3.0);
  EXPECT_NEAR(a.mass, b.mass, 1e-14);
  EXPECT_LT((a.centre - b.centre).norm(), 1e-12);
  EXPECT_LT((a.inertia - b.inertia).norm(), 1e-13);
  EXPECT_NEAR(lumped_masses(mesh.vertices, mesh.tets, 3.0).sum(), a.mass, 1e-14);
}

// Inscribed polyhedra approach the sphere with the square of the mesh size.
TEST(MassProperties, SphereConvergesWithSecondOrder) {
  const double radius = 0.7;
  const double volume = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
  double error[2];
  double inertia_error[2];
  for (int level = 0; level < 2; ++level) {
    const TriMesh mesh = testing::sphere_surface(radius, 20 << level, 40 << level);
    const MassProperties result = solid_mass_properties(mesh.vertices, mesh.triangles, 1.0);
    error[level] = volume - result.measure;
    inertia_error[level] = 0.4 * volume * radius * radius - result.inertia(2, 2);
  }
  EXPECT_GT(error[1], 0);
  EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.02);
  EXPECT_NEAR(std::log2(inertia_error[0] / inertia_error[1]), 2, 0.02);
}

TEST(MassProperties, FlatSheetIsAPlate) {
  TriMesh plate;
  plate.vertices.resize(4, 3);
  plate.vertices << 0, 0, 1, 2, 0, 1, 2, 3, 1, 0, 3, 1;
  plate.triangles.resize(2, 3);
  plate.triangles << 0, 1, 2, 0, 2, 3;
  const double thickness = 0.25;
  const MassProperties result = sheet_mass_properties(plate.vertices, plate.triangles, thickness, 400);
  const double mass = 400 * 6 * thickness;
  EXPECT_NEAR(result.mass, mass, 1e-10);
  EXPECT_LT((result.centre - Vec3(1, 1.5, 1)).norm(), 1e-14);
  EXPECT_LT((result.inertia - box_inertia(mass, Vec3(2, 3, thickness))).norm(), 1e-9);
  EXPECT_NEAR(lumped_masses(plate.vertices, plate.triangles, thickness, 400).sum(), mass, 1e-10);
}

TEST(MassProperties, ThinSphericalShell) {
  const TriMesh sphere = testing::sphere_surface(1, 200, 400);
  const MassProperties result = sheet_mass_properties(sphere.vertices, sphere.triangles, 1e-3, 1000);
  const double mass = 4 * std::numbers::pi;
  EXPECT_NEAR(result.mass / mass, 1, 2e-4);
  EXPECT_NEAR(result.inertia(0, 0) / (2.0 / 3 * mass), 1, 4e-4);
}

}  // namespace
}  // namespace exemplar
