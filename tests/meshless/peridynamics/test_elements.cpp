// Particles with geometry: cut cells fill the body, fragments are closed, the surface at rest is the input's.
#include "meshless/peridynamics/elements/elements.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/models/primitives.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "meshless/peridynamics/elements/seams.h"
#include "meshless/peridynamics/pieces/follow.h"
#include "meshless/peridynamics/pieces/fragments.h"
#include "meshless/peridynamics/pieces/split_blend.h"
#include "meshless/peridynamics/weakening.h"
#include "tests/meshless/peridynamics/support.h"

namespace exemplar::peridynamics {
namespace {

struct Shape {
  TriMesh surface;
  TetMesh volume;
};

Shape make_shape(const TriMesh& surface, double tet_volume) {
  VolumeOptions options;
  options.max_tet_volume = tet_volume;
  options.allow_cage = false;
  return {surface, build_volume(surface, options).mesh};
}

Shape torus() {
  return make_shape(make_torus({.major_radius = 0.4, .minor_radius = 0.15, .resolution = 24}), 1e-3);
}

// Of whole rows only one point is asked on which side of the surface it is: the answer is that of every point asked by itself.
TEST(GridPoints, AreThoseInsideTheSurface) {
  for (const TriMesh& surface :
       {torus().surface, make_box({.size = Vec3(1, 0.5, 0.2), .resolution = Eigen::Vector3i(4, 2, 1)})}) {
    const double spacing = 0.0313;
    const Points found = grid_points(surface, spacing);
    const Vec3 low = surface.vertices.colwise().minCoeff(), high = surface.vertices.colwise().maxCoeff();
    const Eigen::Array3i count = ((high - low).array() / spacing).round().cast<int>();
    const Vec3 first = 0.5 * (low + high - spacing * (count.cast<double>() - 1).matrix());
    const SurfaceDistance distance(surface);
    Eigen::Index next = 0;
    for (int z = 0; z < count[2]; ++z)
      for (int y = 0; y < count[1]; ++y)
        for (int x = 0; x < count[0]; ++x) {
          const Vec3 p = first + spacing * Vec3(x, y, z);
          if (distance.winding_number(p) <= 0.5) continue;
          ASSERT_LT(next, found.rows());
          EXPECT_LT((Vec3(found.row(next++)) - p).norm(), 1e-12);
        }
    EXPECT_EQ(next, found.rows());
    EXPECT_GT(next, 1000);
  }
}

class Kinds : public ::testing::TestWithParam<ElementKind> {};

TEST_P(Kinds, ParticlesFillTheBodyAndAreClosed) {
  const Shape shape = torus();
  const double volume = signed_volume(shape.surface.vertices, shape.surface.triangles);
  const Elements elements = make_elements(GetParam(), shape.surface, shape.volume, 0.07, 3);
  const std::size_t count = elements.particles.size();
  EXPECT_GT(count, 200u);
  double sum = 0;
  for (const double v : elements.particles.volumes) {
    EXPECT_GT(v, 0);
    sum += v;
  }
  EXPECT_NEAR(sum / volume, 1, 1e-9);
  std::vector<Vec3> area(count, Vec3::Zero());
  double surface = 0;
  for (const Face& face : elements.faces) {
    const Vec3 a = area_vector(elements.polygon(face));
    area[face.particle] += a;
    if (face.other >= 0) area[face.other] -= a;
    if (face.other < 0) surface += a.norm();
  }
  EXPECT_NEAR(surface / surface_area(shape.surface.vertices, shape.surface.triangles), 1, 1e-9);
  for (const Vec3& a : area) EXPECT_LT(a.norm(), 1e-5 * 0.07 * 0.07);
  EXPECT_EQ(open_particles(elements), 0);
}

TEST_P(Kinds, SurfaceAtRestIsTheInputs) {
  const Shape shape = torus();
  const Elements elements = make_elements(GetParam(), shape.surface, shape.volume, 0.09, 3);
  const SurfaceDistance distance(shape.surface);
  const std::size_t count = elements.particles.size();
  const Fragments whole =
      find_fragments(elements.neighbours, elements.particles.volumes, [](int, int) { return true; });
  ASSERT_EQ(whole.count(), 1u);
  std::vector<Quat> rotations(count, Quat::Identity());
  const Points& x = elements.particles.positions;
  const auto motions = fit_fragments(whole, x, x, elements.particles.volumes, rotations);
  const Geometry surface = fragment_surface(elements, shape.surface, whole.of, motions, 0);
  const auto find = [&](const std::string& name) -> const FieldArray& {
    for (const FieldArray& array : surface.arrays) {
      if (array.name == name) return array;
    }
    throw std::runtime_error(name);
  };
  const FieldArray& triangle = find("original_triangle");
  const FieldArray& barycentric = find("original_barycentric");
  double squares = 0, worst = 0;
  for (Eigen::Index p = 0; p < surface.points.rows(); ++p) {
    const double d = distance.nearest(surface.points.row(p)).distance;
    squares += d * d;
    Vec3 material = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      const int t = static_cast<int>(triangle.values[static_cast<std::size_t>(p)]);
      material += barycentric.values[static_cast<std::size_t>(3 * p + k)] *
                  Vec3(shape.surface.vertices.row(shape.surface.triangles(t, k)));
    }
    worst = std::max(worst, (material - Vec3(surface.points.row(p))).norm());
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(surface.points.rows())), 1e-12);
  EXPECT_LT(worst, 1e-12);
}

