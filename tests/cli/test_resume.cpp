// Going on with runs that ended early, through the real program: what may be kept, what must not.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Resume : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json", R"({"time": {"duration": 0.25, "fps": 20}, "bodies": [
      {"name": "box", "surface": {"file": "box.obj"}, "position": [0, 1, 0]}],
      "obstacles": [{"name": "floor", "plane": {}}]})");
    ASSERT_EQ(run("EXEMPLAR mesh box --surface-only -o box.obj").exit_code, 0);
  }
  std::map<std::string, std::string> frames(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::directory_iterator(m_folder / folder / "frames"))
      files[file.path().filename().string()] = read_text(file.path());
    return files;
  }
  Json record(const std::string& folder) const {
    return Json::parse(read_text(m_folder / folder / "run.json"));
  }
  void make_box_larger() const {
    ASSERT_EQ(run("awk '/^v /{print \"v\", 2*$2, 2*$3, 2*$4; next} {print}' box.obj > new && mv new box.obj")
                  .exit_code,
              0);
  }
};

const std::string k_run = "EXEMPLAR -q run scene.json --method rigid ";

}  // namespace

TEST_F(Resume, AnEditedMeshFileIsNoticed) {
  ASSERT_EQ(run(k_run + "-o out --frames 2").exit_code, 0);
  EXPECT_EQ(run(k_run + "-o out --frames 2 --resume").exit_code, 0);
  const auto before = frames("out");
  make_box_larger();
  const Outcome edited = run(k_run + "-o out --resume");
  EXPECT_EQ(edited.exit_code, 2);
  EXPECT_NE(edited.errors.find("other settings or files"), std::string::npos) << edited.errors;
  EXPECT_EQ(frames("out"), before);
}

TEST_F(Resume, AComparisonRunsAgainWhatAnEditedMeshFileChanges) {
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"]})");
  const std::string call = "EXEMPLAR compare study.json -o out --no-pictures --resume";
  ASSERT_EQ(run(call).exit_code, 0);
  EXPECT_NE(run(call).errors.find("rigid: complete already"), std::string::npos);
  make_box_larger();
  EXPECT_NE(run(call).errors.find("rigid: done"), std::string::npos);
}

TEST_F(Resume, AShortRunGoesOnToAllFramesWithTheSameBytes) {
  ASSERT_EQ(run(k_run + "-o whole").exit_code, 0);
  ASSERT_EQ(run(k_run + "-o parts --frames 2").exit_code, 0);
  EXPECT_EQ(record("parts")["frames"], 2);
  ASSERT_EQ(run(k_run + "-o parts --resume").exit_code, 0);
  EXPECT_EQ(record("parts")["frames"], 5);
  EXPECT_EQ(frames("parts"), frames("whole"));
  EXPECT_EQ(record("parts")["steps"], record("whole")["steps"]);
  EXPECT_EQ(record("parts")["iterations"], record("whole")["iterations"]);
  EXPECT_EQ(record("parts")["worst_penetration"], record("whole")["worst_penetration"]);
  // Beyond the scene's duration as well.
  ASSERT_EQ(run(k_run + "-o parts --resume --frames 7").exit_code, 0);
  EXPECT_EQ(record("parts")["frames"], 7);
}

TEST_F(Resume, AskingForFewerFramesDeletesNothing) {
  ASSERT_EQ(run(k_run + "-o out").exit_code, 0);
  const auto before = frames("out");
  ASSERT_EQ(before.size(), 12u);  // surface and obstacles, frames 0 to 5
  EXPECT_EQ(run(k_run + "-o out --resume --frames 2").exit_code, 0);
  EXPECT_EQ(frames("out"), before);
  EXPECT_EQ(record("out")["frames"], 5);
}

TEST_F(Resume, ARunOfAnotherMethodIsNotReplaced) {
  ASSERT_EQ(run(k_run + "-o out").exit_code, 0);
  const auto before = frames("out");
  const Outcome other = run("EXEMPLAR -q run scene.json --method shape-matching -o out --resume");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("another method"), std::string::npos) << other.errors;
  EXPECT_EQ(frames("out"), before);
}

