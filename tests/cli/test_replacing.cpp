// Nothing that Exemplar did not make is replaced or removed, a run that is there only when that was asked for, and damage in
// what was written is found.
#include <sys/xattr.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Replacing : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json", R"({"time": {"duration": 0.25, "fps": 20}, "bodies": [
      {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2]}}, "position": [0, 1, 0]}],
      "obstacles": [{"name": "floor", "plane": {}}]})");
    write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"]})");
    write_text(m_folder / "other.json", R"({"scene": "scene.json", "runs": ["rigid", "shape-matching"]})");
  }
  std::map<std::string, std::string> files(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(m_folder / folder)) {
      if (entry.is_regular_file())
        all[fs::relative(entry.path(), m_folder / folder).string()] = read_text(entry.path());
    }
    return all;
  }
  bool marks_are_kept() const {
    write_text(m_folder / "probe", "");
    return ::setxattr((m_folder / "probe").c_str(), "user.probe", "x", 1, 0) == 0;
  }
  // The command is refused, says so of the file, and the file is what it was.
  void expect_refused(const std::string& command, const std::string& file, const std::string& reason) const {
    const std::string before = read_text(m_folder / file);
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command << outcome.output;
    EXPECT_NE(outcome.errors.find(file), std::string::npos) << command << outcome.errors;
    EXPECT_NE(outcome.errors.find(reason), std::string::npos) << command << outcome.errors;
    EXPECT_EQ(read_text(m_folder / file), before) << command;
  }
  void flip_bit(const std::string& file) const {
    std::string text = read_text(m_folder / file);
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    write_text(m_folder / file, text);
  }
};

const std::string k_rigid_run = "EXEMPLAR -q run scene.json --method rigid ";
const std::string k_compare = "EXEMPLAR compare study.json -o out --no-pictures ";

}  // namespace

TEST_F(Replacing, AFileOfTheUsersIsNeverWrittenOver) {
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR mesh box --surface-only -o in.obj").exit_code, 0);
  const std::map<std::string, std::string> commands{
      {"mine.glb", "EXEMPLAR export out -o mine.glb"},
      {"mine.usda", "EXEMPLAR export out -o mine.usda"},
      {"mine.pc2", "EXEMPLAR export out -o mine.pc2"},
      {"new.pc2.obj", "EXEMPLAR export out -o new.pc2"},
      {"mine.obj", "EXEMPLAR mesh box --surface-only -o mine.obj"},
      {"mine.vtu", "EXEMPLAR mesh box -o mine.vtu"},
      {"mine.vtp", "EXEMPLAR mesh in.obj --surface-only --problems mine.vtp"},
      {"rig.json", "EXEMPLAR rig box --handles 2 -o rig.json"},
      {"shown/surface.pvd", "EXEMPLAR rig box --handles 2 --preview shown"},
      {"pose.obj", "EXEMPLAR pose box --handles 2 --move auto-1=0.1,0,0 -o pose.obj"},
      {"saved.json", "EXEMPLAR pose box --handles 2 --move auto-1=0.1,0,0 --save-rig saved.json"},
      {"records.json", "EXEMPLAR validate rigid/free-fall --json records.json"},
      {"table.md", "EXEMPLAR bench --markdown table.md"},
  };
  for (const auto& [file, command] : commands) {
    write_text(m_folder / file, "the user's own");
    expect_refused(command, file, "--overwrite");
  }
  fs::create_directory(m_folder / "kept");
  write_text(m_folder / "kept/drift.csv", "the user's own");
  EXPECT_EQ(run("EXEMPLAR bench --directory kept").exit_code, 2);
  EXPECT_FALSE(fs::exists(m_folder / "new.pc2"));  // nothing by halves
  EXPECT_EQ(run("EXEMPLAR mesh box --surface-only -o mine.obj --overwrite").exit_code, 0);
  EXPECT_NE(read_text(m_folder / "mine.obj"), "the user's own");
}

TEST_F(Replacing, AMeshBesideAPointCacheIsLeftAlone) {
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  write_text(m_folder / "out.obj", "the user's own");
  ASSERT_EQ(run("EXEMPLAR export out -o out.pc2").exit_code, 0);
  EXPECT_EQ(read_text(m_folder / "out.obj"), "the user's own");
  EXPECT_TRUE(fs::exists(m_folder / "out.pc2.obj"));
}

