// loads[].pull from a file to a point of the body's surface, and what is said of those that fit nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scene/scene.h"
#include "core/scene/scene_file.h"

namespace exemplar {
namespace {

Scene scene_with(const std::string& loads) {
  const std::string text =
      R"({"bodies": [{"name": "a", "surface": {"box": {"size": [2, 2, 2]}}, "position": [5, 0, 0]},
    {"name": "b", "surface": {"box": {}}}], "loads": )" +
      loads + "}";
  return make_scene(parse_scene(parse_json(text, "x"), "x", {}).settings, "");
}

std::string refusal(const std::string& loads) {
  try {
    scene_with(loads);
  } catch (const InputError& error) {
    return to_string(error.problems().front());
  }
  return "not refused";
}

TEST(Pulls, HoldTheNearestPointOfTheSurfaceOrAGivenOne) {
  const Scene scene = scene_with(R"([{"region": {"all": true}, "value": [1, 0, 0]},
    {"body": "a", "pull": {"point": [9, 0.25, 0.5], "target": [8, 0, 0], "stiffness": 7}, "from": 0.5, "until": 2},
    {"body": "b", "pull": {"triangle": 3, "barycentric": [2, 1, 1], "keyframes": [{"time": 0, "position": [0, 1, 0]},
      {"time": 1, "position": [0, 2, 0]}], "interpolation": "linear", "stiffness": 1, "max_force": 3}}])");
  EXPECT_EQ(scene.loads.size(), 1u);
  ASSERT_EQ(scene.pulls.size(), 2u);
  const Pull& near = scene.pulls[0];
  EXPECT_EQ(near.body, "a");
  EXPECT_EQ(near.path, "loads[1]");
  EXPECT_LT((near.point.of(scene.bodies[0].surface().vertices) - Vec3(6, 0.25, 0.5)).norm(), 1e-12);
  EXPECT_EQ(near.target.at(0).position, Vec3(8, 0, 0));
  EXPECT_EQ(near.stiffness, 7);
  EXPECT_TRUE(std::isinf(near.max_force));
  EXPECT_EQ(near.window.start, 0.5);
  EXPECT_EQ(near.window.end, 2);
  const Pull& given = scene.pulls[1];
  EXPECT_EQ(given.point.weights, Vec3(0.5, 0.25, 0.25));
  EXPECT_EQ(given.point.vertices[1], scene.bodies[1].surface().triangles(3, 1));
  EXPECT_EQ(given.max_force, 3);
  EXPECT_EQ(evaluate(given.target, given.interpolation, 0.25).position, Vec3(0, 1.25, 0));
}

TEST(Pulls, WithoutANameActOnEveryBody) {
  EXPECT_EQ(
      scene_with(R"([{"pull": {"point": [0, 9, 0], "target": [0, 1, 0], "stiffness": 1}}])").pulls.size(),
      2u);
}

TEST(Pulls, AreRefusedWithTheirPlace) {
  const auto says = [](const std::string& loads, const std::string& what) {
    const std::string text = refusal(loads);
    EXPECT_NE(text.find(what), std::string::npos) << loads << ": " << text;
  };
  says(R"([{"pull": {"target": [0, 1, 0], "stiffness": 1}}])",
       "loads[0].pull: one of these is needed: point, triangle");
  says(R"([{"pull": {"point": [0, 1, 0], "stiffness": 1}}])",
       "loads[0].pull.target: a pull needs a target or keyframes");
  says(R"([{"pull": {"point": [0, 1, 0], "target": [0, 1, 0]}}])", "loads[0].pull.stiffness");
  says(R"([{"pull": {"point": [0, 1, 0], "target": [0, 1, 0], "stiffness": 1}, "value": [1, 0, 0]}])",
       "loads[0].value");
  says(R"([{"pull": {"point": [0, 1, 0], "target": [0, 1, 0], "stiffness": 1}, "region": {"all": true}}])",
       "only one of these may be given: region, pull");
  says(R"([{"value": [1, 0, 0]}])", "one of these is needed: region, pull");
  says(R"([{"body": "a", "pull": {"triangle": 99999, "target": [0, 1, 0], "stiffness": 1}}])",
       "loads[0].pull: there is no triangle 99999: the surface has");
  says(R"([{"pull": {"triangle": 1, "barycentric": [1, -1, 1], "target": [0, 1, 0], "stiffness": 1}}])",
       "loads[0].pull.barycentric");
  says(R"([{"pull": {"point": [0, 1, 0], "target": [0, 1, 0], "stiffness": 1}, "ramp_down": 1}])",
       "loads[0].pull: a pull that ramps down needs an end");
}

TEST(Settings, LoadsAndWhatIsInThemAreLive) {
  EXPECT_TRUE(is_live_setting("loads", {}));
  EXPECT_TRUE(is_live_setting("loads[2].pull.max_force", {}));
  EXPECT_TRUE(is_live_setting("bodies[0].material.friction", {}));
  EXPECT_FALSE(is_live_setting("bodies[0].material.density", {}));
  EXPECT_FALSE(is_live_setting("bodies[0].nothing.friction", {}));
  EXPECT_FALSE(is_live_setting("methods.fem.tolerance", {}));  // no such method here
}

}  // namespace
}  // namespace exemplar