// Killed after its last checkpoint and before its record.
TEST_F(Resume, ARunKilledAtItsEndHasItsNumbers) {
  ASSERT_EQ(run(k_run + "-o whole").exit_code, 0);
  ASSERT_EQ(run(k_run + "-o killed").exit_code, 0);
  Json json = record("killed");
  json["status"] = "running";
  for (const char* name : {"frames", "steps", "iterations"}) json[name] = 0;
  json.erase("final_metrics");
  write_text(m_folder / "killed/run.json", json.dump());
  fs::remove(m_folder / "killed/checksums.csv");
  ASSERT_EQ(run(k_run + "-o killed --resume").exit_code, 0);
  EXPECT_GT(record("whole")["final_metrics"]["steps"], 0);
  EXPECT_EQ(record("killed")["final_metrics"], record("whole")["final_metrics"]);
  for (const char* name : {"frames", "steps", "iterations"})
    EXPECT_EQ(record("killed")[name], record("whole")[name]) << name;
}

// A hard landing turns elements inside out: that is told once, also of a run that was stopped later, or killed.
TEST_F(Resume, WarningsOfTheStepsAreKept) {
  write_text(m_folder / "soft.json",
             R"({"time": {"duration": 0.4, "fps": 20, "steps_per_frame": 4}, "bodies": [
    {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2]}}, "volume": {"grid": [2, 2, 2]},
     "material": {"young": 1000}, "position": [0, 0.15, 0], "velocity": [0, -30, 0]}],
    "obstacles": [{"name": "floor", "plane": {}}]})");
  const std::string call = "EXEMPLAR -q run soft.json --method mass-spring --threads 1 -o ";
  const auto warnings = [&](const std::string& folder) {
    std::vector<std::string> texts;
    for (const Json& note : record(folder)["notes"]) {
      if (note.is_object() && note["severity"] == "warning") texts.push_back(note["text"]);
    }
    return texts;
  };
  ASSERT_EQ(run(call + "whole").exit_code, 0) << read_text(m_folder / "stderr.txt");
  ASSERT_NE(read_text(m_folder / "whole/run.json").find("are inside out (column inverted)"),
            std::string::npos)
      << read_text(m_folder / "whole/run.json");
  ASSERT_EQ(run(call + "parts --frames 6").exit_code, 0);
  fs::remove(m_folder / "parts/run.json");  // as if it had been killed
  write_text(m_folder / "parts/run.json", "{}");
  ASSERT_EQ(run(call + "parts --resume").exit_code, 0);
  EXPECT_EQ(warnings("parts"), warnings("whole"));
}

TEST_F(Resume, ADamagedRecordStopsNothing) {
  ASSERT_EQ(run(k_run + "-o out").exit_code, 0);
  const auto before = frames("out");
  for (const char* damage :
       {"", "{\"method\": 3", "[1, 2]", "{\"status\": \"done\", \"frames\": \"many\"}"}) {
    write_text(m_folder / "out/run.json", damage);
    EXPECT_EQ(run(k_run + "-o out --resume").exit_code, 0) << damage;
    EXPECT_EQ(frames("out"), before) << damage;
  }
}

TEST_F(Resume, ASecondProcessIsToldWhoWrites) {
  const Outcome outcome =
      run(k_run +
          "-o out --frames 1000000 & first=$!; for i in $(seq 100); do [ -s out/.lock ] && break; sleep 0.1; "
          "done; " +
          k_run + "-o out; code=$?; kill -TERM $first; wait $first; echo $first; exit $code");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
  const std::string first = outcome.output.substr(outcome.output.rfind('\n', outcome.output.size() - 2) + 1);
  const std::string process = first.substr(0, first.size() - 1);
  EXPECT_NE(outcome.errors.find("is being written by process " + process + " "), std::string::npos)
      << outcome.errors << process;
  // The lock goes with the process.
  EXPECT_FALSE(fs::exists(m_folder / "out/.lock"));
  EXPECT_EQ(run(k_run + "-o out --overwrite").exit_code, 0);
}

TEST_F(Resume, NoLinkIsFollowedWhenFilesAreWritten) {
  write_text(m_folder / "precious.txt", "precious");
  fs::create_directories(m_folder / "out/frames");
  for (const char* name : {"run.json", "run.json.tmp", "metrics.csv", "metrics.csv.tmp", "surface.pvd",
                           "frames/surface_00000.vtp", "frames/surface_00000.vtp.tmp"}) {
    fs::create_symlink(m_folder / "precious.txt", m_folder / "out" / name);
  }
  EXPECT_EQ(run(k_run + "-o out").exit_code, 2);  // a run did not make them
  for (const char* name : {"run.json", "metrics.csv", "surface.pvd", "frames/surface_00000.vtp"})
    fs::remove(m_folder / "out" / name);
  EXPECT_EQ(run(k_run + "-o out").exit_code, 0);
  EXPECT_EQ(read_text(m_folder / "precious.txt"), "precious");
}

}  // namespace exemplar::testing