TEST_F(Replacing, AnInputIsNotReplacedWhateverIsSaid) {
  ASSERT_EQ(run("EXEMPLAR mesh box --surface-only -o in.obj").exit_code, 0);
  const std::string overwrite = " --overwrite";
  expect_refused("EXEMPLAR mesh in.obj --surface-only -o in.obj" + overwrite, "in.obj", "is an input");
  expect_refused("EXEMPLAR mesh in.obj --surface-only -o ./in.obj" + overwrite, "in.obj", "is an input");
  expect_refused("EXEMPLAR pose box --handles 2 --fit in.obj -o in.obj" + overwrite, "in.obj", "is an input");
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  expect_refused(
      "EXEMPLAR pose box --handles 2 --run out --body box -o out/frames/surface_00001.vtp" + overwrite,
      "out/frames/surface_00001.vtp", "is an input");
  // A run that another one reads, by that one.
  write_text(m_folder / "posed.json", R"({"time": {"duration": 0.1, "fps": 20}, "bodies": [{"name": "box",
    "surface": {"box": {"size": [0.2, 0.2, 0.2]}},
    "examples": [{"name": "pressed", "frame": {"run": "out", "body": "box"}}]}]})");
  const std::string before = read_text(m_folder / "out/run.json");
  const Outcome own = run("EXEMPLAR run posed.json --method rigid -o out" + overwrite);
  EXPECT_EQ(own.exit_code, 2);
  EXPECT_NE(own.errors.find("out: holds out, which this run reads"), std::string::npos) << own.errors;
  EXPECT_EQ(read_text(m_folder / "out/run.json"), before);
}

