// What the program says where a call or a file is nearly right: the next thing to type.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

class Hints : public ProgramTest {
 protected:
  void expect_hint(const std::string& command, int exit_code, const std::string& words) {
    const Outcome outcome = run("EXEMPLAR " + command);
    EXPECT_EQ(outcome.exit_code, exit_code) << command;
    EXPECT_NE((outcome.output + outcome.errors).find(words), std::string::npos)
        << command << ":\n"
        << outcome.output << outcome.errors;
  }
};

const char* const k_steel_cube =
    R"({"time": {"duration": 0.1}, "bodies": [{"name": "cube", "surface": {"box": {"size":
  [0.1, 0.1, 0.1]}}, "material": {"density": 7.85, "young": 210, "poisson": 0.3}}]})";

}  // namespace

TEST_F(Hints, NamesThatAreNearlyRight) {
  expect_hint("run plnk", 2, "did you mean 'plank'?");
  expect_hint("compare colum", 2, "did you mean 'column'?");
  expect_hint("run plank --method FEM", 2, "did you mean 'fem'?");
  expect_hint("list scene", 2, "did you mean 'scenes'?");
  expect_hint("help comprae", 2, "did you mean 'compare'?");
}

TEST_F(Hints, HelpAndListsAnswerWhatIsAsked) {
  expect_hint("help run", 0, "--resume");
  expect_hint("help", 0, "validate");
  expect_hint("list fem", 0, "internal_stiffness");
  expect_hint("list fem", 0, "leaves out: fracture");
  expect_hint("list materials", 0, "200 GPa");
}

TEST_F(Hints, OptionsThatDoNotGoTogetherAreNotDropped) {
  expect_hint("pose --reach plank --move a=0.1,0,0", 2, "--move excludes --reach");
  expect_hint("pose --reach plank -o out.vtp", 2, "--reach excludes --output");
}

TEST_F(Hints, ACurveThatCannotBeFollowedIsRefusedAtItsPlace) {
  const auto check = [&](const std::string& load, const std::string& words) {
    write_text(m_folder / "load.json",
               R"({"bodies": [{"name": "b", "surface": {"box": {}}}], "loads": [)" + load + "]}");
    expect_hint("check load.json --fast", 2, words);
  };
  const std::string force = R"({"region": {"all": true}, "value": [1, 0, 0], "curve": )";
  check(force + R"({"times": [0, 1], "factors": [1]}})", "loads[0].curve.factors: must be as many as times");
  check(force + R"({"times": [1, 0], "factors": [1, 2]}})", "loads[0].curve.times: must increase");
  check(force + R"({"times": [], "factors": []}})", "loads[0].curve.times: needs at least one time");
  check(
      R"({"pull": {"point": [0, 0, 0], "target": [1, 0, 0], "stiffness": 1}, "curve": {"times": [0], "factors": [-1]}})",
      "loads[0].curve.factors: must not be negative");
}

TEST_F(Hints, ABrokenLineIsShown) {
  write_text(m_folder / "broken.json", "{\n  \"title\": \"a\",\n  \"time\": {\"duration\" 1}\n}\n");
  expect_hint("check broken.json", 2, "the line: \"time\": {\"duration\" 1}");
}

TEST_F(Hints, AnObjectIsShownAsItIsWritten) {
  write_text(m_folder / "euler.json",
             R"({"bodies": [{"name": "b", "surface": {"box": {}}, "rotation": [0, 90, 0]}]})");
  expect_hint("check euler.json", 2, R"(such as {"axis":[0.0,1.0,0.0],"angle":0.0})");
}

TEST_F(Hints, UnitsOfAMaterialInGigapascalsAndGramsAreAskedAbout) {
  write_text(m_folder / "steel.json", k_steel_cube);
  expect_hint("check steel.json --fast", 0, "density: 7850, young: 2.1e+11");
}

}  // namespace exemplar::testing
