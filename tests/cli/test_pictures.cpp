// A scene's camera reaches every picture: sheets (measured by what part of them a body takes) and the report's 3D views.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Pictures : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    m_render = (fs::path(EXEMPLAR_PROGRAM).parent_path() / "exemplar-render").string();
    if (!fs::exists(m_render)) GTEST_SKIP() << "exemplar-render is not built";
  }

  // A box of 0.2 m at (0, 1, 0) that stays there, and a wall far behind it.
  std::string scene(const std::string& camera) const {
    return R"({"time": {"duration": 0.1, "fps": 20}, "gravity": [0, 0, 0], "bodies": [
      {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}, "position": [0, 1, 0]}],
      "obstacles": [{"name": "wall", "box": {"size": [1, 1, 0.1]}, "position": [0, 1, 0.5]}])" +
           (camera.empty() ? "" : ", \"camera\": " + camera) + "}";
  }
  // Of the wide pictures, at the start.
  double share(const std::string& camera, const std::string& options = "") const {
    write_text(m_folder / "scene.json", scene(camera));
    const Outcome made = run("EXEMPLAR -q run scene.json --method rigid -o out --overwrite");
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    const Outcome said = run("'" + m_render + "' out --shares --size 400x400 " + options);
    EXPECT_EQ(said.exit_code, 0) << said.errors;
    std::istringstream words(said.output.substr(said.output.find(':') + 1));
    double first = -1;
    words >> first;
    return first;
  }
  std::string m_render;
};

}  // namespace

// Face on from 4 m: the front is 3.9 m away.
TEST_F(Pictures, TheScenesCameraDecidesHowMuchIsSeen) {
  const std::string from = R"({"look_at": [0, 1, 0], "from": [0, 1, -4], "field_of_view": 20)";
  const double height = 2 * 3.9 * std::tan(10 * M_PI / 180);
  const double face_on = 0.2 * 0.2 / (height * height);
  EXPECT_NEAR(share(from + "}"), face_on, 0.01 * face_on);
  EXPECT_NEAR(share(from + "}", "--zoom 2"), 4 * face_on, 0.04 * face_on);
  // From the other side the wall hides it, until the wall is hidden.
  const std::string behind = R"({"look_at": [0, 1, 0], "from": [0, 1, 4], "field_of_view": 20)";
  EXPECT_EQ(share(behind + "}"), 0);
  EXPECT_NEAR(share(behind + R"(, "hide": ["wall"]})"), face_on, 0.01 * face_on);
  EXPECT_NEAR(share(behind + "}", "--hide obstacles"), face_on, 0.01 * face_on);
  EXPECT_NEAR(share(behind + "}", "--hide wall"), face_on, 0.01 * face_on);
  // The command line comes before the scene.
  EXPECT_GT(share(behind + "}", "--view 0,0,-1"), 0.3);
  EXPECT_GT(share(behind + "}", "--follow box --view 0,0,-1"), 0.1);
}

// Another camera needs no new run: one that is kept is looked at in the new way, and its checksums are right.
TEST_F(Pictures, ARunThatIsKeptTakesANewCamera) {
  const std::string from = R"({"look_at": [0, 1, 0], "from": [0, 1, -4], "field_of_view": )";
  const double before = share(from + "20}");
  const fs::path frame = m_folder / "out/frames/surface_00002.vtp";
  const auto made = fs::last_write_time(frame);
  write_text(m_folder / "scene.json", scene(from + "40}"));
  const Outcome kept = run("EXEMPLAR -q run scene.json --method rigid -o out --resume");
  ASSERT_EQ(kept.exit_code, 0) << kept.errors;
  EXPECT_EQ(fs::last_write_time(frame), made);
  const std::string said = run("'" + m_render + "' out --shares --size 400x400").output;
  const double after = std::stod(said.substr(said.find(':') + 1));
  const double wider = std::pow(std::tan(10 * M_PI / 180) / std::tan(20 * M_PI / 180), 2);
  EXPECT_NEAR(after, wider * before, 0.03 * before);
  EXPECT_EQ(run("EXEMPLAR check out").exit_code, 0);
}

TEST_F(Pictures, WhatIsNotThereIsRefused) {
  share("");
  for (const std::string wrong :
       {"--follow ball", "--close-up ball", "--hide floor", "--zoom 0", "--overlay ghost"}) {
    const Outcome outcome = run("'" + m_render + "' out --shares " + wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong << outcome.output;
  }
  EXPECT_EQ(run("'" + m_render + "' out --shares --least-share 0.01").exit_code, 0);
  EXPECT_EQ(run("'" + m_render + "' out --shares --least-share 0.9").exit_code, 1);
}

TEST_F(Pictures, TheReportLooksFromTheSamePlace) {
  write_text(m_folder / "scene.json",
             scene(R"({"look_at": [0, 1, 0], "from": [1, 2, -4], "field_of_view": 25, "hide": ["wall"]})"));
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"], "reference": "rigid"})");
  ASSERT_EQ(run("EXEMPLAR -q compare study.json -o both --no-pictures").exit_code, 0);
  const std::string page = read_text(m_folder / "both/report.html");
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["camera"]["position"], Json({1.0, 2.0, -4.0}));
  EXPECT_EQ(data["camera"]["target"], Json({0.0, 1.0, 0.0}));
  EXPECT_NEAR(data["camera"]["field_of_view"].get<double>(), 25, 1e-9);
  EXPECT_TRUE(data["runs"][0]["layers"]["obstacles"]["segments"].empty());
}

}  // namespace exemplar::testing
