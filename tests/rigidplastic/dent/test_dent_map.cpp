#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/mesh/mass_properties.h"
#include "core/mesh/models/primitives.h"
#include "rigidplastic/dent/dent_distance.h"
#include "rigidplastic/dent/dent_map.h"
#include "rigidplastic/dent/rim.h"

namespace exemplar::dent {

namespace {

// A surface that touches the plane z = 0 from below at the origin, ready to strike upwards.
struct Striker {
  TriMesh mesh;
  Adjacency neighbours;

  explicit Striker(TriMesh surface) : mesh(std::move(surface)) {
    neighbours = vertex_neighbours(unique_edges(mesh.triangles), mesh.vertices.rows());
  }
  Projectile projectile() const { return {&mesh.vertices, &mesh.triangles, &neighbours}; }
};

// Radius R, a vertex exactly at the origin.
Striker ball(double radius, int resolution = 24) {
  TriMesh mesh = make_sphere({radius, resolution});
  const Quat up = Quat::FromTwoVectors(Vec3(mesh.vertices.row(0)), Vec3::UnitZ());
  mesh.vertices = mesh.vertices * up.toRotationMatrix().transpose();
  mesh.vertices.col(2).array() -= radius;
  return Striker(std::move(mesh));
}

// Comes at θ in the xz plane.
Impact impact_at(double theta) {
  Impact impact;
  impact.velocity = 10 * Vec3(std::sin(theta), 0, std::cos(theta));
  return impact;
}

const Rectangle k_everywhere{Vec2(-10, -10), Vec2(10, 10)};

DentMap map_of(const Striker& striker, const Impact& impact, double distance, const ProfileOptions& options) {
  DentMap map;
  map.frame = dent_frame(impact);
  map.distance = distance;
  map.grid = finished_profile(
      imprint(striker.projectile(), impact, map.frame, distance, k_everywhere, options), distance, options);
  return map;
}

constexpr double k_degree = std::numbers::pi / 180;

}  // namespace

TEST(DepthGrid, RasterisedPlaneIsExact) {
  Points points(4, 3);
  points << -1, -1, 0.2, 1, -1, 0.4, 1, 1, 0.5, -1, 1, 0.3;
  Triangles triangles(2, 3);
  triangles << 0, 1, 2, 0, 2, 3;
  DepthGrid grid = DepthGrid::over({Vec2(-0.9, -0.9), Vec2(0.9, 0.9)}, 0.1, 0);
  rasterise(points, triangles, grid);
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) {
      const Vec2 p = grid.centre(i, j);
      EXPECT_NEAR(grid.at(i, j), 0.35 + 0.1 * p.x() + 0.05 * p.y(), 1e-14);
    }
  }
}

TEST(DepthGrid, ATipThinnerThanACellLeavesItsDepth) {
  Points points(4, 3);
  points << 0.012, 0.017, 1, 0.02, 0.02, 0, 0.03, 0.01, 0, 0.01, 0.03, 0;
  Triangles triangles(3, 3);
  triangles << 0, 1, 2, 0, 2, 3, 0, 3, 1;
  DepthGrid grid = DepthGrid::over({Vec2(-1, -1), Vec2(1, 1)}, 0.1, 0);
  rasterise(points, triangles, grid);
  EXPECT_EQ(grid.largest(), 1);
}

TEST(DepthGrid, AreaAboveALevelCutsTrianglesThere) {
  Points points(3, 3);
  points << 0, 0, 1, 4, 0, -3, 0, 4, -3;
  Triangles triangles(1, 3);
  triangles << 0, 1, 2;
  const Rectangle area = area_above(points, triangles, 0);
  EXPECT_NEAR(area.high.x(), 1, 1e-15);
  EXPECT_NEAR(area.high.y(), 1, 1e-15);
  EXPECT_TRUE(area_above(points, triangles, 2).empty());
}

