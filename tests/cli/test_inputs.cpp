// The files that a scene leads to, through the real program: a byte of any of them counts for --resume, and what is no
// file is refused at once.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Inputs : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(run("EXEMPLAR -q mesh box --surface-only -o box.obj").exit_code, 0);
  }
  // A scene of one box with something more in its description.
  void write_scene(const Json& more, const std::string& name = "scene.json") const {
    Json scene = Json::parse(R"({"time": {"duration": 0.02, "fps": 100, "steps_per_frame": 1},
      "bodies": [{"name": "box", "material": {"young": 1e6}, "position": [0, 2, 0]}]})");
    scene["bodies"][0].merge_patch(more);
    write_text(m_folder / name, scene.dump());
  }
  Outcome resume(const std::string& method) const {
    return run("EXEMPLAR -q run scene.json --frames 1 -o out --resume --method " + method);
  }
  // Runs the scene, then changes one byte of each file after the other.
  void expect_noticed(const std::string& method, const std::vector<std::string>& files) const {
    const Outcome first = run("EXEMPLAR -q run scene.json --frames 1 -o out --method " + method);
    ASSERT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(resume(method).exit_code, 0);
    for (const std::string& file : files) {
      const std::string text = read_text(m_folder / file);
      std::string changed = text;
      changed[text.size() / 2] ^= 1;
      write_text(m_folder / file, changed);
      const Outcome outcome = resume(method);
      EXPECT_EQ(outcome.exit_code, 2) << file;
      EXPECT_NE(outcome.errors.find("other settings or files"), std::string::npos) << file << outcome.errors;
      write_text(m_folder / file, text);
      EXPECT_EQ(resume(method).exit_code, 0) << file;
    }
    fs::remove_all(m_folder / "out");
  }
};

const Json k_grid =
    Json::parse(R"({"surface": {"box": {"resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]}})");

}  // namespace

