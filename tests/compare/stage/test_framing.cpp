// Where the camera stands, measured by what is in the picture.
#include <gtest/gtest.h>

#include "compare/stage/framing.h"
#include "compare/stage/visible.h"
#include "core/base/errors.h"

namespace exemplar::stage {

namespace {

// A box with corners low and high as twelve triangles.
Geometry box_geometry(const Vec3& low, const Vec3& high) {
  Geometry box;
  box.points.resize(8, 3);
  for (int c = 0; c < 8; ++c)
    box.points.row(c) << (c & 1 ? high : low).x(), (c & 2 ? high : low).y(), (c & 4 ? high : low).z();
  box.connectivity = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  return box;
}

// A body: a cube of edge `size` around `centre`, squeezed to `height` of itself.
Geometry cube(int body, const Vec3& centre, double size, double height = 1) {
  Geometry geometry = box_geometry(Vec3::Constant(-size / 2), Vec3::Constant(size / 2));
  const Points rest = geometry.points;
  geometry.points.col(1) *= height;
  geometry.points.rowwise() += centre.transpose();
  geometry.arrays.push_back(make_array("displacement", Association::point, geometry.points - rest));
  geometry.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(8, body)));
  return geometry;
}

Geometry obstacle(int place, const Vec3& low, const Vec3& high) {
  Geometry geometry = box_geometry(low, high);
  geometry.arrays.push_back(make_integer_array("obstacle", Association::cell, std::vector<int>(12, place)));
  return geometry;
}

struct OneRun {
  std::vector<Geometry> bodies, obstacles;

  Moments moments() const {
    Moments all(1);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      all[0].push_back({&bodies[i], i < obstacles.size() ? &obstacles[i] : nullptr});
    return all;
  }
};

Stage two_bodies() {
  Stage stage;
  stage.bodies = {"big", "small"};
  stage.obstacles = {"ramp"};
  return stage;
}

double share_at(const Shot& shot, std::size_t time, const Geometry& bodies, int body) {
  return look(shot.cameras[0][time], 4.0 / 3, 300, bodies).share(body);
}

// A square of 1 m that is looked at from 4 m under 30° fills (1 / (8 tan 15°))² of a square picture.
TEST(VisibleShare, OfASquareAndWhatIsBehindAWall) {
  Geometry square;
  square.points.resize(4, 3);
  square.points << -0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5, 0;
  square.connectivity = {0, 1, 2, 0, 2, 3};
  const double angle = 30 * M_PI / 180;
  const Camera camera = camera_at(Vec3(0, 0, 4), Vec3::Zero(), Vec3::UnitY(), angle);
  const double whole = std::pow(1 / (8 * std::tan(angle / 2)), 2);
  EXPECT_NEAR(look(camera, 1, 800, square).share(0), whole, 6e-3 * whole);
  EXPECT_NEAR(look(camera, 2, 800, square).share(0), whole / 2, 6e-3 * whole);
  const Geometry wall = obstacle(0, Vec3(0, -5, 1), Vec3(5, 5, 1.1));  // hides the right half
  const Visible half = look(camera, 1, 800, square, &wall);
  EXPECT_NEAR(half.share(0), whole / 2, 8e-3 * whole);
  EXPECT_GT(half.share(k_behind_obstacle), 0.49);
  const Geometry behind = obstacle(0, Vec3(0, -5, -1), Vec3(5, 5, -0.9));
  EXPECT_NEAR(look(camera, 1, 800, square, &behind).share(0), whole, 6e-3 * whole);
}

// A cube that falls 60 times its size: the camera goes along, and the cube takes the same part of every picture.
TEST(Framing, GoesAlongWithALongPath) {
  OneRun run;
  for (const double y : {60.0, 40.0, 5.0, 0.5}) run.bodies.push_back(cube(0, Vec3(0, y, 0), 1));
  const auto shots = frame_shots(run.moments(), two_bodies(), {});
  for (std::size_t t = 0; t < 4; ++t) EXPECT_GT(share_at(shots[0], t, run.bodies[t], 0), 0.3) << t;
  // One that moves by half its size is watched from one place.
  OneRun near;
  for (const double y : {1.0, 0.5}) near.bodies.push_back(cube(0, Vec3(0, y, 0), 1));
  const auto still = frame_shots(near.moments(), two_bodies(), {});
  EXPECT_EQ(still[0].cameras[0][0].position, still[0].cameras[0][1].position);
}