TEST(DentFrame, TheProjectileComesAlongMinusSineAndCosine) {
  Impact impact;
  impact.inward_normal = Vec3(1, 2, -0.5).normalized();
  impact.velocity = Vec3(3, 1, 1);
  const DentFrame frame = dent_frame(impact);
  const Vec3 local = frame.axes.transpose() * impact.velocity.normalized();
  EXPECT_NEAR((local - Vec3(-std::sin(frame.angle), 0, std::cos(frame.angle))).norm(), 0, 1e-15);
  EXPECT_NEAR(frame.axes.determinant(), 1, 1e-14);
}

// z = a − (R − √(R² − r²)) of a ball pushed in by a.
TEST(Imprint, OfABallIsItsCap) {
  const double radius = 0.5, a = 0.1;
  const Striker striker = ball(radius, 64);
  const Impact impact = impact_at(0);
  const DepthGrid grid =
      imprint(striker.projectile(), impact, dent_frame(impact), a, k_everywhere, {0, 0.01, 200, {}});
  EXPECT_NEAR(grid.largest(), a, 1e-12);
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) {
      const double r2 = grid.centre(i, j).squaredNorm();
      const double cap = std::max(0.0, a - radius + std::sqrt(std::max(0.0, radius * radius - r2)));
      EXPECT_NEAR(grid.at(i, j), cap, 1.2e-4);  // facets of 7 mm on a ball of 0.5 m
    }
  }
}

TEST(Imprint, OfAFloorThatSlidesIsTheWholeFloor) {
  const Striker striker([] {
    TriMesh floor = make_box({Vec3(4, 4, 1), {1, 1, 1}});
    floor.vertices.col(2).array() -= 0.5;
    return floor;
  }());
  const Impact impact = impact_at(60 * k_degree);
  const Rectangle footprint{Vec2(-0.3, -0.3), Vec2(0.3, 0.3)};
  const DepthGrid grid =
      imprint(striker.projectile(), impact, dent_frame(impact), 0.02, footprint, {0, 0.01, 200, {}});
  for (const double depth : grid.depth) EXPECT_NEAR(depth, 0.02, 1e-12);
}

TEST(DentMap, HeadOnBallDentsByTheDistanceAndAlikeAllAround) {
  const double a = 0.06;
  const DentMap map = map_of(ball(0.4, 48), impact_at(0), a, {0.06, 0.01, 200, {6, 6}});
  EXPECT_NEAR(map.displacement(Vec3::Zero()).z(), a, 1e-12);
  for (const double r : {0.05, 0.1, 0.2}) {
    double low = 1, high = 0;
    for (int k = 0; k < 64; ++k) {
      const double angle = k * std::numbers::pi / 32;
      const double depth = map.displacement(Vec3(r * std::cos(angle), r * std::sin(angle), 0)).z();
      low = std::min(low, depth), high = std::max(high, depth);
    }
    EXPECT_LT(high - low, 0.02 * a) << r;  // a grid of 1 cm, facets of 1 cm
  }
}

TEST(DentMap, GlancingBallDisplacesByTheDistanceAlongItsVelocity) {
  const double a = 0.05;
  const Striker striker = ball(0.4, 48);
  for (const double degrees : {15.0, 30.0, 45.0, 60.0, 75.0}) {
    const double theta = degrees * k_degree;
    const DentMap map = map_of(striker, impact_at(theta), a, {0.05, 0.01, 200, {6, 6}});
    double largest = 0;
    Vec3 deepest = Vec3::Zero();
    for (int j = 0; j < map.grid.rows; ++j) {
      for (int i = 0; i < map.grid.columns; ++i) {
        const Vec2 p = map.grid.centre(i, j);
        const Vec3 moved = map.displacement(Vec3(p.x(), p.y(), 0));
        if (moved.norm() > largest) largest = moved.norm(), deepest = moved;
      }
    }
    EXPECT_NEAR(largest, a, 1e-12);
    EXPECT_NEAR((deepest - a * Vec3(-std::sin(theta), 0, std::cos(theta))).norm(), 0, 1e-12);
  }
}