TEST_P(Kinds, FragmentsAreClosedWithTheirOwnVolume) {
  const Shape shape = torus();
  const Elements elements = make_elements(GetParam(), shape.surface, shape.volume, 0.08, 5);
  const Points& x = elements.particles.positions;
  // Three planes cut the ring; each piece is then turned and moved away.
  const auto side = [&](int i) { return (x(i, 0) > 0.02 ? 1 : 0) + (x(i, 2) > -0.03 ? 2 : 0); };
  const Fragments fragments = find_fragments(elements.neighbours, elements.particles.volumes,
                                             [&](int a, int b) { return side(a) == side(b); });
  ASSERT_GE(fragments.count(), 4u);
  Points moved = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const int f = fragments.of[static_cast<std::size_t>(i)];
    const Quat turn(Eigen::AngleAxisd(0.4 * f + 0.1, Vec3(1, f, 2).normalized()));
    moved.row(i) = (turn * Vec3(x.row(i)) + Vec3(0.7 * f, 1, 0)).transpose();
  }
  std::vector<Quat> rotations(elements.particles.size(), Quat::Identity());
  const auto motions = fit_fragments(fragments, x, moved, elements.particles.volumes, rotations);
  const Geometry surface = fragment_surface(elements, shape.surface, fragments.of, motions, 0);
  std::vector<double> volume(fragments.count(), 0);
  std::vector<Vec3> area(fragments.count(), Vec3::Zero());
  const std::vector<double>* ids = nullptr;
  for (const FieldArray& array : surface.arrays) {
    if (array.name == "fragment") ids = &array.values;
  }
  for (std::size_t t = 0; t < ids->size(); ++t) {
    Vec3 p[3];
    for (int k = 0; k < 3; ++k) p[k] = surface.points.row(surface.connectivity[3 * t + k]);
    const std::size_t f = static_cast<std::size_t>((*ids)[t]);
    area[f] += 0.5 * (p[1] - p[0]).cross(p[2] - p[0]);
    volume[f] += p[0].dot(p[1].cross(p[2])) / 6;
  }
  for (std::size_t f = 0; f < fragments.count(); ++f) {
    EXPECT_LT(area[f].norm(), 1e-9);
    EXPECT_NEAR(volume[f], fragments.volumes[f], 1e-7 * volume[0]);
  }
  EXPECT_EQ(open_edges_of(surface), 0);
  // One triangle less, and the test sees it.
  Geometry open = surface;
  open.connectivity.resize(open.connectivity.size() - 3);
  for (FieldArray& array : open.arrays)
    if (array.on == Association::cell) array.values.pop_back();
  EXPECT_EQ(open_edges_of(open), 3);
}

