// What is said about bodies that start inside each other.
#include "core/run/body_watch.h"

#include <gtest/gtest.h>

#include <functional>

namespace exemplar {
namespace {

// Two cubes of 0.2 m whose centres are `distance` apart.
SceneSettings two_cubes(double distance) {
  SceneSettings settings;
  for (const char* name : {"left", "right"}) {
    BodySettings body;
    body.name = name;
    body.surface.box = BoxParams{Vec3::Constant(0.2), {4, 4, 4}};
    settings.bodies.push_back(body);
  }
  settings.bodies[1].position.x() = distance;
  return settings;
}

TEST(BodyWatch, BodiesThatStartInsideEachOtherAreSaid) {
  const Notes notes = body_overlap_notes(make_scene(two_cubes(0.17), ""));
  ASSERT_EQ(notes.size(), 2u);
  for (const Note& note : notes) EXPECT_EQ(note.severity, Severity::warning);
  EXPECT_EQ(notes[0].text, "right starts 0.03 m inside left");
  EXPECT_EQ(notes[1].text, "left starts 0.03 m inside right");
}

// Touching ones are stacks and walls, and rounding puts their faces a little into each other.
TEST(BodyWatch, BodiesThatTouchOrAreApartAreNotSaid) {
  for (const double distance : {0.1999, 0.2, 0.25})
    EXPECT_TRUE(body_overlap_notes(make_scene(two_cubes(distance), "")).empty()) << distance;
}

// A body within another one touches none of its triangles.
TEST(BodyWatch, ABodyWithinAnotherIsSaidOnce) {
  SceneSettings settings = two_cubes(0);
  settings.bodies[1].surface.box->size = Vec3::Constant(0.1);
  const Notes notes = body_overlap_notes(make_scene(settings, ""));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].text, "right starts 0.05 m inside left");
}

// A cube of 0.2 m whose middle is 0.5 m above a plane.
SceneSettings cube_above_plane() {
  SceneSettings settings = two_cubes(0);
  settings.time = {1, 30, 2};
  settings.bodies.resize(1);
  settings.bodies[0].position = Vec3(0, 0.5, 0);
  ObstacleSettings ground;
  ground.name = "ground";
  ground.plane = PlaneSettings{};
  settings.obstacles.push_back(ground);
  return settings;
}

// What the watch says at the end of each of so many frames, the last time.
std::string reason(const std::function<void(Points&)>& change, int frames = 1, double whole = 1,
                   bool may_tear = false) {
  const Scene scene = make_scene(cube_above_plane(), "");
  BodyWatch watch(scene);
  Points surface = scene.bodies[0].surface().vertices;
  change(surface);
  std::string last;
  for (int frame = 1; frame <= frames; ++frame) {
    const WatchedBody body{surface, surface, may_tear, whole};
    last = watch.check({{Vec3::Zero(), Quat::Identity()}}, std::span(&body, 1), frame / 30.0).value_or("");
  }
  return last;
}

void scale(Points& points, const Vec3& factors) {
  const Eigen::RowVector3d centre = points.colwise().mean();
  points = ((points.rowwise() - centre) * factors.asDiagonal()).rowwise() + centre;
}

TEST(BodyWatch, ABodyThatIsWhereItBelongsIsLeftAlone) {
  EXPECT_EQ(reason([](Points&) {}, 30), "");
  EXPECT_EQ(reason([](Points& x) { scale(x, Vec3(1.2, 0.3, 1.2)); }, 30), "");
}

TEST(BodyWatch, LostVolumeEndsTheRunAfterATenthOfASecond) {
  const auto flatten = [](Points& x) { scale(x, Vec3(1, 0.01, 1)); };
  EXPECT_EQ(reason(flatten, 3), "");
  EXPECT_NE(reason(flatten, 5).find("left has lost its volume and stays so (0.01 of it since 0.0333 s)"),
            std::string::npos)
      << reason(flatten, 5);
  EXPECT_NE(reason([](Points& x) { scale(x, Vec3(1, -1, 1)); }, 5).find("inside out"), std::string::npos);
}

TEST(BodyWatch, ABodyOfManyTimesItsVolumeEndsTheRun) {
  EXPECT_NE(reason([](Points& x) { scale(x, Vec3::Constant(3)); }).find("27 times its volume"),
            std::string::npos);
}

TEST(BodyWatch, ABodyThatHasFallenToItsNodesEndsTheRun) {
  EXPECT_EQ(reason([](Points&) {}, 1, 0.5, true), "");
  EXPECT_NE(reason([](Points&) {}, 1, 0.02, true).find("98 % of what held it together"), std::string::npos);
}

// Not even half of its points are inside, but those that are lie deep.
TEST(BodyWatch, ABodyWhoseMiddleIsBelowThePlaneHasGoneIntoIt) {
  const auto hang = [](Points& x) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) x(i, 1) = 5 * i < 2 * x.rows() ? -1.0 : 0.001;
  };
  EXPECT_NE(reason(hang, 1, 1, true).find("its middle is"), std::string::npos) << reason(hang, 1, 1, true);
}

TEST(BodyWatch, WhatIsFartherAwayThanAnythingCouldGetHasLeftTheWorld) {
  // Within 1 s it falls 9.81 m at most, from 0.6 m.
  EXPECT_EQ(reason([](Points& x) { x(0, 1) = 1e3; }, 1, 1, true), "");
  EXPECT_NE(reason([](Points& x) { x(0, 1) = 2e4; }, 1, 1, true).find("left the world"), std::string::npos);
}

}  // namespace
}  // namespace exemplar
