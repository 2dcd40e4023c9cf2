// The metrics are what they claim: zero between a surface and itself, known for known motions, invariant to
// rigid motion after alignment, and the same over pieces as over the whole.
#include <gtest/gtest.h>

#include <numbers>

#include "compare/results/surface_distance.h"
#include "core/mesh/mass_properties.h"
#include "core/run/surface_fields.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

// A written surface as methods write it, from its rest state and where its vertices are now.
Geometry written(const TriMesh& rest, const Points& now, int body = 0) {
  Geometry surface;
  surface.series = "surface";
  surface.kind = CellKind::triangles;
  surface.points = now;
  surface.connectivity.assign(rest.triangles.data(), rest.triangles.data() + rest.triangles.size());
  const auto n = static_cast<std::size_t>(now.rows());
  surface.arrays.push_back(make_array("displacement", Association::point, now - rest.vertices));
  surface.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(n, body)));
  surface.arrays.push_back(
      make_integer_array("original_triangle", Association::point, std::vector<int>(n, 0)));
  return surface;
}

// Every triangle with corners of its own, in reverse order, and one opened face that is not of the input.
Geometry in_pieces(const TriMesh& rest, const Points& now) {
  TriMesh pieces;
  const Eigen::Index count = rest.triangles.rows();
  pieces.vertices.resize(3 * count + 3, 3);
  pieces.triangles.resize(count + 1, 3);
  Points moved(3 * count + 3, 3);
  for (Eigen::Index t = 0; t <= count; ++t) {
    for (int k = 0; k < 3; ++k) {
      const int vertex = rest.triangles((count - 1 - t + count) % count, (k + 1) % 3);
      pieces.vertices.row(3 * t + k) = rest.vertices.row(vertex);
      moved.row(3 * t + k) = now.row(vertex);
      pieces.triangles(t, k) = static_cast<int>(3 * t + k);
    }
  }
  moved.bottomRows(3).array() += 100;  // the opened face lies elsewhere: it must not count
  Geometry surface = written(pieces, moved);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double>& original = surface.arrays[2].values;
    original[original.size() - 1 - i] = -1;
  }
  // Its rest image coincides with another triangle, as faces inside a body may come close to the surface.
  for (std::size_t i = 0; i < 9; ++i) surface.arrays[0].values[surface.arrays[0].values.size() - 1 - i] = 100;
  return surface;
}

Points bent(const Points& points) {
  Points result = points;
  for (Eigen::Index i = 0; i < points.rows(); ++i) result(i, 1) += 0.1 * points(i, 0) * points(i, 0);
  return result;
}

Points moved(const Points& points) {
  const Mat3 rotation = Eigen::AngleAxisd(0.7, Vec3(1, 2, -0.5).normalized()).toRotationMatrix();
  return (points * rotation.transpose()).rowwise() + Eigen::RowVector3d(0.3, -2, 5);
}

TEST(SurfaceDistance, IsZeroToItself) {
  const TriMesh rest = testing::sphere_surface(0.5, 12, 20);
  const Geometry surface = written(rest, bent(rest.vertices));
  const SurfaceDistances d = SurfaceComparison(surface).between(surface, surface);
  EXPECT_EQ(d.rms, 0);
  EXPECT_EQ(d.max, 0);
  EXPECT_EQ(d.rms_aligned, 0);
  EXPECT_EQ(d.max_aligned, 0);
}

TEST(SurfaceDistance, OfATranslationIsItsLength) {
  const TriMesh rest = testing::sphere_surface(0.5, 12, 20);
  const Points shifted = rest.vertices.rowwise() + Eigen::RowVector3d(0.3, 0, 0.4);
  const Geometry reference = written(rest, rest.vertices);
  const SurfaceDistances d = SurfaceComparison(reference).between(written(rest, shifted), reference);
  EXPECT_NEAR(d.rms, 0.5, 1e-14);
  EXPECT_NEAR(d.max, 0.5, 1e-14);
  EXPECT_NEAR(d.rms_aligned, 0, 1e-14);
}

