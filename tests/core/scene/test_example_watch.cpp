#include "core/scene/checks/example_watch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scene/files/json_file.h"
#include "core/scene/scene_file.h"

namespace exemplar {
namespace {

Scene twisted_bar(const std::string& controllers) {
  const std::string text = R"({"bodies": [{"name": "bar", "surface": {"box": {"size": [0.1, 0.6, 0.1]}},
    "examples": [{"name": "twisted", "twist": {"axis": "y", "angle": 30}}])" +
                           controllers + "}]}";
  return make_scene(parse_scene(parse_json(text, ""), "", {}).settings, "");
}

MetricsTable weights(std::vector<double> values) {
  MetricsTable table;
  table.columns = {{"frame", ""}, {"weight_bar_twisted", ""}};
  for (std::size_t k = 0; k < values.size(); ++k) table.rows.push_back({static_cast<double>(k), values[k]});
  return table;
}

// The bar's surface after x ↦ A x, turned and moved as a whole, which must not matter.
Points mapped(const Scene& scene, const Mat3& a) {
  const Mat3 turn = Eigen::AngleAxisd(0.8, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  Points x = scene.bodies[0].surface().vertices * (turn * a).transpose();
  x.rowwise() += Vec3(3, 1, -2).transpose();
  return x;
}

std::string only_note(const Scene& scene, const std::vector<double>& values,
                      const std::vector<Points>& surfaces, const std::string& method = "fem") {
  const Notes notes = example_notes(scene, method, weights(values), surfaces);
  return notes.size() == 1 ? notes[0].text : "";
}

TEST(ExampleWatch, AgreementIsOneAlongThePoseAndZeroAcross) {
  const Scene scene = twisted_bar("");
  const Points& rest = scene.bodies[0].surface().vertices;
  const Points& pose = scene.bodies[0].examples()[0].surface;
  const Points part = rest + 0.3 * (pose - rest);
  EXPECT_NEAR(agreement_with_pose(rest, part, pose), 1, 1e-3);
  EXPECT_NEAR(agreement_with_pose(rest, rest - 0.01 * (pose - rest), pose), -1, 1e-3);
  EXPECT_NEAR(agreement_with_pose(rest, mapped(scene, Vec3(1, 0.8, 1).asDiagonal()), pose), 0, 0.1);
  EXPECT_EQ(agreement_with_pose(rest, rest, rest), 0);
}

TEST(ExampleWatch, WhatIsTakenUpIsNotSaid) {
  const Scene scene = twisted_bar("");
  EXPECT_TRUE(example_notes(scene, "fem", weights({0, 0.4, 0}), {}).empty());
  MetricsTable other;  // of a method without weights
  other.columns = {{"frame", ""}};
  EXPECT_TRUE(example_notes(scene, "rigid", other, {}).empty());
}

TEST(ExampleWatch, TellsTheReason) {
  const Scene scene = twisted_bar("");
  const Points& rest = scene.bodies[0].surface().vertices;
  const Points& pose = scene.bodies[0].examples()[0].surface;
  const auto says = [&](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(only_note(scene, {0, 0.03}, {rest, mapped(scene, Mat3::Identity())}), "only 0 % of the way");
  says(only_note(scene, {0, 0.08}, {rest, rest + 0.1 * (pose - rest)}), "only 10 % of the way");
  says(only_note(scene, {0, 0.03}, {rest, mapped(scene, Vec3(1, 0.8, 1).asDiagonal()), rest}),
       "the loads ask for something else");
  says(only_note(scene, {0, 0.03}, {rest, rest + 0.5 * (pose - rest)}),
       "lower methods.fem.internal_stiffness (");
  says(only_note(scene, {0, 0.03}, {}, "rigid-lbs"), "methods.rigid-lbs.beta");
  const Scene steered = twisted_bar(
      R"(, "controllers": [{"example": "twisted", "curve": {"times": [0, 1], "weights": [0, 0.05]}}])");
  says(only_note(steered, {0, 0.05}, {rest}), "its controller");
}

}  // namespace
}  // namespace exemplar
