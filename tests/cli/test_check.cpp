// exemplar check does all of a run but the simulation: geometry, poses, regions, units, repairs, for every
// method.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

using Json = nlohmann::json;

class Check : public ProgramTest {
 protected:
  // A box over a floor, with `changes` merged in.
  void write_scene(const char* changes, const std::string& name = "scene.json") const {
    Json scene = Json::parse(R"({"time": {"duration": 0.1, "fps": 20}, "bodies": [{"name": "box",
      "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
      "position": [0, 0.2, 0], "material": {"young": 1e6, "density": 1000}}],
      "obstacles": [{"name": "floor", "plane": {}}]})");
    Json patch = Json::parse(changes);
    if (patch.contains("body")) scene["bodies"][0].merge_patch(patch["body"]);
    patch.erase("body");
    scene.merge_patch(patch);
    write_text(m_folder / name, scene.dump());
  }
  // Exit code 2 and these words, both from check and from run with every method.
  void expect_refused(const std::vector<std::string>& words) const {
    const Outcome checked = run("EXEMPLAR check scene.json");
    EXPECT_EQ(checked.exit_code, 2) << checked.output << checked.errors;
    for (const std::string& word : words)
      EXPECT_NE(checked.output.find(word), std::string::npos) << word << "\n" << checked.output;
    for (const char* method : {"rigid", "fem", "shape-matching", "mass-spring"})
      EXPECT_EQ(run(std::string("EXEMPLAR run scene.json --frames 0 -o out --method ") + method).exit_code, 2)
          << method << read_text(m_folder / "stderr.txt");
  }
  void expect_warned(const std::string& words) const {
    const Outcome checked = run("EXEMPLAR check --fast scene.json");
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
    EXPECT_NE(checked.errors.find("scene.json: warning: "), std::string::npos) << checked.errors;
    EXPECT_NE(checked.errors.find(words), std::string::npos) << words << "\n" << checked.errors;
    EXPECT_EQ(run("EXEMPLAR run scene.json --frames 0 -o out --overwrite --method rigid").exit_code, 0);
    EXPECT_NE(read_text(m_folder / "stderr.txt").find(words), std::string::npos);
    EXPECT_NE(read_text(m_folder / "out/run.json").find(words), std::string::npos);
  }
};

}  // namespace

TEST_F(Check, AGoodSceneIsGoodForEveryMethodThatTakesIt) {
  write_scene("{}");
  const Outcome outcome = run("EXEMPLAR check scene.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("scene.json: good"), std::string::npos);
  EXPECT_EQ(outcome.errors.find("warning"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("scene.json: rigid does not model"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("shell cannot run it"), std::string::npos) << outcome.errors;
  EXPECT_EQ(run("EXEMPLAR check scene.json --method shell").exit_code, 2);
  EXPECT_EQ(run("EXEMPLAR check scene.json --method fem").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR check scene.json --method shel").exit_code, 2);
}

// A good scene with poses and a yield stress: one line for each thing that some methods leave out, with their names.
TEST_F(Check, WhatMethodsLeaveOutTakesOneLineEach) {
  write_text(m_folder / "posed.json",
             R"({"bodies": [{"name": "bar", "surface": {"box": {}}, "volume": {"grid": [2, 2, 2]},
    "material": {"yield_stress": 1e4}, "examples": [{"name": "twisted", "twist": {"axis": "y", "angle": 40}}]}]})");
  const Outcome outcome = run("EXEMPLAR check --fast posed.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.errors.find("rigid, mass-spring and peridynamics do not model plasticity"),
            std::string::npos)
      << outcome.errors;
  EXPECT_LE(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 6) << outcome.errors;
}

TEST_F(Check, ABodyInsideAnObstacleIsRefusedByAll) {
  write_scene(R"({"body": {"position": [0, 0.05, 0]}})");
  expect_refused({"scene.json: bodies[0].position: box starts 0.05 m inside floor (obstacles[0])"});
  // A small obstacle inside the body touches none of its vertices.
  write_scene(
      R"({"obstacles": [{"name": "ball", "sphere": {"radius": 0.02}, "mass": 1, "position": [0, 0.21, 0]}]})");
  expect_refused({"bodies[0].position: box starts", "inside ball"});
  // Lying on the floor is no mistake.
  write_scene(R"({"body": {"position": [0, 0.1, 0]}})");
  EXPECT_EQ(run("EXEMPLAR check scene.json").exit_code, 0);
}

TEST_F(Check, OverlappingObstaclesAreSaidAtOnce) {
  write_scene(R"({"obstacles": [{"name": "floor", "plane": {}},
    {"name": "ball", "sphere": {"radius": 0.1}, "mass": 1, "position": [1, 0.05, 0]}]})");
  expect_refused({"obstacles[1].position: ball overlaps floor (obstacles[0]) by 0.05 m"});
  // Fixed ones may: a ramp goes into the floor.
  write_scene(R"({"obstacles": [{"name": "floor", "plane": {}},
    {"name": "ramp", "box": {"size": [1, 0.2, 1]}, "position": [3, 0, 0]}]})");
  EXPECT_EQ(run("EXEMPLAR check scene.json --fast").exit_code, 0);
}