TEST(SurfaceDistance, OfAStretchIsTheAreaWeightedMean) {
  // A flat strip from x = 0 to 1, drawn out to twice its length: ∫ x² dx = 1/3 as the mesh becomes fine.
  const int n = 400;
  TriMesh strip;
  strip.vertices.resize(2 * (n + 1), 3);
  strip.triangles.resize(2 * n, 3);
  for (int i = 0; i <= n; ++i) {
    // Uneven spacing: only area weights give the integral.
    const double x = std::pow(static_cast<double>(i) / n, 2);
    strip.vertices.row(2 * i) << x, 0, 0;
    strip.vertices.row(2 * i + 1) << x, 0, 0.1;
  }
  for (int i = 0; i < n; ++i) {
    strip.triangles.row(2 * i) << 2 * i, 2 * i + 1, 2 * i + 2;
    strip.triangles.row(2 * i + 1) << 2 * i + 1, 2 * i + 3, 2 * i + 2;
  }
  Points stretched = strip.vertices;
  stretched.col(0) *= 2;
  const Geometry reference = written(strip, strip.vertices);
  const SurfaceDistances d = SurfaceComparison(reference).between(written(strip, stretched), reference);
  EXPECT_NEAR(d.rms, std::sqrt(1.0 / 3), 1e-4);
  EXPECT_NEAR(d.max, 1, 1e-14);
}

TEST(SurfaceDistance, AfterAlignmentDoesNotChangeUnderRigidMotion) {
  const TriMesh rest = testing::box_surface({0, 0, 0}, {1, 0.2, 0.4});
  const Geometry reference = written(rest, rest.vertices);
  const SurfaceDistances still =
      SurfaceComparison(reference).between(written(rest, bent(rest.vertices)), reference);
  const SurfaceDistances away =
      SurfaceComparison(reference).between(written(rest, moved(bent(rest.vertices))), reference);
  EXPECT_GT(still.rms_aligned, 1e-3);
  EXPECT_NEAR(away.rms_aligned, still.rms_aligned, 1e-12);
  EXPECT_NEAR(away.max_aligned, still.max_aligned, 1e-12);
  EXPECT_GT(away.rms, 1);
}

TEST(SurfaceDistance, AlignsEachBodyOnItsOwn) {
  const TriMesh one = testing::box_surface({0, 0, 0}, {1, 1, 1});
  Geometry reference = written(one, one.vertices, 0);
  append(reference, written(one, Points(one.vertices.rowwise() + Eigen::RowVector3d(3, 0, 0)), 1));
  Geometry other = written(one, moved(one.vertices), 0);
  append(other, written(one, Points(one.vertices.rowwise() + Eigen::RowVector3d(3, 1, 0)), 1));
  EXPECT_NEAR(SurfaceComparison(reference).between(other, reference).rms_aligned, 0, 1e-12);
}

TEST(SurfaceDistance, OverPiecesEqualsThatOverTheWhole) {
  const TriMesh rest = testing::sphere_surface(0.5, 24, 40);
  const Geometry reference = written(rest, rest.vertices);
  const Points now = moved(bent(rest.vertices));
  const SurfaceDistances whole = SurfaceComparison(reference).between(written(rest, now), reference);
  const SurfaceDistances pieces = SurfaceComparison(reference).between(in_pieces(rest, now), reference);
  EXPECT_NEAR(pieces.rms, whole.rms, 2e-3 * whole.rms);
  EXPECT_NEAR(pieces.rms_aligned, whole.rms_aligned, 0.02 * whole.rms_aligned);
  EXPECT_LT(pieces.max, 1.01 * whole.max);  // the opened face, 100 m away, does not count
  EXPECT_NEAR(SurfaceComparison(reference).between(in_pieces(rest, rest.vertices), reference).rms, 0, 1e-9);
}

}  // namespace
}  // namespace exemplar