// The stretched mark reaches 1/cos θ farther along the velocity than across it.
TEST(DentMap, GlancingMarkIsStretchedAlongTheVelocity) {
  const double a = 0.01, theta = 60 * k_degree;
  const Impact impact = impact_at(theta);
  const DepthGrid grid =
      imprint(ball(0.5, 96).projectile(), impact, dent_frame(impact), a, k_everywhere, {0, 0.002, 400, {}});
  Rectangle deep;
  for (int j = 0; j < grid.rows; ++j) {
    for (int i = 0; i < grid.columns; ++i) {
      if (grid.at(i, j) > 0.5 * a) deep.extend(grid.centre(i, j));
    }
  }
  const Vec2 size = deep.high - deep.low;
  EXPECT_NEAR(size.x() / size.y(), 2, 0.1);
}

TEST(DentMap, WideningWithZeroIsTheGreenCurveAndLargerOnesKeepTheRim) {
  const double theta = 50 * k_degree;
  DentMap map = map_of(ball(0.4), impact_at(theta), 0.05, {0.05, 0.01, 200, {6, 6}});
  const Vec3 p(0.06, 0.02, 0);
  const double depth = map.grid.sample(p.x(), p.y());
  EXPECT_NEAR(map.displacement(p).x(), -std::sin(theta) * depth, 1e-15);
  map.widening = 40;
  EXPECT_NEAR(map.displacement(p).x(), -2 * std::sin(theta) * depth / (1 + std::exp(40 * 0.06)), 1e-15);
}

// Fig. 6: how far the projectile, put into its dent, sticks out of it.
TEST(DentMap, BroadeningKeepsTheProjectileOutOfTheTargetAndHeatAloneDoesNot) {
  TriMesh rabbit = make_rabbit({0.4, 1.0, 30});
  rabbit.vertices.col(2).array() -= rabbit.vertices.col(2).maxCoeff();
  const Striker striker(std::move(rabbit));
  const Impact impact = impact_at(0);
  const ProfileOptions options{0.02, 0.004, 200, {6, 6}};
  const DepthGrid profile =
      imprint(striker.projectile(), impact, dent_frame(impact), 0.05, k_everywhere, options);
  DepthGrid heated = profile;
  smooth(heated, {12, 0});
  const DepthGrid broadened = finished_profile(profile, 0.05, options);
  double heat_alone = 0, both = 0;
  for (std::size_t k = 0; k < profile.depth.size(); ++k) {
    heat_alone = std::max(heat_alone, profile.depth[k] - heated.depth[k]);
    both = std::max(both, profile.depth[k] - broadened.depth[k]);
  }
  EXPECT_GT(heat_alone, 0.2 * 0.05);
  EXPECT_LT(both, 1e-16);
}

TEST(Falloff, KeepsDepthsInOrderUpToTheBoundAndNotBeyond) {
  for (const FalloffKind kind : {FalloffKind::logistic, FalloffKind::linear}) {
    const double bound = kind == FalloffKind::linear ? 1 : 2;
    for (const double factor : {0.3, 1.0, 1.3}) {
      const Falloff falloff{kind, factor * bound};
      double smallest = 1;
      for (double z = -6; z < 6; z += 1e-3) {
        const double step = 1e-3 + attenuation(falloff, z + 1e-3, 1) - attenuation(falloff, z, 1);
        smallest = std::min(smallest, step / 1e-3);
      }
      EXPECT_EQ(may_fold(falloff), factor > 1);
      if (factor > 1)
        EXPECT_LT(smallest, -0.1);
      else
        EXPECT_GT(smallest, -1e-9);
    }
  }
}

TEST(Falloff, AThinWallFoldsOnlyBeyondTheBound) {
  TriMesh wall = make_box({Vec3(1, 1, 0.02), {40, 40, 1}});
  wall.vertices.col(2).array() += 0.01;
  for (const double steepness : {1.0, 2.0, 12.0}) {
    DentMap map = map_of(ball(0.3), impact_at(0), 0.08, {0.08, 0.01, 200, {6, 6}});
    map.falloff.steepness = steepness;
    TriMesh dented = wall;
    map.apply(dented.vertices);
    EXPECT_EQ(count_self_intersections(dented) == 0, steepness <= 2) << steepness;
  }
}