// Neither the ground nor a ramp 50 times the body's size makes it smaller; a ball that flies at it is in the picture.
TEST(Framing, LargeObstaclesAreNotFitted) {
  OneRun alone;
  for (int t = 0; t < 2; ++t) alone.bodies.push_back(cube(0, Vec3(0, 0.5, 0), 1));
  OneRun beside = alone;
  for (int t = 0; t < 2; ++t) beside.obstacles.push_back(obstacle(0, Vec3(-25, -50, -25), Vec3(25, 0, 25)));
  const Camera bare = frame_shots(alone.moments(), two_bodies(), {})[0].cameras[0][0];
  const Camera same = frame_shots(beside.moments(), two_bodies(), {})[0].cameras[0][0];
  EXPECT_LT((bare.position - same.position).norm(), 1e-9);
  OneRun hit = alone;
  for (int t = 0; t < 2; ++t) {
    const Vec3 centre(0, 1.4 - 0.1 * t, 0);
    hit.obstacles.push_back(obstacle(0, centre - Vec3::Constant(0.2), centre + Vec3::Constant(0.2)));
  }
  const Camera wider = frame_shots(hit.moments(), two_bodies(), {})[0].cameras[0][0];
  for (Eigen::Index i = 0; i < 8; ++i) {
    const Vec3 place = project(wider, hit.obstacles[0].points.row(i).transpose(), 4.0 / 3);
    EXPECT_LT(place.head<2>().cwiseAbs().maxCoeff(), 1) << i;
  }
}

// What deforms and is small gets a row of its own; what does not deform, or is large, does not.
TEST(Framing, ASmallBodyThatDeformsGetsACloseUp) {
  for (const double height : {1.0, 0.7}) {
    for (const double size : {0.2, 4.0}) {
      OneRun run;
      for (const double now : {1.0, height}) {
        Geometry both = cube(0, Vec3(0, 2, 0), 4);
        append(both, cube(1, Vec3(size == 0.2 ? 6 : 5, 2, 3), size, now));
        run.bodies.push_back(both);
      }
      const auto shots = frame_shots(run.moments(), two_bodies(), {});
      const bool is_close = height < 1 && size < 1;
      ASSERT_EQ(shots.size(), is_close ? 2u : 1u) << height << " " << size;
      if (!is_close) continue;
      EXPECT_EQ(shots[1].name, "small");
      EXPECT_LT(share_at(shots[0], 1, run.bodies[1], 1), 0.01);
      EXPECT_GT(share_at(shots[1], 1, run.bodies[1], 1), 0.2);
      FramingWishes wide;
      wide.close_ups = {k_no_close_up};
      EXPECT_EQ(frame_shots(run.moments(), two_bodies(), wide).size(), 1u);
    }
  }
}

// Two layers of 9 × 9 points, 0.2 m apart along z; the middle of one of them is pushed in.
Geometry dented_plate(int dented_layer, double depth) {
  constexpr int n = 9;
  Geometry plate;
  plate.points.resize(2 * n * n, 3);
  Points moved = Points::Zero(2 * n * n, 3);
  for (int k = 0; k < 2 * n * n; ++k) {
    const int layer = k / (n * n), x = k % n - n / 2, y = k / n % n - n / 2;
    plate.points.row(k) << 0.1 * x, 0.1 * y, 0.1 - 0.2 * layer;
    if (layer == dented_layer && std::abs(x) < 3 && std::abs(y) < 3) moved(k, 2) = (layer ? 1 : -1) * depth;
    if (x == n / 2 || y == n / 2) continue;
    for (const int corner : {k, k + 1, k + n, k + 1, k + n + 1, k + n}) plate.connectivity.push_back(corner);
  }
  plate.points += moved;
  plate.arrays.push_back(make_array("displacement", Association::point, moved));
  return plate;
}

// A plate that is dented at the back is looked at from behind.
TEST(Framing, LooksAtTheSideThatDeforms) {
  OneRun run;
  for (const int layer : {0, 1}) {
    run.bodies = {dented_plate(layer, 0), dented_plate(layer, 0.05)};
    const Vec3 backward = frame_shots(run.moments(), two_bodies(), {})[0].cameras[0][1].backward();
    EXPECT_EQ(backward.z() > 0, layer == 0) << backward.transpose();
  }
  FramingWishes wishes;
  wishes.direction = Vec3(1, 0.5, 1);
  const Camera told = frame_shots(run.moments(), two_bodies(), wishes)[0].cameras[0][1];
  EXPECT_GT(told.backward().dot(Vec3(1, 0.5, 1).normalized()), 1 - 1e-12);
}

