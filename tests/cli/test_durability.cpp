// Results that stay the same and survive: bytes, damaged frames, full disks, damaged caches, Ctrl-C while a scene is set up.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Everything that a run says about its result: frames, collections, manifest and metrics; not what it cost.
std::map<std::string, std::string> results(const fs::path& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    const bool is_cost = name == "run.json" || name == "timings.csv" || name == "checksums.csv" ||
                         name.starts_with("checkpoints");
    if (entry.is_regular_file() && !is_cost) files[name] = read_text(entry.path());
  }
  return files;
}

class Durability : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json",
               R"({"time": {"duration": 0.3, "fps": 20, "steps_per_frame": 2}, "bodies": [
      {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}},
       "volume": {"grid": [2, 2, 2]}, "material": {"young": 1e6}, "position": [0, 0.15, 0],
       "skeleton": {"points": [[-0.08, 0, 0], [0, 0, 0], [0.08, 0, 0]], "bones": [{"from": 0, "to": 1}, {"from": 1, "to": 2}]},
       "rotation": {"axis": "z", "angle": 20}}],
      "obstacles": [{"name": "floor", "plane": {}}],
      "methods": {"peridynamics": {"particles": 150}}})");
  }
  std::string call(const std::string& method, const std::string& output) const {
    return "EXEMPLAR -q run scene.json --method " + method + " -o " + output + " ";
  }
  Json record(const std::string& folder) const {
    return Json::parse(read_text(m_folder / folder / "run.json"));
  }
};

}  // namespace

// The README's claim as it stands: for every method, any number of threads, any place, stopped and resumed.
TEST_F(Durability, EveryMethodGivesTheSameBytesAgain) {
  const Json methods = Json::parse(run("EXEMPLAR list methods --json").output)["methods"];
  int seen = 0;
  for (const Json& method : methods) {
    const std::string name = method["name"];
    if (name == "shell") continue;  // takes sheets; below
    ASSERT_EQ(run(call(name, "one") + "--threads 1").exit_code, 0)
        << name << read_text(m_folder / "stderr.txt");
    const std::string longer = "a-folder-with-a-longer-name";
    ASSERT_EQ(run(call(name, longer) + "--threads 2").exit_code, 0) << name;
    ASSERT_EQ(run(call(name, "x") + "--threads 2 --frames 2").exit_code, 0) << name;
    ASSERT_EQ(run(call(name, "x") + "--threads 3 --resume").exit_code, 0) << name;
    const auto expected = results(m_folder / "one");
    EXPECT_TRUE(expected.count("metrics.csv") && expected.count("manifest.csv"));
    EXPECT_EQ(results(m_folder / longer), expected) << name;
    EXPECT_EQ(results(m_folder / "x"), expected) << name;
    for (const std::string& folder : {std::string("one"), longer, std::string("x")})
      fs::remove_all(m_folder / folder);
    ++seen;
  }
  EXPECT_GE(seen, 9);
}

TEST_F(Durability, MetricsAndTimesAreTwoTables) {
  ASSERT_EQ(run(call("rigid", "out")).exit_code, 0);
  EXPECT_EQ(read_text(m_folder / "out/metrics.csv").find("wall_time"), std::string::npos);
  EXPECT_NE(read_text(m_folder / "out/timings.csv").find("wall_time [s]"), std::string::npos);
}

TEST_F(Durability, DamagedFramesAreMadeAgain) {
  ASSERT_EQ(run(call("rigid", "whole")).exit_code, 0);
  const auto expected = results(m_folder / "whole");
  const std::string frame = "frames/surface_00003.vtp";
  const std::vector<std::string> damages{
      "truncate -s 100 out/" + frame,                                   // cut short
      "rm out/" + frame,                                                // lost
      "printf X | dd of=out/" + frame + " bs=1 seek=900 conv=notrunc",  // another byte
      "truncate -s 0 out/surface.pvd",                                  // the collection lost
      "head -c 200 whole/metrics.csv > out/metrics.csv",                // rows lost
      "rm out/manifest.csv",
  };
  for (const std::string& damage : damages) {
    fs::remove_all(m_folder / "out");
    fs::copy(m_folder / "whole", m_folder / "out", fs::copy_options::recursive);
    ASSERT_EQ(run(damage).exit_code, 0);
    // A finished run, and one that was killed after its last checkpoint.
    for (const std::string status : {"done", "running"}) {
      Json json = record("out");
      json["status"] = status;
      write_text(m_folder / "out/run.json", json.dump());
      const Outcome outcome = run(call("rigid", "out") + "--resume");
      EXPECT_EQ(outcome.exit_code, 0) << damage << outcome.errors;
      EXPECT_EQ(results(m_folder / "out"), expected) << damage << status;
      EXPECT_EQ(record("out")["frames"], 6) << damage;
    }
  }
}