// Points are shared within a fragment: about as many points as a closed surface has, half its triangles.
TEST_P(Kinds, FragmentsAreWeldedAndHaveNormals) {
  const Shape shape = torus();
  const Elements elements = make_elements(GetParam(), shape.surface, shape.volume, 0.08, 5);
  const Points& x = elements.particles.positions;
  const Fragments fragments =
      find_fragments(elements.neighbours, elements.particles.volumes,
                     [&](int a, int b) { return (x(a, 0) > 0.02) == (x(b, 0) > 0.02); });
  std::vector<Quat> rotations(elements.particles.size(), Quat::Identity());
  const auto motions = fit_fragments(fragments, x, x, elements.particles.volumes, rotations);
  const Geometry surface = fragment_surface(elements, shape.surface, fragments.of, motions, 0);
  EXPECT_LT(static_cast<double>(surface.points.rows()), 0.6 * static_cast<double>(cell_count(surface)));
  const std::vector<double>& interior = array_of(surface, "interior", Association::cell).values;
  const std::vector<double>& original = array_of(surface, "original_triangle", Association::point).values;
  const std::vector<double>& normals = array_of(surface, "normal", Association::point).values;
  const SurfaceDistance distance(shape.surface);
  int inside = 0, turned = 0;
  for (std::size_t t = 0; t < interior.size(); ++t) {
    Vec3 p[3];
    for (int k = 0; k < 3; ++k) p[k] = surface.points.row(surface.connectivity[3 * t + k]);
    const Vec3 area = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]);
    for (int k = 0; k < 3; ++k) {
      const auto point = static_cast<std::size_t>(surface.connectivity[3 * t + k]);
      const Vec3 normal = Vec3(normals.data() + 3 * point);
      EXPECT_NEAR(normal.norm(), 1, 1e-12);
      EXPECT_EQ(original[point] < 0, interior[t] == 1);
      if (interior[t] == 0 && area.norm() > 1e-7) turned += normal.dot(area.normalized()) < 0.7;
    }
    const bool is_on_surface = distance.nearest((p[0] + p[1] + p[2]) / 3).distance < 1e-9;
    EXPECT_TRUE(area.norm() < 1e-9 || is_on_surface == (interior[t] == 0));
    inside += interior[t] == 1;
  }
  EXPECT_GT(inside, 20);
  EXPECT_EQ(turned, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Kinds,
                         ::testing::Values(ElementKind::cubes, ElementKind::tets, ElementKind::voronoi));

TEST(Elements, GridFitsABox) {
  const Shape box =
      make_shape(make_box({.size = Vec3(0.8, 0.4, 0.2), .resolution = Eigen::Vector3i(4, 2, 1)}), 1e-2);
  const Elements elements = make_elements(ElementKind::cubes, box.surface, box.volume, 0.1, 1);
  ASSERT_EQ(elements.particles.size(), 64u);
  for (const double v : elements.particles.volumes) EXPECT_NEAR(v, 1e-3, 1e-12);
  EXPECT_EQ(elements.neighbours.size(), 7u * 4 * 2 + 8u * 3 * 2 + 8u * 4 * 1);
}

TEST(Elements, BlueNoiseKeepsItsDistanceAndFills) {
  const TriMesh sphere = make_sphere({.radius = 0.5, .resolution = 6});
  const Points points = blue_noise(sphere, 0.08, 7);
  EXPECT_GE(particle_spacing(std::span(&points, 1)), 0.08);
  const double volume = signed_volume(sphere.vertices, sphere.triangles);
  const double expected = volume / std::pow(0.08 / spacing_for(ElementKind::voronoi, 1, 1), 3);
  EXPECT_NEAR(static_cast<double>(points.rows()) / expected, 1, 0.15);
  EXPECT_TRUE(blue_noise(sphere, 0.08, 7) == points);
}

TEST(Follow, IsExactForAffineMotion) {
  const ParticleSet set = cube_grid(8, 8, 8, 0.1);
  Points vertices(50, 3);
  for (int i = 0; i < 50; ++i) vertices.row(i) = Eigen::RowVector3d(0.013 * i, 0.7 - 0.011 * i, 0.35);
  Mat3 A;
  A << 0.9, 0.2, 0, -0.3, 1.1, 0.1, 0, 0.05, 1.2;
  const Points moved = (set.positions * A.transpose()).rowwise() + Eigen::RowVector3d(1, 2, 3);
  const SurfaceFollower follower(vertices, set.positions);
  const auto map_of = [&](int i) {
    std::vector<int> bonded;
    for (int j = 0; j < 512; ++j) {
      if (j != i && (set.positions.row(i) - set.positions.row(j)).norm() < 0.21) bonded.push_back(j);
    }
    return fit_affine(set.positions, moved, i, bonded, Mat3::Identity());
  };
  const Points result = follower.follow(set.positions, moved, map_of, std::vector<int>(512, 0));
  const Points expected = (vertices * A.transpose()).rowwise() + Eigen::RowVector3d(1, 2, 3);
  EXPECT_LT((result - expected).cwiseAbs().maxCoeff(), 1e-12);
}