TEST_F(Inputs, EachMeshFileCounts) {
  write_scene(Json::parse(R"({"surface": {"file": "box.obj"}})"));
  expect_noticed("rigid", {"box.obj"});
  // TetGen's files belong together, whichever is named.
  write_text(m_folder / "tet.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  write_text(m_folder / "tet.ele", "1 4 0\n0 0 1 2 3\n");
  write_scene(Json::parse(R"({"surface": {"file": "tet.node"}})"));
  expect_noticed("rigid", {"tet.node", "tet.ele"});
  write_text(m_folder / "tet.face", "4 0\n0 0 2 1\n1 0 1 3\n2 0 3 2\n3 1 2 3\n");
  write_scene(Json::parse(R"({"surface": {"file": "tet.node"}, "volume": {"file": "tet.ele"}})"));
  expect_noticed("fem", {"tet.node", "tet.ele", "tet.face"});
}

TEST_F(Inputs, AFileThatAppearsCounts) {
  write_text(m_folder / "tet.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  write_text(m_folder / "tet.face", "4 0\n0 0 2 1\n1 0 1 3\n2 0 3 2\n3 1 2 3\n");
  write_scene(Json::parse(R"({"surface": {"file": "tet.node"}})"));
  const Outcome first = run("EXEMPLAR -q run scene.json --frames 1 -o out --method rigid");
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  write_text(m_folder / "tet.ele", "1 4 0\n0 0 1 2 3\n");
  EXPECT_EQ(resume("rigid").exit_code, 2);
}

TEST_F(Inputs, PosesOfFilesAndOfOtherRunsCount) {
  Json scene = k_grid;
  write_scene(scene, "other.json");
  const Outcome other = run("EXEMPLAR -q run other.json --frames 2 -o other --method fem");
  ASSERT_EQ(other.exit_code, 0) << other.errors;
  ASSERT_EQ(run("EXEMPLAR -q mesh other/frames/surface_00000.vtp --surface-only -o pose.obj").exit_code, 0)
      << read_text(m_folder / "stderr.txt");
  scene["examples"] = Json::parse(R"([{"name": "a", "file": "pose.obj"},
    {"name": "b", "frame": {"run": "other", "frame": 1, "body": "box"}}])");
  write_scene(scene);
  expect_noticed("fem",
                 {"pose.obj", "other/frames/surface_00001.vtp", "other/surface.pvd", "other/run.json"});
}

TEST_F(Inputs, RigsLabelsAndMapsCount) {
  ASSERT_EQ(run("EXEMPLAR -q mesh box --max-tet-volume 0.02 -o box.vtu").exit_code, 0)
      << read_text(m_folder / "stderr.txt");
  const Outcome rig = run("EXEMPLAR -q rig box.vtu -o box.rig.json --handles 4");
  ASSERT_EQ(rig.exit_code, 0) << rig.errors;
  ASSERT_EQ(run("EXEMPLAR -q mesh box.vtu --surface-only -o rigged.obj").exit_code, 0);
  write_scene(Json::parse(R"({"surface": {"file": "rigged.obj"}, "volume": {"file": "box.vtu"},
    "rig": {"file": "box.rig.json"},
    "examples": [{"name": "up", "handles": {"move": [{"near": [1, 0, 0], "by": [0, 0.1, 0]}]}}]})"));
  expect_noticed("fem", {"rigged.obj", "box.vtu", "box.rig.json"});
  Json scene = k_grid;
  scene["dent_map"] = {{"file", "map.txt"}, {"width", 0.2}};
  write_text(m_folder / "map.txt", "0 0 0\n0 2 0\n0 0 0\n");
  write_scene(scene);
  expect_noticed("rigid-dent", {"map.txt"});
  scene.erase("dent_map");
  scene["volume"] = {{"grid", {1, 1, 1}}, {"split", "six"}};
  scene["pieces"] = {{"labels", "labels.txt"}};
  write_text(m_folder / "labels.txt", "0 0 0 1 1 1\n");
  write_scene(scene);
  expect_noticed("rigid-dent", {"labels.txt"});
}

// Within seconds, wherever a file is named: a pipe without a writer, a device without an end, a folder.
TEST_F(Inputs, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(run("mkfifo pipe && mkdir -p folder && ln -s /dev/zero zero && truncate -s 9T huge").exit_code,
            0);
  const std::string limits = "ulimit -t 5; ulimit -v 4000000; timeout -s KILL 20 ";
  for (const std::string file : {"pipe", "folder", "zero", "huge"}) {
    for (const std::string extension : {".json", ".obj", ".vtp", ".node", ".txt"}) {
      fs::remove(m_folder / (file + extension));
      fs::create_symlink(file, m_folder / (file + extension));
    }
    const auto expect_refused = [&](const std::string& command) {
      const Outcome outcome = run(limits + command);
      EXPECT_EQ(outcome.exit_code, 2) << command << " " << outcome.errors;
      const std::string said = outcome.output + outcome.errors;
      EXPECT_TRUE(said.find("not a file") != std::string::npos ||
                  said.find("more than the") != std::string::npos ||
                  said.find("neither a run") != std::string::npos)
          << command << ": " << said;
    };
    for (const std::string command : {"run", "check", "compare"})
      expect_refused("EXEMPLAR " + command + " " + file + ".json");
    for (const std::string& more :
         {R"("surface": {"file": ")" + file + R"(.obj"})", R"("surface": {"file": ")" + file + R"(.vtp"})",
          R"("surface": {"file": ")" + file + R"(.node"})",
          R"("surface": {"box": {}}, "examples": [{"name": "a", "file": ")" + file + R"(.obj"}])",
          R"("surface": {"box": {}}, "rig": {"file": ")" + file + R"(.json"})",
          R"("surface": {"box": {}}, "pieces": {"labels": ")" + file + R"(.txt"})",
          R"("surface": {"box": {}}, "dent_map": {"file": ")" + file + R"(.txt", "width": 1})"}) {
      write_scene(Json::parse("{" + more + "}"));
      expect_refused("EXEMPLAR check scene.json --fast");
    }
    expect_refused("EXEMPLAR mesh " + file + ".obj");
    write_text(m_folder / "study.json", R"({"scene": ")" + file + R"(.json", "runs": ["rigid"]})");
    EXPECT_EQ(run(limits + "EXEMPLAR compare study.json -o out").exit_code, 2);
  }
}

TEST_F(Inputs, AReadErrorIsAnInputError) {
  for (const std::string extension : {".json", ".obj"})
    fs::create_symlink("/proc/self/mem", m_folder / ("mem" + extension));
  write_scene(Json::parse(R"({"surface": {"file": "mem.obj"}})"));
  for (const std::string command :
       {"check mem.json", "run mem.json", "compare mem.json", "mesh mem.obj", "run scene.json -o out"}) {
    const Outcome outcome = run("EXEMPLAR " + command);
    EXPECT_EQ(outcome.exit_code, 2) << command << outcome.errors;
    EXPECT_NE((outcome.output + outcome.errors).find("Input/output error"), std::string::npos) << command;
  }
}

TEST_F(Inputs, ALimitOnTheSizeOfFilesIsAFullDisk) {
  write_scene(k_grid);
  const Outcome outcome =
      run("(ulimit -f 100; EXEMPLAR -q run scene.json --method rigid -o out --frames 4000)");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  EXPECT_NE(outcome.errors.find("File too large"), std::string::npos) << outcome.errors;
  const Outcome exported = run("EXEMPLAR export out -o a.usda --to 10");
  EXPECT_EQ(exported.exit_code, 0) << exported.errors;
}

TEST_F(Inputs, AFileSystemWithoutLocksIsSaidAndCanBeUsed) {
  if (!available("cc")) GTEST_SKIP() << "there is no C compiler";
  write_text(m_folder / "no_locks.c",
             "#include <errno.h>\nint flock(int f, int o) { errno = ENOLCK; return -1; }\n");
  ASSERT_EQ(run("cc -shared -fPIC -o no_locks.so no_locks.c").exit_code, 0);
  write_scene(k_grid);
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"]})");
  for (const std::string command :
       {"run scene.json --method rigid -o out", "compare study.json -o all --no-pictures"}) {
    const Outcome refused = run("LD_PRELOAD=$PWD/no_locks.so EXEMPLAR -q " + command);
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_NE(refused.errors.find("--no-lock"), std::string::npos) << refused.errors;
    const Outcome outcome = run("LD_PRELOAD=$PWD/no_locks.so EXEMPLAR -q " + command + " --no-lock");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  }
}