TEST_F(Check, RegionsWithoutANodeAndPosesOfAnotherMeshHaveAPath) {
  write_scene(R"({"body": {"supports": [{"region": {"sphere": {"centre": [5, 5, 5], "radius": 0.1}}}]}})");
  const Outcome support = run("EXEMPLAR check scene.json --method fem");
  EXPECT_EQ(support.exit_code, 2);
  EXPECT_NE(support.output.find("scene.json: bodies[0].supports[0]: fem cannot run it: "), std::string::npos)
      << support.output;
  EXPECT_NE(support.output.find("holds no node of body box"), std::string::npos) << support.output;
  ASSERT_EQ(run("EXEMPLAR mesh sphere --surface-only -o other.obj").exit_code, 0);
  write_scene(R"({"body": {"examples": [{"name": "odd", "file": "other.obj"}]}})");
  const Outcome pose = run("EXEMPLAR check scene.json");
  EXPECT_EQ(pose.exit_code, 2);
  EXPECT_NE(pose.output.find("bodies[0].examples[0]: has "), std::string::npos) << pose.output;
}

TEST_F(Check, AStudyIsCheckedRunByRun) {
  write_scene("{}");
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid",
    {"name": "low", "method": "fem", "set": {"bodies[0].position": [0, 0, 0]}}]})");
  const Outcome outcome = run("EXEMPLAR check study.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(
      outcome.output.find("study.json: runs[1]: low: bodies[0].position: box starts 0.1 m inside floor"),
      std::string::npos)
      << outcome.output;
}

TEST_F(Check, SlipsOfUnitsAreWarnedOf) {
  write_scene(R"({"body": {"surface": {"scale": 1000}, "position": [0, 200, 0], "volume": null}})");
  expect_warned("millimetres? surface.scale: 0.001");
  write_scene(R"({"body": {"material": {"density": 1.2}}})");
  expect_warned("g/cm³? density: 1200");
  write_scene(R"({"body": {"material": {"young": 1}}})");
  expect_warned("MPa or GPa? young: 1e+06 or 1e+09");
  write_scene(R"({"body": {"material": {"young": 500}}})");
  expect_warned("too soft for its own weight");
}

TEST_F(Check, RepairsAreToldByRunAndCheck) {
  // A box whose lid is missing gets a cage.
  ASSERT_EQ(run("EXEMPLAR mesh box --surface-only -o box.obj && sed -i '$d' box.obj").exit_code, 0);
  write_scene(
      R"({"body": {"surface": {"box": null, "file": "box.obj"}, "volume": null, "position": [0, 2, 0]}})");
  const Outcome checked = run("EXEMPLAR check --fast scene.json");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  for (const char* words : {"border edges", "embedded in a cage"}) {
    EXPECT_NE(checked.errors.find(words), std::string::npos) << checked.errors;
  }
  const Outcome ran = run("EXEMPLAR run scene.json --method mass-spring --frames 0 -o out");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_NE(ran.errors.find("embedded in a cage"), std::string::npos) << ran.errors;
  EXPECT_NE(read_text(m_folder / "out/run.json").find("embedded in a cage"), std::string::npos);
}

TEST_F(Check, TetsLargerThanAskedForAreSaid) {
  write_scene(R"({"body": {"volume": {"grid": null, "always_cage": true, "max_tet_volume": 1e-4}}})");
  const Outcome checked = run("EXEMPLAR check --fast scene.json");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_NE(checked.errors.find("times max_tet_volume"), std::string::npos) << checked.errors;
}

TEST_F(Check, AbsurdSizesAreRefusedBeforeAnyWork) {
  const std::vector<std::pair<const char*, const char*>> sizes{
      {R"({"body": {"surface": {"box": {"resolution": [2000, 2000, 2000]}}}})", "triangles"},
      {R"({"body": {"volume": {"grid": [150, 150, 150]}}})", "bodies[0].volume.grid: would be 1.7e+07 tets"},
      {R"({"body": {"volume": {"grid": null, "max_tet_volume": 1e-12}}})", "tets of at most"},
      {R"({"body": {"surface": {"box": null, "cylinder": {"radius": 1e-6, "height": 10}}, "volume": null}})",
       "triangles"}};
  for (const auto& [changes, words] : sizes) {
    write_scene(changes);
    const Outcome outcome = run("ulimit -v 4000000; ulimit -t 10; EXEMPLAR check --fast scene.json");
    EXPECT_EQ(outcome.exit_code, 2) << changes << outcome.errors;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  }
}

TEST_F(Check, ScenesAndStudiesAreToldApart) {
  write_scene("{}");
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"]})");
  const Outcome study = run("EXEMPLAR run study.json");
  EXPECT_EQ(study.exit_code, 2);
  EXPECT_NE(study.errors.find("is a study: `exemplar compare study.json` runs it"), std::string::npos)
      << study.errors;
  const Outcome scene = run("EXEMPLAR compare scene.json");
  EXPECT_EQ(scene.exit_code, 2);
  EXPECT_NE(scene.errors.find("is a scene: `exemplar run scene.json` runs it"), std::string::npos)
      << scene.errors;
}

}  // namespace exemplar::testing
