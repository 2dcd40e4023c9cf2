// What is said about bodies that start inside each other.
#include "core/run/body_watch.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace exemplar
