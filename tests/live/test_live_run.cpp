// A run that one can hold on to, with every registered method: what is saved, gone back to or changed while it runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare/registered_methods.h"
#include "core/run/live_run.h"

namespace exemplar {
namespace {

// A box (method shell: a sheet) that flies above a floor, so that it meets it in the sixth frame or so.
const char* const k_box = R"({
  "time": {"duration": 1, "fps": 60, "steps_per_frame": 4}, "gravity": [0, -9.81, 0],
  "bodies": [{"name": "body", "surface": {"box": {"size": [0.2, 0.1, 0.1], "resolution": [2, 1, 1]}},
    "volume": {"grid": [2, 1, 1]}, "position": [0, 0.09, 0], "velocity": [1, 0, 0], "angular_velocity": [0, 0, 2],
    "material": {"density": 1000, "young": 1e5, "poisson": 0.3, "friction": 0.4}}],
  "obstacles": [{"name": "floor", "plane": {}}],
  "loads": [{"region": {"all": true}, "value": [2, 0, 0]}],
  "methods": {"peridynamics": {"particles": 200}}})";
const char* const k_sheet =
    R"({"sheet": {"length": 0.3, "width": 0.2, "resolution_x": 3, "resolution_z": 2}})";

const Registry& methods() {
  static const Registry registry = registered_methods();
  return registry;
}

SceneFile scene_for(const std::string& method) {
  Json document = parse_json(k_box, "test.json");
  if (method == "shell") {
    set_at_path(document, "bodies[0].surface", Json::parse(k_sheet));
    set_at_path(document, "bodies[0].kind", "sheet");
    document["bodies"][0].erase("volume");
  }
  return parse_scene(std::move(document), "test.json", methods().descriptions());
}

LiveRun run_of(const std::string& method) {
  return {scene_for(method), methods(), method};
}

void advance(LiveRun& run, int frames) {
  for (int k = 0; k < frames; ++k) {
    const StepReport report = run.advance_frame();
    ASSERT_EQ(report.status, Status::ok) << report.message;
  }
}

Vec3 centre(const LiveRun& run) {
  return run.surface().points.colwise().mean().transpose();
}

class Live : public ::testing::TestWithParam<std::string> {
 protected:
  bool can_pull() const { return methods().get(GetParam()).capabilities.pulls; }
};

TEST_P(Live, WhatIsSavedComesBackInAnotherMethod) {
  LiveRun run = run_of(GetParam()), fresh = run_of(GetParam());
  advance(run, 8);
  const StateArrays saved = run.state();
  EXPECT_NE(fresh.state(), saved);
  fresh.resume(8, 0, saved);
  EXPECT_EQ(fresh.state(), saved);
  EXPECT_EQ(fresh.surface().points, run.surface().points);
  advance(run, 4);
  advance(fresh, 4);
  EXPECT_EQ(fresh.state(), run.state());
}

TEST_P(Live, GoesBackToASnapshot) {
  LiveRun run = run_of(GetParam());
  advance(run, 5);
  const LiveRun::Snapshot snapshot = run.snapshot();
  advance(run, 5);
  const StateArrays there = run.state();
  run.restore(snapshot);
  EXPECT_EQ(run.frame(), 5);
  EXPECT_EQ(run.state(), snapshot.state);
  advance(run, 5);
  EXPECT_EQ(run.state(), there);
}

// To the value that it has: nothing is different from never having been touched.
TEST_P(Live, ASettingThatIsSetToItsValueLeavesAllBits) {
  LiveRun run = run_of(GetParam()), other = run_of(GetParam());
  advance(run, 10);
  advance(other, 6);
  EXPECT_EQ(other.set("bodies[0].material.friction", "0.4"), LiveRun::Effect::at_once);
  EXPECT_EQ(other.frame(), 6);
  advance(other, 4);
  EXPECT_EQ(other.state(), run.state());
}

TEST_P(Live, ALiveSettingActsAtOnce) {
  LiveRun run = run_of(GetParam()), other = run_of(GetParam());
  advance(run, 2);
  advance(other, 2);
  EXPECT_EQ(other.set("loads[0].value", "[-60, 0, 0]"), LiveRun::Effect::at_once);
  EXPECT_EQ(other.surface().points, run.surface().points);
  EXPECT_EQ(other.time(), run.time());
  advance(run, 3);
  advance(other, 3);
  EXPECT_LT(centre(other).x(), centre(run).x() - 0.002);
  EXPECT_NE(other.file().document.find("-60"), std::string::npos);
}

TEST_P(Live, OthersStartAgainAndSaySo) {
  LiveRun run = run_of(GetParam());
  const Points start = run.surface().points;
  advance(run, 3);
  EXPECT_EQ(run.set("bodies[0].material.density", "1200"), LiveRun::Effect::restarted);
  EXPECT_EQ(run.frame(), 0);
  EXPECT_EQ(run.time(), 0);
  EXPECT_EQ(run.surface().points, start);
  EXPECT_THROW(run.set("bodies[0].material.density", "-1"), InputError);
  EXPECT_THROW(run.set("bodies[0].material.colour", "1"), InputError);
  advance(run, 1);
}