// A square with a corner within each side: six triangles, none of them flat.
TEST(Elements, PolygonsWithCornersWithinTheirSidesGiveNoFlatTriangles) {
  const Polygon square{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0},
                       {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  double whole = 0;
  const auto triangles = triangulate(square);
  EXPECT_EQ(triangles.size(), 6u);
  for (const auto& [a, b, c] : triangles) {
    const double area = 0.5 * (square[b] - square[a]).cross(square[c] - square[a]).z();
    EXPECT_GT(area, 0.4);
    whole += area;
  }
  EXPECT_NEAR(whole, 4, 1e-12);
}

// A stretched bar splits: its halves are drawn where the whole was, and step by step where they belong.
TEST(SplitBlend, PartsStartWhereTheWholeWasAndArriveAtTheirOwnMotion) {
  Points rest(8, 3), now(8, 3);
  for (int i = 0; i < 8; ++i) {
    rest.row(i) << i, i % 2, (i / 2) % 2;
    now.row(i) << 1.2 * i, 1.1 * (i % 2) + 0.1 * i, (i / 2) % 2;
  }
  const std::vector<double> masses(8, 1.0);
  const Fragments whole{std::vector<int>(8, 0), {8}}, halves{{0, 0, 0, 0, 1, 1, 1, 1}, {4, 4}};
  std::vector<Quat> turns(8, Quat::Identity());
  const auto before = fit_fragments(whole, rest, now, masses, turns);
  const auto after = fit_fragments(halves, rest, now, masses, turns);
  SplitBlend blend(8, 4);
  blend.split(whole, before, halves, after);
  const auto distance = [&](const std::vector<RigidTransform>& a, int fa,
                            const std::vector<RigidTransform>& b, int fb) {
    double most = 0;
    for (int i = 0; i < 8; ++i)
      if (halves.of[static_cast<std::size_t>(i)] == fb)
        most = std::max(most, (a[fa].apply(rest.row(i)) - b[fb].apply(rest.row(i))).norm());
    return most;
  };
  EXPECT_LT(distance(before, 0, blend.shown(halves, after), 1), 1e-12);
  double last = distance(after, 1, blend.shown(halves, after), 1);
  EXPECT_GT(last, 0.1);
  for (int frame = 0; frame < 4; ++frame) {
    blend.fade(halves, rest);
    SplitBlend copy(8, 4);
    copy.set_state(blend.state());
    const double here = distance(after, 1, copy.shown(halves, after), 1);
    EXPECT_LT(here, last);
    last = here;
  }
  EXPECT_EQ(last, 0);
}

TEST(Weakening, OnlyLinesThatCrossAWalk) {
  CrackPattern pattern;
  pattern.count = 1;
  pattern.wander = 0;
  pattern.length = 1;
  pattern.step = 0.1;
  const auto walk = crack_walks(pattern)[0];
  const auto crosses = crosses_crack(pattern);
  const Vec3 axis = Vec3::UnitY(), u = axis.unitOrthogonal(), v = axis.cross(u);
  const Vec2 along = walk.back().normalized(), across(-along.y(), along.x());
  const auto at = [&](double s, double t, double height) {
    const Vec2 p = s * along + t * across;
    return Vec3(p.x() * u + p.y() * v + height * axis);
  };
  EXPECT_TRUE(crosses(at(0.53, 0.03, 0), at(0.55, -0.04, 0.2)));
  EXPECT_FALSE(crosses(at(0.53, 0.03, 0), at(0.55, 0.04, 0.2)));
  EXPECT_FALSE(crosses(at(1.2, 0.03, 0), at(1.2, -0.04, 0)));
}

}  // namespace
}  // namespace exemplar::peridynamics