TEST(Framing, TheScenesCameraIsKept) {
  OneRun run;
  for (const double x : {0.0, 3.0}) {
    Geometry both = cube(0, Vec3(0, 0, 0), 2);
    append(both, cube(1, Vec3(x, 4, 0), 0.5));
    run.bodies.push_back(both);
  }
  Stage stage = two_bodies();
  stage.camera.look_at = Vec3(1, 2, 3);
  stage.camera.from = Vec3(4, 5, 9);
  stage.camera.field_of_view = 40;
  const Camera placed = frame_shots(run.moments(), stage, {})[0].cameras[0][1];
  EXPECT_LT((placed.position - Vec3(4, 5, 9)).norm() + (placed.target - Vec3(1, 2, 3)).norm(), 1e-12);
  EXPECT_NEAR(placed.view_angle, 40 * M_PI / 180, 1e-12);
  FramingWishes wishes;
  wishes.zoom = 2;
  const Camera zoomed = frame_shots(run.moments(), stage, wishes)[0].cameras[0][1];
  const Vec3 point(1.3, 2.2, 3.1);
  EXPECT_LT((project(zoomed, point, 1) - 2 * project(placed, point, 1)).head<2>().norm(), 1e-12);
  stage.camera.from.reset();
  stage.camera.direction = Vec3(0, 0, 1);
  const Camera there = frame_shots(run.moments(), stage, {})[0].cameras[0][1];
  EXPECT_LT(project(there, Vec3(1, 2, 3), 1).head<2>().norm(), 1e-12);
  for (const Geometry& moment : run.bodies) {
    for (Eigen::Index i = 0; i < moment.points.rows(); ++i)
      EXPECT_LT(project(there, moment.points.row(i).transpose(), 4.0 / 3).head<2>().cwiseAbs().maxCoeff(), 1);
  }
}

TEST(Framing, FollowsABodyAndLooksAtPlaces) {
  OneRun run;
  for (const double x : {0.0, 5.0, 30.0}) {
    Geometry both = cube(0, Vec3(0, 0, 0), 4);
    append(both, cube(1, Vec3(x, 0.3 * x, 0), 0.5));
    run.bodies.push_back(both);
  }
  Stage stage = two_bodies();
  FramingWishes wishes;
  wishes.follow = "small";
  const Shot shot = frame_shots(run.moments(), stage, wishes)[0];
  for (std::size_t t = 0; t < 3; ++t) {
    const double x = t == 0 ? 0 : t == 1 ? 5 : 30;
    EXPECT_LT(project(shot.cameras[0][t], Vec3(x, 0.3 * x, 0), 1).head<2>().norm(), 0.1) << t;
  }
  wishes.follow = "nobody";
  EXPECT_THROW(frame_shots(run.moments(), stage, wishes), InputError);
  wishes.follow.clear();
  wishes.close_ups = {"small"};
  const auto close = frame_shots(run.moments(), stage, wishes);
  ASSERT_EQ(close.size(), 2u);
  EXPECT_GT(share_at(close[1], 2, run.bodies[2], 1), 0.2);
  wishes.close_ups = {"nobody"};
  EXPECT_THROW(frame_shots(run.moments(), stage, wishes), InputError);
  wishes.close_ups.clear();
  stage.camera.close_ups = {{"a place", "", Vec3(1, 1, 1), 0.5, Vec3(0, 0, 1)}};
  const Shot place = frame_shots(run.moments(), stage, wishes).at(1);
  EXPECT_EQ(place.name, "a place");
  EXPECT_LT(project(place.cameras[0][1], Vec3(1, 1, 1), 1).head<2>().norm(), 1e-9);
  // 0.5 m fill the picture's height but for a margin of 14 % on each side.
  const double top = project(place.cameras[0][1], Vec3(1, 1.25, 1), 1).y();
  EXPECT_NEAR(top, 0.72, 0.04);
}

}  // namespace

}  // namespace exemplar::stage
