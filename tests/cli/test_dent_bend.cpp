#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {
namespace {

class DentBendProgram : public ProgramTest {
 protected:
  // A plank with something more in its description.
  void write_plank(const std::string& more) const {
    write_text(m_folder / "scene.json",
               R"({"title": "t", "time": {"duration": 0.1, "fps": 50},
                   "bodies": [{"name": "plank", "surface": {"box": {"size": [1, 0.1, 0.2], "resolution": [20, 2, 4]}},
                     "position": [0, 0.06, 0], "material": {"density": 1000, "yield_stress": 1e5})" +
                   more + R"(}],
                   "obstacles": [{"name": "floor", "plane": {}},
                                 {"name": "ball", "sphere": {"radius": 0.1}, "mass": 5,
                                  "position": [0.1, 0.25, 0], "velocity": [0, -6, 0]}]})");
  }
  void expect_refusal(const std::string& method, const std::string& path,
                      const std::string& options = "") const {
    const Outcome refused = run("EXEMPLAR run scene.json --method " + method + " -o out " + options);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find(path), std::string::npos) << refused.errors;
    EXPECT_FALSE(std::filesystem::exists(m_folder / "out/frames"));
  }
};

TEST_F(DentBendProgram, SkeletonsThatAreNoneAreRefusedWithTheirPath) {
  write_plank(R"(, "skeleton": {"points": [[-0.4, 0, 0], [0, 0, 0], [0.4, 0, 0.05]],
                   "bones": [{"from": 0, "to": 1}, {"from": 1, "to": 2}, {"from": 2, "to": 0}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.bones[2]: closes a loop");
  write_plank(R"(, "skeleton": {"points": [[-0.4, 0, 0], [0, 0, 0], [0.4, 3, 0]],
                   "bones": [{"from": 0, "to": 1}, {"from": 1, "to": 2}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.bones[1]: (0.34, 2.61");
  write_plank(R"(, "skeleton": {"points": [[-0.4, 2, 0], [0.4, 2, 0]], "bones": [{"from": 0, "to": 1}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.bones[0]: lies wholly outside");
  write_plank(R"(, "skeleton": {"points": [[-0.4, 0, 0], [0.4, 0, 0]], "bones": [{"from": 0, "to": 7}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.bones[0]: joins points 0 and 7, but there are 2 points");
  write_plank(R"(, "skeleton": {"points": [[-0.4, 0, 0], [-0.1, 0, 0], [0.1, 0, 0], [0.4, 0, 0]],
                   "bones": [{"from": 0, "to": 1}, {"from": 2, "to": 3}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.bones[1]: is not connected to bones[0]");
}

TEST_F(DentBendProgram, StrengthsAreAboveZero) {
  write_plank(
      R"(, "skeleton": {"strength": 0, "points": [[-0.4, 0, 0], [0.4, 0, 0]], "bones": [{"from": 0, "to": 1}]})");
  expect_refusal("rigid-bend", "bodies[0].skeleton.strength: expected a number > 0");
  write_plank("");
  expect_refusal("rigid-bend", "methods.rigid-bend.strength: expected a number > 0",
                 "--set methods.rigid-bend.strength=0");
  expect_refusal("rigid-dent", "methods.rigid-dent.strength: expected a number > 0",
                 "--set methods.rigid-dent.strength=-1");
  expect_refusal("rigid-dent", "methods.rigid-dent.distance: expected a number > 0",
                 "--set methods.rigid-dent.distance=0");
}

TEST_F(DentBendProgram, DentMapsThatDoNotFitAreRefusedWithTheirPath) {
  write_plank(R"(, "dent_map": {"columns": 3, "rows": 2, "values": [0, 1, 0, 0, 1]})");
  expect_refusal(
      "rigid-dent",
      "bodies[0].dent_map: a dent map of 3 columns and 2 rows (at least 2 each) needs 6 numbers, got 5");
  write_plank(R"(, "dent_map": {"columns": 2, "rows": 2, "values": [0, 0, 0, 0]})");
  expect_refusal("rigid-dent", "bodies[0].dent_map: needs at least one depth > 0");
  write_plank(R"(, "dent_map": {"file": "missing.txt"})");
  expect_refusal("rigid-dent", "bodies[0].dent_map.file: cannot be read");
  write_text(m_folder / "map.txt", "0 1 0\n0 1\n");
  write_plank(R"(, "dent_map": {"file": "map.txt"})");
  expect_refusal("rigid-dent", "bodies[0].dent_map.file: row 2 has 2 numbers, the ones before it 3");
  write_text(m_folder / "map.txt", "0 1 0\n0 one 1\n");
  expect_refusal("rigid-dent", "bodies[0].dent_map.file: row 2 holds something that is no number");
}

TEST_F(DentBendProgram, AMapThatFitsAndACutPlankAreDented) {
  write_text(m_folder / "map.txt", "0, 0, 0\n0, 2, 0\n0, 0, 0\n");
  write_plank(
      R"(, "dent_map": {"file": "map.txt", "width": 0.2}, "pieces": {"planes": [{"point": [0, 0, 0], "normal": "x"}]})");
  const Outcome good =
      run("EXEMPLAR -q run scene.json --method rigid-dent -o out --set methods.rigid-dent.strength=1e9");
  ASSERT_EQ(good.exit_code, 0) << good.errors;
  const auto record = nlohmann::json::parse(read_text(m_folder / "out/run.json"));
  EXPECT_EQ(record["status"], "done") << record.dump();
  EXPECT_NE(read_text(m_folder / "out/metrics.csv").find("fragments"), std::string::npos);
}

// One body with a rig, cut beforehand: dented and broken by one method, dented, bent and broken by another, and
// deformed towards its example by the one that the rig is for.
TEST_F(DentBendProgram, ARiggedCutPlankDentsBendsAndBreaks) {
  write_plank(
      R"(, "pieces": {"planes": [{"point": [0.1, 0, 0], "normal": "x"}]}, "velocity": [0, -3, 0],
         "rig": {"bones": [{"from": [-0.45, 0, 0], "to": [0.1, 0, 0]}, {"from": [0.1, 0, 0], "to": [0.45, 0, 0]}],
                 "automatic": 0},
         "examples": [{"name": "bent", "bend": {"axis": "z", "angle": 60}}])");
  // Struck in the air: a plank that lands flat on the floor does not bend.
  const std::string in_the_air =
      " --set obstacles[0].position=[0,-0.5,0] --set bodies[0].velocity=[0,0,0] --set obstacles[1].mass=20";
  const auto last = [&](const std::string& method, const std::string& options) {
    const Outcome good =
        run("EXEMPLAR -q run scene.json --method " + method + " --overwrite -o " + method + " " + options);
    EXPECT_EQ(good.exit_code, 0) << good.errors;
    return nlohmann::json::parse(read_text(m_folder / method / "run.json"))["final_metrics"];
  };
  const auto dented = last("rigid-dent", "--set methods.rigid-dent.strength=1e4");
  EXPECT_GE(dented["dents"], 1) << dented.dump();
  EXPECT_EQ(dented["fragments"], 2);
  const auto bent = last("rigid-bend",
                         "--set methods.rigid-bend.dent={} --set methods.rigid-bend.break_angle=90 "
                         "--set methods.rigid-bend.break_stress=1e9" +
                             in_the_air);
  EXPECT_GE(bent["dents"], 1) << bent.dump();
  EXPECT_GE(bent["bones"], 2);  // those of the rig, split where they are hit
  EXPECT_GT(bent["bend_angle [°]"], 2);
  EXPECT_EQ(bent["fragments"], 1);
  const auto broken = last("rigid-bend", std::string("--set methods.rigid-bend.dent={} ") +
                                             "--set methods.rigid-bend.break_angle=1" + in_the_air);
  EXPECT_EQ(broken["fragments"], 2) << broken.dump();
  last("rigid-lbs", "");
}

}  // namespace
}  // namespace exemplar::testing