// With a hand that is moved twice and let go. The scene that is left behind gives the same bits when it is run.
// peridynamics looks for the pulls of its scene when it is made.
TEST_P(Live, APullIsAddedMovedAndReleased) {
  if (!can_pull() || GetParam() == "peridynamics") GTEST_SKIP() << "not modelled";
  LiveRun run = run_of(GetParam()), alone = run_of(GetParam());
  advance(run, 2);
  advance(alone, 2);
  const LiveRun::Hold hold = run.nearest(Vec3(9, centre(run).y(), 0));
  const Vec3 there = run.place(hold);
  const int pull = run.add_pull(hold, there + Vec3(0, 0.05, 0), 2000, 60.0);
  advance(run, 1);
  run.move_pull(pull, there + Vec3(0, 0.3, 0));
  advance(run, 2);
  run.move_pull(pull, there + Vec3(0, 0.3, 0.1));
  advance(run, 3);
  run.release_pull(pull);
  advance(run, 2);
  advance(alone, 8);
  EXPECT_GT(centre(run).y(), centre(alone).y() + 0.01);
  LiveRun replayed(
      parse_scene(parse_json(run.file().document, "test.json"), "test.json", methods().descriptions()),
      methods(), GetParam());
  advance(replayed, 10);
  EXPECT_EQ(replayed.state(), run.state());
}

TEST_P(Live, APinHoldsItsPlace) {
  if (!can_pull() || GetParam() == "peridynamics") GTEST_SKIP() << "not modelled";
  LiveRun run = run_of(GetParam());
  const LiveRun::Hold hold = run.nearest(Vec3(-9, 0.09, 0));
  const Vec3 there = run.place(hold);
  run.add_pin(hold);
  advance(run, 12);
  EXPECT_LT((run.place(hold) - there).norm(), 0.02);
}

TEST_P(Live, ABallIsThrown) {
  LiveRun run = run_of(GetParam());
  advance(run, 2);
  EXPECT_THROW(run.throw_ball(centre(run), Vec3::Zero(), 0.15, 1), InputError);
  const Points before = run.surface().points;
  run.throw_ball(Vec3(1, 0.3, 0), Vec3(-3, 0, 0), 0.05, 1);
  EXPECT_EQ(run.frame(), 2);
  EXPECT_EQ(run.surface().points, before);
  ASSERT_EQ(run.method().obstacle_poses().size(), 2u);
  advance(run, 3);
  const double t = 3 / 60.0;
  EXPECT_NEAR(run.method().obstacle_poses()[1].first.x(), 1 - 3 * t, 1e-6);
  EXPECT_NEAR(run.method().obstacle_poses()[1].first.y(), 0.3 - 0.5 * 9.81 * t * t, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Methods, Live, ::testing::ValuesIn(registered_methods().method_names()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(LiveRun, WithoutASceneFileNothingCanBeChanged) {
  LiveRun made = run_of("rigid");
  const Scene scene = make_scene(made.file().settings, "");
  const auto method = methods().get("rigid").make(scene, made.file().method("rigid"));
  LiveRun run(scene, *method);
  advance(run, 1);
  EXPECT_THROW(run.set("loads", "[]"), InputError);
  EXPECT_THROW(run.add_pull(run.nearest(Vec3::Zero()), Vec3::Zero(), 1, std::nullopt), InputError);
}

// What a load changes is none of the energy that is there.
TEST(LiveRun, AChangeLeavesTheBalanceWhereItWas) {
  LiveRun run = run_of("fem");
  advance(run, 7);
  const Diagnostics before = run.measure().metrics.diagnostics;
  ASSERT_EQ(run.set("loads[0].value", "[0, 50, 0]"), LiveRun::Effect::at_once);
  const Diagnostics after = run.measure().metrics.diagnostics;
  EXPECT_NEAR(after.numerical_dissipation, before.numerical_dissipation, 1e-12);
  EXPECT_NEAR(after.external_work, before.external_work, 1e-12);
}

TEST(LiveRun, OnlyPullsThatWereAddedAreMoved) {
  LiveRun run = run_of("rigid");
  EXPECT_THROW(run.move_pull(0, Vec3::Zero()), InputError);  // a force
  EXPECT_THROW(run.release_pull(7), InputError);
}

TEST(LiveRun, StepsToAnyTime) {
  LiveRun run = run_of("rigid");
  ASSERT_EQ(run.step_to(0.025).status, Status::ok);
  EXPECT_EQ(run.frame(), 1);
  EXPECT_EQ(run.measure().metrics.time, 0.025);
  advance(run, 1);
  EXPECT_EQ(run.time(), 2 / 60.0);
}

}  // namespace
}  // namespace exemplar
