#include "output_support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

namespace exemplar::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "exemplar-test-XXXXXX").string();
  m_path = ::mkdtemp(name.data());
}

Geometry small_geometry(CellKind kind, double seed) {
  Geometry geometry;
  geometry.series = "thing";
  geometry.kind = kind;
  geometry.points.resize(10, 3);
  for (int i = 0; i < 30; ++i) geometry.points.data()[i] = std::sin(seed + 1.7 * i) / 3;
  switch (kind) {
    case CellKind::points:
      break;
    case CellKind::lines:
      geometry.connectivity = {0, 1, 2, 5, 9, 8};
      break;
    case CellKind::triangles:
      geometry.connectivity = {0, 1, 2, 5, 9, 8, 3, 4, 7};
      break;
    case CellKind::polygons:
      geometry.connectivity = {0, 1, 2, 5, 9, 8, 3, 4, 7};
      geometry.offsets = {4, 9};
      break;
    case CellKind::tets:
      geometry.connectivity = {0, 1, 2, 5, 9, 8, 3, 4};
      break;
    case CellKind::hexahedra:
      geometry.connectivity = {0, 1, 2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7, 8, 9};
      break;
  }
  for (Association on : {Association::point, Association::cell}) {
    const Eigen::Index count =
        on == Association::point ? 10 : static_cast<Eigen::Index>(cell_count(geometry));
    MatX vectors(count, 3), scalars(count, 1);
    for (Eigen::Index i = 0; i < count; ++i) {
      vectors.row(i) << std::cos(seed * double(i)), 1e-300 * double(i), seed / 3;
      scalars(i) = std::exp(seed * double(i));
    }
    const std::vector<int> integers(static_cast<std::size_t>(count), -1234567 + static_cast<int>(seed));
    geometry.arrays.push_back(make_array("velocity", on, vectors));
    geometry.arrays.push_back(make_array("damage", on, scalars));
    geometry.arrays.push_back(make_integer_array("body", on, integers));
  }
  return geometry;
}

void expect_equal(const Geometry& a, const Geometry& b) {
  EXPECT_EQ(a.series, b.series);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.connectivity, b.connectivity);
  EXPECT_EQ(a.offsets, b.offsets);
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (std::size_t i = 0; i < a.arrays.size(); ++i) {
    EXPECT_EQ(a.arrays[i].name, b.arrays[i].name);
    EXPECT_EQ(a.arrays[i].on, b.arrays[i].on);
    EXPECT_EQ(a.arrays[i].components, b.arrays[i].components);
    EXPECT_EQ(a.arrays[i].integer, b.arrays[i].integer);
    EXPECT_EQ(a.arrays[i].values, b.arrays[i].values);
  }
}

}  // namespace exemplar::test
