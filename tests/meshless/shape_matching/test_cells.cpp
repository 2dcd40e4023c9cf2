#include <gtest/gtest.h>

#include <set>

#include "core/base/errors.h"
#include "meshless/shape_matching/cells.h"
#include "tests/meshless/shape_matching/support.h"

namespace exemplar::shape_matching {
namespace {

TriMesh octahedron(double radius) {
  TriMesh mesh;
  mesh.vertices.resize(6, 3);
  mesh.vertices << 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1;
  mesh.vertices *= radius;
  mesh.triangles.resize(8, 3);
  mesh.triangles << 0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5;
  return mesh;
}

TEST(Cells, ABlockHasItsMassAndCentre) {
  const CubicalModel block = make_block({-1, 0, 2}, {1, 1, 5}, {4, 2, 3}, 500.0);
  EXPECT_EQ(block.model.cells.count(), 24);
  EXPECT_EQ(block.model.rest_positions.rows(), 60);
  EXPECT_NEAR(block.model.masses.sum(), 500.0 * 6.0, 1e-9);
  const Vec3 centre =
      (block.model.masses.transpose() * block.model.rest_positions).transpose() / block.model.masses.sum();
  EXPECT_LT((centre - Vec3(0, 0.5, 3.5)).norm(), 1e-12);
  for (int c = 0; c < 24; ++c) EXPECT_EQ(block.model.cells.of(c).size(), 8U);
}

TEST(Cells, OverlapWidensCellsWithinTheBody) {
  const CubicalModel block = make_block({0, 0, 0}, {1, 1, 1}, {5, 5, 5}, 1.0, 1);
  std::set<std::size_t> sizes;
  for (int c = 0; c < block.model.cells.count(); ++c) sizes.insert(block.model.cells.of(c).size());
  EXPECT_EQ(*sizes.begin(), 27U);   // corner: 3 lattice points an axis
  EXPECT_EQ(*sizes.rbegin(), 64U);  // inside: 4
}

TEST(Cells, ASurfaceIsCoveredAndFilled) {
  const TriMesh surface = octahedron(1.0);
  const InsideTest inside = [](const Vec3& p) { return p.lpNorm<1>() < 1.0; };
  CubicalOptions options;
  options.cell_size = 0.2;
  options.density = 100.0;
  options.mass_samples = 6;
  const CubicalModel made = make_cubical_cells(surface, inside, options);
  // Every point of the surface and every inside point lies in a cell.
  for (int k = 0; k < 3000; ++k) {
    Vec3 p(normal_random(1, 3 * k), normal_random(1, 3 * k + 1), normal_random(1, 3 * k + 2));
    p *= std::min(1.0, uniform_random(2, k) * 1.2) / p.lpNorm<1>();
    const Vec3 local = (p - made.lattice.origin).cwiseQuotient(made.lattice.spacing);
    const int i = std::clamp(int(local.x()), 0, made.lattice.cells[0] - 1),
              j = std::clamp(int(local.y()), 0, made.lattice.cells[1] - 1),
              l = std::clamp(int(local.z()), 0, made.lattice.cells[2] - 1);
    EXPECT_GE(made.lattice.cell_at[made.lattice.cell_index(i, j, l)], 0);
  }
  // No cell far outside: the cell's nearest point to the origin is within the octahedron.
  for (const auto& [i, j, k] : made.lattice.cell_places) {
    const Vec3 low = made.lattice.origin + made.lattice.spacing.cwiseProduct(Vec3(i, j, k)),
               high = low + made.lattice.spacing;
    EXPECT_LT(low.cwiseMax(Vec3::Zero().cwiseMin(high)).lpNorm<1>(), 1.0 + 1e-9);
  }
  // Volume 4/3; every massless corner was given 2 % of a share, which is why the mass is a little above.
  EXPECT_NEAR(made.model.masses.sum(), 100.0 * 4.0 / 3.0, 100.0 * 4.0 / 3.0 * 0.03);
}

TEST(Cells, AFlatSheetGetsOneLayer) {
  TriMesh sheet;
  sheet.vertices.resize(4, 3);
  sheet.vertices << 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1;
  sheet.triangles.resize(2, 3);
  sheet.triangles << 0, 1, 2, 0, 2, 3;
  CubicalOptions options;
  options.cell_size = 0.25;
  const CubicalModel made = make_cubical_cells(
      sheet, [](const Vec3&) { return false; }, options);
  EXPECT_EQ(made.model.cells.count(), 16);
  EXPECT_GT(made.model.masses.minCoeff(), 0.0);
}

TEST(Cells, BadInputIsRefused) {
  EXPECT_THROW(make_cubical_cells({}, nullptr, {}), InputError);
  TriMesh point = octahedron(0.0);
  EXPECT_THROW(make_cubical_cells(point, [](const Vec3&) { return true; }, {}), InputError);
  TriMesh nan = octahedron(1.0);
  nan.vertices(0, 0) = std::nan("");
  EXPECT_THROW(make_cubical_cells(nan, [](const Vec3&) { return true; }, {}), InputError);
  CubicalOptions tiny;
  tiny.cell_size = 1e-9;
  EXPECT_THROW(make_cubical_cells(
                   octahedron(1.0), [](const Vec3&) { return true; }, tiny),
               InputError);
}

TEST(Cells, KMeansRegionsCoverAllParticlesAndOverlap) {
  const CubicalModel block = make_block({0, 0, 0}, {4, 1, 1}, {16, 4, 4}, 1.0);
  const Cells regions = make_kmeans_regions(block.model.cells, block.model.rest_positions, 8, 0.3);
  EXPECT_EQ(regions.count(), 8);
  std::vector<int> held(block.model.rest_positions.rows(), 0);
  for (const int p : regions.particles) ++held[p];
  EXPECT_GE(*std::min_element(held.begin(), held.end()), 1);
  EXPECT_GT(regions.particles.size(), held.size() * 5 / 4);
  // Connected: walking over shared particles reaches every region.
  std::set<int> reached{0};
  for (int round = 0; round < 8; ++round)
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        if (reached.count(a))
          for (const int p : regions.of(b))
            for (const int q : regions.of(a))
              if (p == q) reached.insert(b);
  EXPECT_EQ(reached.size(), 8U);
}

TEST(Cells, CoarserCellsHoldAllParticlesAndEndInOne) {
  const CubicalModel block = make_block({0, 0, 0}, {4, 1, 1}, {8, 2, 2}, 1.0);
  const Cells once = coarsen(block.model.cells, block.model.rest_positions);
  EXPECT_EQ(once.count(), 4);
  for (int c = 0; c < 4; ++c) EXPECT_EQ(once.of(c).size(), 27U);
  Cells cells = once;
  for (int level = 0; level < 4; ++level) cells = coarsen(cells, block.model.rest_positions);
  EXPECT_EQ(cells.count(), 1);
  EXPECT_EQ(cells.particles.size(), static_cast<std::size_t>(block.model.rest_positions.rows()));
}

TEST(Cells, TetCellsLumpTheVolume) {
  TetMesh mesh;
  mesh.vertices.resize(5, 3);
  mesh.vertices << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1;
  mesh.tets.resize(2, 4);
  mesh.tets << 0, 1, 2, 3, 1, 2, 3, 4;
  const CellModel model = make_tet_cells(mesh, 6.0);
  EXPECT_NEAR(model.masses.sum(), 1.0 + 2.0, 1e-12);
  EXPECT_EQ(model.cells.count(), 2);
}

TEST(Cells, TriangleBoxTestAgainstSampling) {
  int meets = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Points v = test::random_points(3, seed, 1.0);
    const Vec3 a = v.row(0), b = v.row(1), c = v.row(2), half(0.5, 0.4, 0.6);
    bool sampled = false;
    for (int i = 0; i <= 60 && !sampled; ++i)
      for (int j = 0; j <= 60 - i && !sampled; ++j) {
        const Vec3 p = (a * i + b * j + c * (60 - i - j)) / 60.0;
        sampled = (p.cwiseAbs() - half).maxCoeff() <= 0.0;
      }
    const bool tested = triangle_meets_box(a, b, c, Vec3::Zero(), half);
    EXPECT_TRUE(tested || !sampled) << seed;
    EXPECT_TRUE(triangle_meets_box(a, b, c, Vec3::Zero(), 1.2 * half) || !sampled) << seed;
    meets += tested;
  }
  EXPECT_GT(meets, 50);
  EXPECT_LT(meets, 350);
}

}  // namespace
}  // namespace exemplar::shape_matching
