#include "core/scene/pose_maps.h"

#include <gtest/gtest.h>

#include <numbers>

#include "core/mesh/mass_properties.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {

namespace {

Points bar() {
  return make_box({{0.2, 0.2, 2.0}, {4, 4, 40}}).vertices;
}

Points apply_to_bar(const PoseMap& map) {
  const Points points = bar();
  return apply_map(map, points, bounds_of(points));
}

}  // namespace

TEST(PoseMaps, TwistTurnsTheEndsByTheAngleAndKeepsDistancesFromTheAxis) {
  PoseMap map;
  map.twist = TwistMap{Vec3::UnitZ(), 90, 1};
  const Points rest = bar(), pose = apply_to_bar(map);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    EXPECT_NEAR(rest.row(i).head<2>().norm(), pose.row(i).head<2>().norm(), 1e-14);
    EXPECT_EQ(rest(i, 2), pose(i, 2));
    const double turned = 90.0 * rest(i, 2) / 2.0 * std::numbers::pi / 180;
    const Vec3 expected = Eigen::AngleAxisd(turned, Vec3::UnitZ()) * Vec3(rest.row(i));
    EXPECT_LT((Vec3(pose.row(i)) - expected).norm(), 1e-14);
  }
}

TEST(PoseMaps, BendKeepsTheNeutralLineAndTheAngleBetweenTheEnds) {
  PoseMap map;
  map.bend = BendMap{Vec3::UnitX(), std::nullopt, 70, std::nullopt, 0.1};
  Points line(101, 3);
  for (int i = 0; i <= 100; ++i) line.row(i) = Vec3(0, 0, -1 + 0.02 * i).transpose();
  const Points pose = apply_map(map, line, bounds_of(bar()));
  double length = 0;
  for (int i = 0; i < 100; ++i) length += (pose.row(i + 1) - pose.row(i)).norm();
  EXPECT_NEAR(length, 2.0, 2e-4);
  const Vec3 first = Vec3(pose.row(1) - pose.row(0)).normalized(),
             last = Vec3(pose.row(100) - pose.row(99)).normalized();
  EXPECT_NEAR(std::acos(first.dot(last)) * 180 / std::numbers::pi, 70, 0.8);
}

TEST(PoseMaps, StretchCanKeepTheVolume) {
  const TriMesh box = make_box({{0.2, 0.2, 2.0}, {2, 2, 8}});
  PoseMap map;
  map.stretch = StretchMap{Vec3::UnitZ(), 1.7, true};
  const Points pose = apply_map(map, box.vertices, bounds_of(box.vertices));
  EXPECT_NEAR(signed_volume(pose, box.triangles), signed_volume(box.vertices, box.triangles), 1e-14);
  EXPECT_NEAR(pose.col(2).maxCoeff(), 1.7, 1e-14);
}

TEST(PoseMaps, LatticeReproducesATranslationAndFadesFarAway) {
  PoseMap map;
  map.lattice = LatticeMap{{4, 4, 4}, {}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 4; ++k) map.lattice->offsets.push_back({{i, j, k}, {0.1, -0.2, 0.3}});
    }
  }
  Points middle(1, 3);
  middle << 0.01, 0.02, 0.03;
  const Points pose = apply_map(map, middle, bounds_of(bar()));
  EXPECT_LT((Vec3(pose.row(0) - middle.row(0)) - Vec3(0.1, -0.2, 0.3)).norm(), 1e-14);

  PoseMap corner;
  corner.lattice = LatticeMap{{4, 4, 8}, {{{0, 0, 0}, {1, 0, 0}}}};
  const Points moved = apply_to_bar(corner), rest = bar();
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    if (rest(i, 2) > 0) {
      EXPECT_EQ(moved(i, 0), rest(i, 0));
    }
  }
  EXPECT_GT((moved - rest).norm(), 0.01);
}

TEST(PoseMaps, AWaveThatKeepsLengthShortensTheSheetAsMuchAsItLifts) {
  const TriMesh sheet = make_sheet({1.0, 0.1, 400, 1, true});
  PoseMap map;
  map.wave = WaveMap{Vec3::UnitY(), Vec3::UnitX(), 0.01, 0.25, 0, std::nullopt, true};
  const Points pose = apply_map(map, sheet.vertices, bounds_of(sheet.vertices));
  EXPECT_NEAR(pose.col(1).maxCoeff(), 0.01, 1e-5);
  double length = 0;  // of the line along one side
  Points line(401, 3);
  for (Eigen::Index i = 0; i < sheet.vertices.rows(); ++i) {
    if (sheet.vertices(i, 2) < 0) line.row(std::lround((sheet.vertices(i, 0) + 0.5) * 400)) = pose.row(i);
  }
  for (Eigen::Index i = 0; i < 400; ++i) length += (line.row(i + 1) - line.row(i)).norm();
  EXPECT_NEAR(length, 1.0, 2e-5);
  EXPECT_LT(line(400, 0) - line(0, 0), 0.986);
  map.wave->grow = Vec3::UnitX();
  const Points growing = apply_map(map, sheet.vertices, bounds_of(sheet.vertices));
  EXPECT_LT(growing.topRows(20).col(1).cwiseAbs().maxCoeff(), 0.001);
}

TEST(PoseMaps, WithinLimitsAMapToItsBox) {
  PoseMap map;
  map.translate = TranslateMap{{0, 1, 0}};
  map.within = MapRegion{{-1, -1, 0.5}, {1, 1, 2}, 0.2};
  const Points rest = bar(), pose = apply_to_bar(map);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const double moved = pose(i, 1) - rest(i, 1);
    if (rest(i, 2) >= 0.5) {
      EXPECT_NEAR(moved, 1, 1e-14);
    }
    if (rest(i, 2) <= 0.3) {
      EXPECT_EQ(moved, 0);
    }
  }
}

TEST(PoseMaps, TaperShearBulgeAndDentMoveWhatTheySay) {
  PoseMap taper, shear, bulge, dent;
  taper.taper = TaperMap{Vec3::UnitZ(), 1, 0.5};
  shear.shear = ShearMap{Vec3::UnitX(), Vec3::UnitZ(), 0.5};
  bulge.bulge = BulgeMap{Vec3::UnitZ(), 0.3, 0.2, Vec3(0, 0, 0)};
  dent.dent = DentMap{Vec3(0, 0.1, 0), -Vec3::UnitY(), 0.05, 0.3};
  const Points rest = bar();
  const Points tapered = apply_to_bar(taper), sheared = apply_to_bar(shear), bulged = apply_to_bar(bulge),
               dented = apply_to_bar(dent);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const double t = rest(i, 2) / 2 + 0.5;
    EXPECT_NEAR(tapered(i, 0), rest(i, 0) * (1 - 0.5 * t), 1e-14);
    EXPECT_NEAR(sheared(i, 0), rest(i, 0) + 0.5 * rest(i, 2), 1e-14);
    const double s = rest(i, 2) / 0.2;
    EXPECT_NEAR(bulged(i, 1), rest(i, 1) * (1 + 0.3 * std::exp(-s * s)), 1e-14);
    EXPECT_LE(dented(i, 1), rest(i, 1));
  }
  EXPECT_NEAR((rest - dented).col(1).maxCoeff(), 0.05, 1e-12);
}

}  // namespace exemplar
