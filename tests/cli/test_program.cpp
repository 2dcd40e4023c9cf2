#include <gtest/gtest.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct ProgramResult {
  int exit_code = -1;
  std::string output;  // both streams
};

class Program : public ProgramTest {
 protected:
  ProgramResult run_program(const std::string& arguments, const std::string& before = "") const {
    const Outcome outcome = run(before + " EXEMPLAR " + arguments);
    return {outcome.exit_code, outcome.output + outcome.errors};
  }
  std::string path(const std::string& name) const { return (m_folder / name).string(); }
};

std::string scene_path(const std::string& name) {
  return std::string(EXEMPLAR_SOURCE_DIR) + "/data/scenes/" + name + ".json";
}

// name → bytes of every file below a folder with this extension.
std::map<std::string, std::string> files_of(const fs::path& folder, const std::string& extension) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension)
      files[entry.path().filename().string()] = read_text(entry.path());
  }
  return files;
}

const char* k_ten_mistakes = R"({
  "title": 5,
  "time": {"duration": -1, "fps": "60"},
  "gravty": [0, -9.81, 0],
  "bodies": [
    {"name": "a", "surface": {"box": {"size": [1, 1, 0]}}, "material": {"young": "2e9", "poisson": 0.7}},
    {"name": "b", "surface": {"boks": {}}, "material": {"preset": "aluminum"}}
  ],
  "obstacles": [{"name": "floor", "plane": {}, "mass": "heavy"}]
})";

}  // namespace

TEST_F(Program, HelpVersionAndWrongCalls) {
  EXPECT_EQ(run_program("--help").exit_code, 0);
  EXPECT_NE(run_program("run --help").output.find("Examples:"), std::string::npos);
  EXPECT_NE(run_program("--version").output.find("exemplar "), std::string::npos);
  EXPECT_EQ(run_program("").exit_code, 2);
  EXPECT_EQ(run_program("runn").exit_code, 2);
  EXPECT_EQ(run_program("run no-such-file.json").exit_code, 2);
  const ProgramResult wrong = run_program("run " + scene_path("barrels") + " --method rigit");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.output.find("did you mean 'rigid'?"), std::string::npos) << wrong.output;
}

TEST_F(Program, CheckPrintsOneLineForEachOfTenMistakes) {
  write_text(path("bad.json"), k_ten_mistakes);
  const ProgramResult result = run_program("check " + path("bad.json"));
  EXPECT_EQ(result.exit_code, 2);
  for (const char* path :
       {"title: ", "time.duration: ", "time.fps: ", "gravty: unknown key (did you mean 'gravity'?)",
        "bodies[0].surface.box.size: ",
        "bodies[0].material.young: expected a number > 0, got \"2e9\" (a string)",
        "bodies[0].material.poisson: ", "bodies[1].surface.boks: unknown key (did you mean 'box'?)",
        "bodies[1].material.preset: ", "obstacles[0].mass: "}) {
    EXPECT_NE(result.output.find(path), std::string::npos) << path << "\n" << result.output;
  }
  EXPECT_NE(result.output.find("aluminium"), std::string::npos);
  const Json json = Json::parse(run_program("check --json " + path("bad.json")).output);
  EXPECT_GE(json.size(), 10u);
}