TEST(Falloff, PartsFarInFrontOfThePlaneStay) {
  const DentMap map = map_of(ball(0.3), impact_at(0), 0.05, {0.05, 0.01, 200, {6, 6}});
  EXPECT_EQ(map.displacement(Vec3(0, 0, -0.21)).norm(), 0);
  EXPECT_NEAR(map.displacement(Vec3(0, 0, -0.09)).z(), 0.05, 1e-12);
}

TEST(Rim, GivesBackTheVolumeOfTheDent) {
  TriMesh block = make_box({Vec3(1, 1, 0.4), {60, 60, 24}});
  block.vertices.col(2).array() += 0.2;
  const double before = signed_volume(block.vertices, block.triangles);
  DentMap map = map_of(ball(0.2), impact_at(0), 0.05, {0.03, 0.01, 200, {6, 6}});
  Points plain = block.vertices;
  map.apply(plain);
  const double lost = before - signed_volume(plain, block.triangles);
  EXPECT_GT(lost, 0.001 * before);
  EXPECT_EQ(keep_volume(map, block.vertices, block.triangles, 0.08), 0);
  Points kept = block.vertices;
  map.apply(kept);
  EXPECT_LT(std::abs(before - signed_volume(kept, block.triangles)), 1e-8 * lost);
  EXPECT_LT(kept.col(2).minCoeff(), -0.002);  // a rim in front of the old face
  EXPECT_GT(kept.col(2).minCoeff(), -0.05);
}

TEST(CommonVolume, IsPiecewiseLinearAndInvertedExactly) {
  const CommonVolume volume({0.0, 0.1, 0.3}, 2.0);
  EXPECT_NEAR(volume.at(0.2), 2 * (0.2 + 0.1), 1e-15);
  for (const double depth : {0.05, 0.1, 0.25, 0.7})
    EXPECT_NEAR(volume.depth_for(volume.at(depth)), depth, 1e-14);
}

// A ball on a plane: V = π h² (R − h/3), so that h follows from the energy in closed form.
TEST(DentDistance, OfABallOnABlockFollowsFromItsEnergy) {
  TriMesh block = make_box({Vec3(2, 2, 1), {4, 4, 2}});
  block.vertices.col(2).array() += 0.5;
  const double radius = 0.3, yield = 2e6;
  const Striker striker = ball(radius, 64);
  for (const double h : {0.002, 0.01, 0.05}) {
    const double energy = 3 * yield * std::numbers::pi * h * h * (radius - h / 3);
    const double depth = depth_from_energy(energy, yield, 0.2, striker.projectile(), block.vertices,
                                           block.triangles, impact_at(0));
    EXPECT_NEAR(depth / h, 1, 0.03) << h;
  }
}

// The same ball as the target of a floor loses the same cap.
TEST(DentDistance, DoesNotDependOnWhoIsTheTarget) {
  TriMesh block = make_box({Vec3(2, 2, 1), {4, 4, 2}});
  block.vertices.col(2).array() += 0.5;
  const Striker striker = ball(0.3, 64), floor(block);
  Impact turned = impact_at(0);
  turned.inward_normal = -Vec3::UnitZ();
  turned.velocity = -turned.velocity;
  const double forwards =
      depth_from_energy(500, 1e6, 0.2, striker.projectile(), block.vertices, block.triangles, impact_at(0));
  const double backwards = depth_from_energy(500, 1e6, 0.2, floor.projectile(), striker.mesh.vertices,
                                             striker.mesh.triangles, turned);
  EXPECT_NEAR(forwards, backwards, 0.01 * forwards);
}

// A rod hit at its end by a mass M: m_eff = 1/(1/M + 1/m + 3/m) with I = m l²/12, arm l/2.
TEST(DentDistance, EffectiveMassKnowsTheLever) {
  ContactMass hammer, rod;
  hammer.inverse_mass = 1 / 2.0;
  rod.inverse_mass = 1 / 3.0;
  rod.inverse_inertia = Mat3::Identity() * 12 / (3.0 * 1.5 * 1.5);
  rod.arm = Vec3(0.75, 0, 0);
  EXPECT_NEAR(effective_mass(hammer, rod, Vec3::UnitY()), 1 / (1 / 2.0 + 4 / 3.0), 1e-14);
}

}  // namespace exemplar::dent