TEST_F(Replacing, WhatExemplarMadeIsReplacedUntilSomebodyChangesIt) {
  if (!marks_are_kept()) GTEST_SKIP() << "no extended attributes here";
  ASSERT_EQ(run("EXEMPLAR mesh box --surface-only -o a.obj").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR mesh sphere --surface-only -o a.obj").exit_code, 0);
  ASSERT_EQ(run("echo '# edited' >> a.obj").exit_code, 0);
  expect_refused("EXEMPLAR mesh box --surface-only -o a.obj", "a.obj", "has been changed since");
}

TEST_F(Replacing, ADirectoryThatHoldsARunIsRefusedWithTheWaysOut) {
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  const auto before = files("out");
  for (const std::string& command :
       {k_rigid_run + "-o out", k_rigid_run + "-o out --frames 2",
        std::string("EXEMPLAR -q run scene.json --method shape-matching -o out")}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    for (const char* way : {"--resume", "--overwrite", "another directory"})
      EXPECT_NE(outcome.errors.find(way), std::string::npos) << outcome.errors;
    EXPECT_EQ(files("out"), before) << command;
  }
  EXPECT_EQ(run(k_rigid_run + "-o out --frames 2 --overwrite").exit_code, 0);
  EXPECT_FALSE(fs::exists(m_folder / "out/frames/surface_00003.vtp"));
  EXPECT_EQ(Json::parse(read_text(m_folder / "out/run.json"))["frames"], 2);
}

TEST_F(Replacing, OnlyWhatTheRunMadeIsRemoved) {
  const std::map<std::string, std::string> own{{"notes.tmp", "a"},
                                               {"mine.pvd", "<VTKFile/>"},
                                               {"frames/mine_00001.vtu", "b"},
                                               {"frames/surface_00099.vtp", "c"},
                                               {"frames/a.1-2.tmp", "d"},
                                               {"checkpoints/mine.bin", "e"},
                                               {"sheet.png", "f"}};
  const auto put = [&] {
    for (const auto& [name, text] : own) write_text(m_folder / "out" / name, text);
  };
  const auto expect_kept = [&](const std::string& after) {
    for (const auto& [name, text] : own) EXPECT_EQ(read_text(m_folder / "out" / name), text) << name << after;
  };
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  put();
  EXPECT_EQ(run(k_rigid_run + "-o out --overwrite --frames 2").exit_code,
            2);  // surface_00099 has a frame's name
  expect_kept("a refused run");
}

TEST_F(Replacing, FilesOfOthersSurviveRunsInTheirFolder) {
  const std::map<std::string, std::string> own{{"notes.tmp", "a"},
                                               {"mine.pvd", "<VTKFile/>"},
                                               {"frames/mine_1.vtu", "b"},
                                               {"frames/a.1-2.tmp", "d"},
                                               {"frames/x.vtp", "e"}};
  for (const auto& [name, text] : own) write_text(m_folder / "out" / name, text);
  for (const std::string flags : {"", "--resume", "--overwrite --frames 3", "--resume"}) {
    EXPECT_EQ(run(k_rigid_run + "-o out " + flags).exit_code, 0)
        << flags << read_text(m_folder / "stderr.txt");
    for (const auto& [name, text] : own) EXPECT_EQ(read_text(m_folder / "out" / name), text) << name << flags;
  }
}

TEST_F(Replacing, ARunDoesNotTakeTheNamesOfOtherFiles) {
  for (const char* name :
       {"run.json", "metrics.csv", "surface.pvd", "frames/surface_00002.vtp", "examples.vtp"}) {
    fs::remove_all(m_folder / "out");
    write_text(m_folder / "out" / name, "{}");
    for (const char* flag : {"", "--resume", "--overwrite"})
      expect_refused(k_rigid_run + "-o out " + flag, std::string("out/") + name, "made it");
    EXPECT_EQ(files("out").size(), 1u) << name;
  }
}

TEST_F(Replacing, AComparisonKeepsItsOwnRunsAndRefusesOthers) {
  ASSERT_EQ(run(k_compare).exit_code, 0);
  const Outcome again = run(k_compare);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.errors.find("rigid: complete already"), std::string::npos) << again.errors;
  const auto before = files("out/rigid");
  const Outcome changed = run(k_compare + "--set time.fps=40");
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.errors.find("has changed since it ran"), std::string::npos) << changed.errors;
  const Outcome other = run("EXEMPLAR compare other.json -o out --no-pictures --resume");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("holds the comparison of study.json"), std::string::npos) << other.errors;
  EXPECT_EQ(files("out/rigid"), before);
  EXPECT_EQ(run(k_compare + "--resume --set time.fps=40").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR compare other.json -o out --no-pictures --overwrite").exit_code, 0);
  EXPECT_TRUE(fs::exists(m_folder / "out/shape-matching/run.json"));
}

TEST_F(Replacing, ARunOfAnotherSceneInAComparisonIsRefused) {
  ASSERT_EQ(run("cp scene.json else.json && EXEMPLAR -q run else.json --set time.fps=30 --method rigid -o "
                "out/rigid")
                .exit_code,
            0);
  const auto before = files("out/rigid");
  const Outcome outcome = run(k_compare + "--resume");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("out/rigid: holds a run of else.json"), std::string::npos) << outcome.errors;
  EXPECT_EQ(files("out/rigid"), before);
}