TEST_F(Durability, AFullDiskKeepsWhatIsThereAndSaysIt) {
  // A disk of its own, where that is allowed.
  const std::string disk = "mkdir -p small && unshare -rm sh -c 'mount -t tmpfs -o size=1m none small && ";
  if (run(disk + "true'").exit_code != 0) GTEST_SKIP() << "no mounts here";
  ASSERT_EQ(run(call("rigid", "whole") + "--frames 400").exit_code, 0);
  const Outcome outcome =
      run(disk + call("rigid", "small/out") +
          "--frames 400; echo $? > code; cp -r small/out kept; rm -f small/out/frames/*_0001*; true'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(read_text(m_folder / "code"), "3\n");
  EXPECT_NE(outcome.errors.find("No space left"), std::string::npos) << outcome.errors;
  const Json json = record("kept");
  EXPECT_EQ(json["status"], "failed");
  EXPECT_NE(json["message"].get<std::string>().find("No space left"), std::string::npos);
  EXPECT_GT(json["frames"], 10);
  // With room again it goes on where it was, not from the start, and ends with the same bytes.
  const Outcome again = run("EXEMPLAR run scene.json --method rigid -o kept --frames 400 --resume");
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_NE(again.errors.find("going on after frame"), std::string::npos) << again.errors;
  EXPECT_EQ(results(m_folder / "kept"), results(m_folder / "whole"));
}

TEST_F(Durability, ACheckpointComesByWorkAndAtTheEnd) {
  ASSERT_EQ(run(call("rigid", "out") + "--frames 25").exit_code, 0);
  EXPECT_TRUE(fs::exists(m_folder / "out/checkpoints/checkpoint_00020.bin"));
  EXPECT_TRUE(fs::exists(m_folder / "out/checkpoints/checkpoint_00025.bin"));
}

TEST_F(Durability, ADamagedCacheIsNoticed) {
  const std::string with = "EXEMPLAR_CACHE=cache ";
  write_text(m_folder / "ball.json", R"({"time": {"duration": 0.05, "fps": 20}, "bodies": [
    {"name": "ball", "surface": {"sphere": {"radius": 0.1, "resolution": 4}}}]})");
  const std::string call = with + "EXEMPLAR -q run ball.json --method mass-spring -o ";
  ASSERT_EQ(run(call + "first").exit_code, 0);
  int entries = 0;
  for (const auto& entry : fs::directory_iterator(m_folder / "cache")) {
    const std::string whole = read_text(entry.path());
    for (const std::size_t at : {whole.size() / 8, whole.size() / 2, whole.size() - 20}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
      write_text(entry.path(), damaged);
      ASSERT_EQ(run(call + "again --overwrite").exit_code, 0) << entry.path() << at;
      EXPECT_EQ(results(m_folder / "again"), results(m_folder / "first")) << entry.path() << at;
      EXPECT_EQ(read_text(entry.path()), whole);  // made anew
    }
    ++entries;
  }
  EXPECT_GE(entries, 1);
}

TEST_F(Durability, WhatATimeLimitDecidedIsNotCachedAndIsSaid) {
  write_text(m_folder / "ball.json", R"({"time": {"duration": 0.05, "fps": 20}, "bodies": [{"name": "ball",
    "volume": {"time_limit": 0.0001, "max_tet_volume": 1e-5}, "surface": {"sphere": {"radius": 0.1, "resolution": 8}}}]})");
  const Outcome outcome = run("EXEMPLAR_CACHE=cache EXEMPLAR run ball.json --method mass-spring -o out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.errors.find("TetGen did not finish within 0.0001 s"), std::string::npos)
      << outcome.errors;
  EXPECT_NE(read_text(m_folder / "out/run.json").find("TetGen did not finish"), std::string::npos);
  EXPECT_FALSE(fs::exists(m_folder / "cache") && !fs::is_empty(m_folder / "cache"));
}

TEST_F(Durability, CtrlCDuringSetUpEndsAtOnce) {
  // Takes several seconds to fill.
  write_text(m_folder / "slow.json", R"({"bodies": [{"name": "ball", "volume": {"max_tet_volume": 1e-9},
    "surface": {"sphere": {"radius": 0.05, "resolution": 30}}}]})");
  const Outcome outcome =
      run("EXEMPLAR_CACHE=off timeout -k 3 --preserve-status -s INT 0.5 EXEMPLAR run slow.json --method fem "
          "-o out");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.errors;  // 137 when it had to be killed
  EXPECT_NE(outcome.errors.find("interrupted"), std::string::npos);
  // Nothing keeps the next one from starting.
  EXPECT_EQ(run("EXEMPLAR -q run scene.json --method rigid -o out").exit_code, 0);
}

// Starts a long run in the background and waits for its first frame; $program is its process.
std::string started(const std::string& method) {
  return "EXEMPLAR run scene.json --set time.duration=1000 --method " + method +
         " -o out & program=$!; "
         "while [ ! -e out/frames/surface_00001.vtp ] && kill -0 $program; do sleep 0.05; done; ";
}

// timeout(1) signals the program and then its process group, so that it gets two signals at once: the second ended the
// program in the middle of what it wrote for the first.
TEST_F(Durability, TwoSignalsAtOnceAreOneWish) {
  const Outcome outcome =
      run(started("rigid") + "kill -TERM $program; sleep 0.003; kill -TERM $program; wait $program");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.errors;
  EXPECT_EQ(record("out")["status"], "interrupted");
  EXPECT_GT(record("out")["frames"], 0);
}

// METIS installs a handler of its own for SIGTERM while it orders a matrix and jumps out of it, in whichever thread the
// signal arrives: a run that a queue ended just then hung or called itself defective.
TEST_F(Durability, NoThreadReceivesTerminationButTheOneThatWaitsForIt) {
  const Outcome outcome =
      run(started("fem") + "grep -h SigBlk /proc/$program/task/*/status; kill -TERM $program; wait $program");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.errors;
  std::istringstream lines(outcome.output);
  int threads = 0, waiting = 0;  // sigwait lets through what it waits for
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("SigBlk:")) continue;
    ++threads;
    waiting += (std::stoull(line.substr(7), nullptr, 16) & (1ULL << (SIGTERM - 1))) == 0;
  }
  EXPECT_EQ(waiting, 1) << outcome.output;
  EXPECT_GE(threads, 3) << outcome.output;
}

}  // namespace exemplar::testing