TEST_F(Inputs, LargeScenesAreRefusedOrTellWhatTheyDo) {
  Json scene = Json::parse(R"({"time": {"duration": 0.1, "fps": 20}, "bodies": []})");
  for (int i = 0; i < 20; ++i)
    scene["bodies"].push_back({{"name", "b" + std::to_string(i)},
                               {"surface", {{"box", {{"resolution", {1, 1, 1}}}}}},
                               {"repeat", {{"count", {100, 100, 10}}}}});
  write_text(m_folder / "scene.json", scene.dump());
  for (const std::string command : {"check scene.json", "run scene.json --method rigid -o out"}) {
    const Outcome outcome = run("ulimit -t 5; EXEMPLAR " + command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_NE((outcome.output + outcome.errors).find("bodies: are 2000000 with all their copies"),
              std::string::npos)
        << outcome.output << outcome.errors;
  }
  write_scene(Json::parse(R"({"surface": {"sphere": {"resolution": 400}}})"));
  for (const std::string command : {"check scene.json", "run scene.json --method rigid -o out"}) {
    const Outcome outcome = run("timeout 15 EXEMPLAR " + command);
    const bool is_told = outcome.errors.find(" …\n") != std::string::npos;
    EXPECT_TRUE(is_told || outcome.exit_code != 124) << command << outcome.errors;
  }
}

// Also where a run that somebody else made says so.
TEST_F(Inputs, ARunDirectoryMayHoldAnything) {
  write_scene(k_grid);
  write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["rigid"]})");
  ASSERT_EQ(run("EXEMPLAR -q compare study.json -o out --no-pictures").exit_code, 0);
  ASSERT_EQ(run("mkfifo pipe").exit_code, 0);
  for (const std::string file : {"run.json", "surface.pvd", "metrics.csv", "timings.csv", "manifest.csv",
                                 "log.txt", "frames/surface_00000.vtp"}) {
    for (const std::string target : {"/dev/zero", "../../pipe", ".", "/proc/self/mem"}) {
      const fs::path path = m_folder / "out/rigid" / file;
      fs::rename(path, m_folder / "kept");
      fs::create_symlink(target, path);
      const Outcome outcome =
          run("ulimit -t 10; ulimit -v 4000000; timeout -s KILL 30 EXEMPLAR compare study.json --collect out "
              "--no-pictures");
      EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2 || outcome.exit_code == 3)
          << file << " " << target << " " << outcome.exit_code << outcome.errors;
      fs::remove(path);
      fs::rename(m_folder / "kept", path);
    }
  }
}

}  // namespace exemplar::testing
