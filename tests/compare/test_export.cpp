// What the report page is given can be read back to within its stated precision.
#include <gtest/gtest.h>
#include <zlib.h>

#include "compare/report/export.h"
#include "compare/results/side_by_side.h"
#include "core/mesh/mass_properties.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

TEST(Export, Base64IsTheStandardOne) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Export, DeflatedBytesComeBack) {
  std::string bytes;
  for (int i = 0; i < 10000; ++i) bytes += static_cast<char>(i * i % 251);
  const std::string packed = deflate_bytes(bytes);
  std::string back(bytes.size(), '\0');
  uLongf size = back.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(back, bytes);
}

TEST(Export, DecimationKeepsVerticesAndShape) {
  const TriMesh sphere = testing::sphere_surface(1, 100, 160);
  const Decimated thin = decimate(sphere, 5000);
  EXPECT_LT(thin.vertices.size(), 6000u);
  EXPECT_GT(thin.vertices.size(), 2000u);
  Points kept(static_cast<Eigen::Index>(thin.vertices.size()), 3);
  for (std::size_t i = 0; i < thin.vertices.size(); ++i) {
    kept.row(static_cast<Eigen::Index>(i)) = sphere.vertices.row(thin.vertices[i]);
  }
  EXPECT_NEAR(signed_volume(kept, thin.triangles), signed_volume(sphere.vertices, sphere.triangles), 0.01);
  EXPECT_EQ(decimate(sphere, 100000).vertices.size(), static_cast<std::size_t>(sphere.vertices.rows()));
}

TEST(SideBySide, NothingOverlaps) {
  Box bounds;
  bounds.extend(Vec3(-1, 0, -0.2));
  bounds.extend(Vec3(2, 5, 0.3));
  const Box box = display_box(bounds);
  const std::vector<Vec3> offsets = side_by_side_offsets(14, bounds);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3 apart = (offsets[i] - offsets[j]).cwiseAbs(), size = box.max - box.min;
      EXPECT_TRUE(apart.x() > size.x() || apart.z() > size.z()) << i << " and " << j;
    }
  }
}

TEST(SideBySide, GroundsAreCutExactly) {
  Geometry ground;
  ground.kind = CellKind::triangles;
  ground.points.resize(4, 3);
  ground.points << -5, 0, -5, 5, 0, -5, 5, 0, 5, -5, 0, 5;
  ground.connectivity = {0, 2, 1, 0, 3, 2};
  Box box;
  box.extend(Vec3(-1, 0, -0.5));
  box.extend(Vec3(2, 1, 0.25));
  const Geometry cut = cut_to_shaft(ground, box);
  const Triangles triangles = triangles_of(cut);
  EXPECT_NEAR(surface_area(cut.points, triangles), 3 * 0.75, 1e-12);
  EXPECT_LE(cut.points.col(0).maxCoeff(), 2 + 1e-12);
  EXPECT_GE(cut.points.col(2).minCoeff(), -0.5 - 1e-12);
  // What is inside already keeps its common corners.
  box.extend(Vec3(-9, 0, -9));
  box.extend(Vec3(9, 0, 9));
  EXPECT_EQ(cut_to_shaft(ground, box).points.rows(), 4);
}

}  // namespace
}  // namespace exemplar