TEST_F(Program, EveryShippedSceneIsGood) {
  for (const auto& entry : fs::directory_iterator(std::string(EXEMPLAR_SOURCE_DIR) + "/data/scenes")) {
    const ProgramResult result = run_program("-q check --fast " + entry.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.output;
  }
}

TEST_F(Program, RigidRunWritesReadableFramesAndTheSameBytesForAnyThreads) {
  const std::string call = "-q run " + scene_path("barrels") + " --method rigid --frames 20 ";
  ASSERT_EQ(run_program(call + "--threads 1 -o " + path("one")).exit_code, 0);
  ASSERT_EQ(run_program(call + "--threads 2 -o " + path("two")).exit_code, 0);
  const auto one = files_of(path("one"), ".vtp"), two = files_of(path("two"), ".vtp");
  EXPECT_EQ(one.size(), 42u);  // surface and obstacles, frames 0 to 20
  EXPECT_EQ(one, two);

  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName((m_folder / "one" / "frames" / "surface_00020.vtp").c_str());
  reader->Update();
  EXPECT_GT(reader->GetOutput()->GetNumberOfPoints(), 1000);
  const Json record = Json::parse(read_text(path("one/run.json")));
  EXPECT_EQ(record["status"], "done");
  EXPECT_EQ(record["frames"], 20);
  EXPECT_FALSE(record["not_modelled"].empty());
  EXPECT_EQ(record["settings"]["methods"]["rigid"]["max_step"], 0.004);
}

TEST_F(Program, AnInterruptedRunGoesOnAndEndsWithTheSameBytes) {
  const std::string call = "-q run " + scene_path("barrels") + " --method rigid -o ";
  ASSERT_EQ(run_program(call + path("whole")).exit_code, 0);
  const ProgramResult first = run_program(call + path("parts"), "timeout --preserve-status -s INT 0.3");
  // The machine may be quick enough to finish; then there is nothing to resume and the bytes must agree as
  // well.
  EXPECT_TRUE(first.exit_code == 130 || first.exit_code == 0) << first.exit_code << first.output;
  ASSERT_EQ(run_program(call + path("parts") + " --resume").exit_code, 0);
  EXPECT_EQ(files_of(path("whole"), ".vtp"), files_of(path("parts"), ".vtp"));
}

TEST_F(Program, ResumeRefusesARunWithOtherSettings) {
  const std::string call = "-q run " + scene_path("barrels") + " --method rigid -o " + path("run");
  run_program(call, "timeout --preserve-status -s INT 0.3");
  const ProgramResult other = run_program(call + " --resume --set gravity=[0,-1,0]");
  if (fs::exists(m_folder / "run" / "checkpoints")) {
    EXPECT_EQ(other.exit_code, 2) << other.output;
  }
}

TEST_F(Program, UnwritableOutputIsSaidAtOnce) {
  write_text(path("file"), "");
  const ProgramResult result =
      run_program("run " + scene_path("barrels") + " --method rigid -o " + path("file/run"));
  EXPECT_EQ(result.exit_code, 3) << result.output;
}

TEST_F(Program, MeshReportsAndWrites) {
  const ProgramResult result = run_program("-q mesh box --json -o " + path("box.vtu"));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const Json report = Json::parse(result.output);
  EXPECT_TRUE(report["surface"]["closed"].get<bool>());
  EXPECT_EQ(report["surface"]["self_intersections"], 0);
  EXPECT_EQ(report["volume"]["inverted"], 0);
  EXPECT_TRUE(fs::exists(path("box.vtu")));
  EXPECT_EQ(run_program("mesh bocks").exit_code, 2);
  EXPECT_EQ(run_program("mesh box --set box.size=[1,1,-1]").exit_code, 2);
  const ProgramResult modes =
      run_program("-q mesh box --set box.size=[0.1,0.1,1] --set box.resolution=[2,2,16] --modes 3");
  EXPECT_NE(modes.output.find("mode 7"), std::string::npos) << modes.output;
}

TEST_F(Program, OpenAndOverlappingSurfacesGetACage) {
  // Two overlapping cubes, one without its lid, in one file.
  std::string text;
  for (const double shift : {0.0, 0.5}) {
    for (int i = 0; i < 8; ++i) {
      text += "v " + std::to_string(shift + (i & 1)) + " " + std::to_string(shift + (i >> 1 & 1)) + " " +
              std::to_string(i >> 2) + "\n";
    }
  }
  const int quads[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                           {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
  for (int cube = 0; cube < 2; ++cube) {
    for (int q = 0; q < (cube ? 5 : 6); ++q) {
      text += "f";
      for (int corner : quads[q]) text.append(" ").append(std::to_string(corner + 8 * cube));
      text += "\n";
    }
  }
  write_text(path("parts.obj"), text);
  const ProgramResult result = run_program("-q mesh --json " + path("parts.obj"));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const Json report = Json::parse(result.output);
  EXPECT_TRUE(report["volume"]["cage"].get<bool>());
  EXPECT_LT(report["volume"]["embedding_error_m"].get<double>(), 1e-9);
  EXPECT_EQ(run_program("mesh --no-cage " + path("parts.obj")).exit_code, 2);
}

TEST_F(Program, ListAndSchemaAreMachineReadable) {
  const Json all = Json::parse(run_program("list --json").output);
  for (const char* kind : {"methods", "scenes", "studies", "materials", "primitives"})
    EXPECT_FALSE(all[kind].empty()) << kind;
  const Json schema = Json::parse(run_program("check --schema").output);
  EXPECT_TRUE(schema["properties"]["methods"]["properties"].contains("rigid"));
  EXPECT_EQ(schema["properties"]["bodies"]["type"], "array");
}

TEST_F(Program, ExpectedValuesAreComparedAndRewritten) {
  Json scene = Json::parse(read_text(scene_path("barrels")), nullptr, true, true);
  scene["expect"] =
      Json::array({{{"method", "rigid"}, {"metric", "mass"}, {"value", 1.0}, {"margin", 0.01}}});
  write_text(path("scene.json"), scene.dump(2));
  const std::string call =
      "-q run " + path("scene.json") + " --method rigid --frames 1 --overwrite -o " + path("out");
  EXPECT_EQ(run_program(call + " --expect").exit_code, 1);
  EXPECT_EQ(run_program(call + " --rewrite-expect").exit_code, 0);
  EXPECT_EQ(run_program(call + " --expect").exit_code, 0);
}

// The text was searched for "expect", and the first "value" behind it was overwritten, wherever it stood.
TEST_F(Program, OnlyTheExpectedValueIsRewritten) {
  Json scene = Json::parse(read_text(scene_path("barrels")), nullptr, true, true);
  scene.erase("expect");
  std::string text = scene.dump(2);
  text.insert(text.find('{') + 1, R"(
  // "expect": [{"value": 3}] would be wrong here, "value": 7
  "expect": [/* "value": 1 */ {"method": "fem", "metric": "mass", "value": 5, "margin": 1},
             {"margin": 0.01, "method": "rigid", "value" /* , } */ : -1e3 , "metric": "mass"}],)");
  write_text(path("scene.json"), text);
  const std::string call =
      "-q run " + path("scene.json") + " --method rigid --frames 1 --overwrite -o " + path("out");
  EXPECT_EQ(run_program(call + " --rewrite-expect").exit_code, 0);
  std::string after = read_text(path("scene.json"));
  const std::size_t at = after.find("\"value\" /* , } */ : ") + 20;
  after.replace(at, after.find(' ', at) - at, "-1e3");
  EXPECT_EQ(after, text);
  EXPECT_EQ(run_program(call + " --expect").exit_code, 0);
}

TEST_F(Program, DeepNestingAndBrokenTextAreBadInput) {
  write_text(path("deep.json"), std::string(200000, '['));
  EXPECT_EQ(run_program("check " + path("deep.json")).exit_code, 2);
  const std::string call = "check " + scene_path("barrels") + " --set ";
  EXPECT_EQ(run_program(call + "title=" + std::string(2000, '[')).exit_code, 2);
  EXPECT_EQ(run_program(call + "'title=\xff\xfe'").exit_code, 2);
}

}  // namespace exemplar::testing
