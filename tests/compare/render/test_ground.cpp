#include <gtest/gtest.h>

#include "compare/render/colours.h"
#include "compare/render/ground.h"
#include "compare/render/poly_data.h"

namespace exemplar::render {

namespace {

// A plane of 100 m as two triangles, and a tetrahedron.
Geometry plane_and_tetrahedron() {
  Geometry g;
  g.kind = CellKind::triangles;
  g.points.resize(8, 3);
  g.points << -50, 0, -50, -50, 0, 50, 50, 0, 50, 50, 0, -50, 0, 1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 1;
  g.connectivity = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 4, 7, 5, 5, 7, 6};
  g.arrays.push_back(make_integer_array("obstacle", Association::cell, {3, 3, 8, 8, 8, 8}));
  return g;
}

Box unit_box(const Vec3& centre) {
  Box box;
  box.include(centre - Vec3::Constant(0.5));
  box.include(centre + Vec3::Constant(0.5));
  return box;
}

TEST(Ground, PlaneIsFoundAndTheRestKept) {
  const ObstacleParts parts = split_obstacles(plane_and_tetrahedron());
  ASSERT_EQ(parts.rectangles.size(), 1u);
  EXPECT_NEAR(parts.rectangles[0].centre.norm(), 0, 1e-12);
  EXPECT_NEAR(parts.rectangles[0].half_u, 50, 1e-12);
  EXPECT_NEAR(parts.rectangles[0].half_v, 50, 1e-12);
  EXPECT_NEAR(std::abs(parts.rectangles[0].normal().y()), 1, 1e-12);
  EXPECT_EQ(cell_count(parts.rest), 4u);
  EXPECT_EQ(parts.rest.arrays[0].values, std::vector<double>(4, 8.0));
}

TEST(Ground, CropStaysOnThePlaneAroundTheMotionAndFacesIt) {
  const Rectangle whole = split_obstacles(plane_and_tetrahedron()).rectangles[0];
  for (double y : {-3.0, 3.0}) {
    const Rectangle shown = crop(whole, unit_box({10, y, -20}));
    EXPECT_NEAR((shown.centre - Vec3(10, 0, -20)).norm(), 0, 1e-12);
    EXPECT_LT(shown.half_u, 5);
    EXPECT_GT(shown.normal().y() * y, 0);
  }
  // Never beyond the obstacle itself.
  const Rectangle small{Vec3::Zero(), Vec3::UnitX(), Vec3::UnitZ(), 0.3, 0.2};
  const Rectangle shown = crop(small, unit_box({0, 1, 0}));
  EXPECT_NEAR(std::max(shown.half_u, shown.half_v), 0.3, 1e-12);
  EXPECT_NEAR(std::min(shown.half_u, shown.half_v), 0.2, 1e-12);
}

// A square at height 1 under vertical light darkens the ground straight below it and nothing else.
TEST(Ground, ShadowLiesWhereTheLightIsBlocked) {
  const Rectangle plane{Vec3::Zero(), Vec3::UnitZ(), Vec3::UnitX(), 2, 2};  // normal +y
  ASSERT_GT(plane.normal().y(), 0);
  Geometry square;
  square.kind = CellKind::polygons;
  square.points.resize(4, 3);
  square.points << -1, 1, -0.5, 0, 1, -0.5, 0, 1, 0.5, -1, 1, 0.5;
  square.connectivity = {0, 1, 2, 3};
  square.offsets = {4};
  const Image lit = ground_texture(plane, plane, {}, Vec3::UnitY(), 0.5, 400);
  const Image shaded = ground_texture(plane, plane, {&square}, Vec3::UnitY(), 0.5, 400);
  const auto darkening = [&](double x, double z) {  // columns run along z, rows along x
    const int column = static_cast<int>((z + 2) * 100), row = static_cast<int>((x + 2) * 100);
    return lit.pixel(column, row)[0] - shaded.pixel(column, row)[0];
  };
  EXPECT_GT(darkening(-0.5, 0), 40);
  EXPECT_GT(darkening(-0.9, 0.4), 40);
  EXPECT_EQ(darkening(0.2, 0), 0);
  EXPECT_EQ(darkening(-0.5, 0.7), 0);
  EXPECT_EQ(darkening(1.5, -1.5), 0);
}

TEST(Ground, RoundLengths) {
  EXPECT_NEAR(round_down_125(0.199), 0.1, 1e-15);
  EXPECT_NEAR(round_down_125(0.21), 0.2, 1e-15);
  EXPECT_NEAR(round_down_125(7), 5, 1e-15);
  EXPECT_NEAR(round_down_125(1300), 1000, 1e-12);
}

// Two tets that share a face have six boundary faces, each carrying its cell's value.
TEST(PolyData, BoundaryOfTwoTets) {
  Geometry tets;
  tets.kind = CellKind::tets;
  tets.points = Points::Random(5, 3);
  tets.connectivity = {0, 1, 2, 3, 1, 2, 3, 4};
  tets.arrays.push_back(make_integer_array("body", Association::cell, {5, 6}));
  const Geometry surface = boundary_surface(tets);
  EXPECT_EQ(cell_count(surface), 6u);
  EXPECT_EQ(std::count(surface.arrays[0].values.begin(), surface.arrays[0].values.end(), 5.0), 3);
}

TEST(Colours, ShadesOfARunsColour) {
  EXPECT_EQ(parse_colour("#0072b2"), (Colour{0, 114, 178}));
  for (const char* bad : {"", "0072b2", "#0072b", "#0072b2f", "#xyzxyz"})
    EXPECT_EQ(parse_colour(bad), std::nullopt) << bad;
  const Colour own{0, 114, 178};
  EXPECT_EQ(shade_of(own, 0), own);
  for (int i = 1; i < 5; ++i) EXPECT_NE(shade_of(own, i), own);
  EXPECT_GT(shade_of(own, 1)[0], own[0]);
  EXPECT_LT(shade_of(own, 2)[2], own[2]);
}

TEST(Colours, ScaleCoversValuesOfAllFrames) {
  Geometry geometry;
  geometry.kind = CellKind::points;
  geometry.points = Points::Zero(2, 3);
  MatX vectors(2, 3);
  vectors << 3, 4, 0, 0, 0, std::nan("");
  geometry.arrays.push_back(make_array("velocity", Association::point, vectors));
  ColourScale scale{"velocity", ColourScale::Kind::sequential, INFINITY, -INFINITY};
  include_values(scale, geometry);
  EXPECT_EQ(scale.high, 5);
  settle(scale, false);
  EXPECT_LT(scale.low, scale.high);
  EXPECT_NE(map_colour(scale, scale.low), map_colour(scale, scale.high));
  ColourScale both{"x", ColourScale::Kind::sequential, -1, 3};
  settle(both, false);
  EXPECT_EQ(both.kind, ColourScale::Kind::diverging);
  EXPECT_EQ(both.low, -3);
}

}  // namespace

}  // namespace exemplar::render