TEST_F(Replacing, FilesOfOthersSurviveAComparison) {
  ASSERT_EQ(run(k_compare).exit_code, 0);
  for (const char* name : {"side_by_side/mine.vtm", "pictures/mine.png", "notes.txt"})
    write_text(m_folder / "out" / name, "the user's own");
  ASSERT_EQ(run(k_compare + "--overwrite --frames 2").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR compare study.json --collect out").exit_code, 0);
  for (const char* name : {"side_by_side/mine.vtm", "pictures/mine.png", "notes.txt"})
    EXPECT_EQ(read_text(m_folder / "out" / name), "the user's own") << name;
  EXPECT_FALSE(fs::exists(m_folder / "out/side_by_side/frame_00004.vtm"));  // of the longer run
  fs::create_directory(m_folder / "mine");
  write_text(m_folder / "mine/report.html", "the user's own");
  expect_refused("EXEMPLAR compare study.json -o mine --no-pictures", "mine/report.html", "made it");
}

TEST_F(Replacing, DamageIsFoundAndMadeAgainAsIsSaid) {
  write_text(m_folder / "scene.json", R"({"time": {"duration": 0.15, "fps": 20}, "bodies": [
    {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2]}}, "volume": {"grid": [1, 1, 1]},
     "examples": [{"name": "long", "stretch": {"axis": "x", "factor": 1.2}}]}]})");
  ASSERT_EQ(run("EXEMPLAR -q run scene.json --method fem --threads 1 -o out").exit_code, 0);
  const Outcome good = run("EXEMPLAR check out");
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_EQ(good.output, "out: good\n");
  const auto whole = files("out");
  for (const auto& [file, text] : whole) {
    if (file == "checksums.csv") continue;
    flip_bit("out/" + file);
    const Outcome found = run("EXEMPLAR check out");
    EXPECT_EQ(found.exit_code, 2) << file;
    EXPECT_NE(found.output.find(file), std::string::npos) << found.output;
    // Without its record nobody knows the command any more.
    std::string command = "exemplar run scene.json --method fem -o out --resume";
    const std::size_t begin = found.output.find('`'), end = found.output.find('`', begin + 1);
    if (file != "run.json") {
      ASSERT_NE(end, std::string::npos) << found.output;
      command = found.output.substr(begin + 1, end - begin - 1);
    }
    command.replace(0, 8, "EXEMPLAR -q");
    EXPECT_EQ(run(command).exit_code, 0) << file << command << read_text(m_folder / "stderr.txt");
    EXPECT_EQ(run("EXEMPLAR check out").exit_code, 0) << file << read_text(m_folder / "stdout.txt");
    const bool is_cost = file == "run.json" || file == "timings.csv" || file.starts_with("checkpoints");
    if (!is_cost) {
      EXPECT_EQ(read_text(m_folder / "out" / file), text) << file;
    }
  }
  flip_bit("out/checksums.csv");
  EXPECT_EQ(run("EXEMPLAR check out").exit_code, 2);
  ASSERT_EQ(run("rm out/frames/surface_00002.vtp").exit_code, 0);
  EXPECT_NE(run("EXEMPLAR check out").output.find("surface_00002.vtp is missing"), std::string::npos);
}

TEST_F(Replacing, DamageInAComparisonIsFound) {
  ASSERT_EQ(run(k_compare).exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR check out").exit_code, 0) << read_text(m_folder / "stdout.txt");
  for (const std::string file : {"comparison.csv", "report.html", "side_by_side.pvd", "rigid/metrics.csv",
                                 "rigid/log.txt", "side_by_side/frame_00000.vtm"}) {
    const std::string text = read_text(m_folder / "out" / file);
    write_text(m_folder / "out" / file, text + "x");
    const Outcome found = run("EXEMPLAR check out");
    EXPECT_EQ(found.exit_code, 2) << file;
    EXPECT_NE(found.output.find(fs::path(file).filename().string()), std::string::npos) << found.output;
    write_text(m_folder / "out" / file, text);
  }
  EXPECT_EQ(run("EXEMPLAR check scene.json -m rigid").exit_code, 0);
  fs::create_directory(m_folder / "empty");
  EXPECT_EQ(run("EXEMPLAR check empty").exit_code, 2);
}

// Of an earlier version: without checksums.
TEST_F(Replacing, RunsOfAnEarlierVersionAreKnown) {
  ASSERT_EQ(run(k_rigid_run + "-o out").exit_code, 0);
  fs::remove(m_folder / "out/checksums.csv");
  EXPECT_EQ(run(k_rigid_run + "-o out").exit_code, 2);
  const Outcome outcome = run("EXEMPLAR check out");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.errors.find("there is no checksums.csv"), std::string::npos) << outcome.errors;
  EXPECT_EQ(run(k_rigid_run + "-o out --resume").exit_code, 0);  // complete: it gets them
  EXPECT_TRUE(fs::exists(m_folder / "out/checksums.csv"));
  fs::remove(m_folder / "out/checksums.csv");
  EXPECT_EQ(run(k_rigid_run + "-o out --overwrite").exit_code, 0);
  EXPECT_EQ(run("EXEMPLAR check out").exit_code, 0);
}

}  // namespace exemplar::testing
