// Studies: sweeps multiply, refinement becomes assignments, every problem is told with its place.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compare/jobs/batch.h"
#include "compare/jobs/quoting.h"
#include "compare/registered_methods.h"
#include "compare/study/study.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;

class StudyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = fs::temp_directory_path() / ("exemplar-study-" + std::to_string(::getpid()));
    fs::create_directories(m_folder);
    std::ofstream(m_folder / "scene.json") << R"({"title": "box", "bodies": [{"name": "box",
      "surface": {"box": {"size": [1, 1, 1]}}, "volume": {"grid": [4, 2, 1]}},
      {"name": "other", "surface": {"box": {}}, "position": [3, 0, 0], "volume": {"max_tet_volume": 0.008}}]})";
  }
  void TearDown() override { fs::remove_all(m_folder); }

  Study read(const std::string& json) {
    return read_study(parse_json(json, "study.json"), (m_folder / "study.json").string(),
                      registered_methods());
  }
  std::vector<Problem> problems(const std::string& json) {
    try {
      read(json);
    } catch (const InputError& error) {
      return error.problems();
    }
    return {};
  }
  fs::path m_folder;
};

bool mentions(const std::vector<Problem>& problems, const std::string& path, const std::string& words) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return p.path == path && p.message.find(words) != std::string::npos;
  });
}

TEST_F(StudyTest, SweepsMultiply) {
  const Study study = read(R"({"scene": "scene.json", "runs": ["rigid", {"name": "b", "method": "rigid"}],
    "sweep": {"bodies[0].material.density": [1000, 2000, 3000], "time.fps": [30, 60]}, "reference": "b"})");
  ASSERT_EQ(study.runs.size(), 12u);
  EXPECT_EQ(study.runs[0].name, "rigid, density 1000, fps 30");
  EXPECT_EQ(study.runs[1].name, "rigid, density 1000, fps 60");
  std::vector<std::string> directories;
  for (const PlannedRun& run : study.runs) directories.push_back(run.directory);
  std::sort(directories.begin(), directories.end());
  EXPECT_EQ(std::unique(directories.begin(), directories.end()), directories.end());
  // Each is measured against the reference at the same values.
  EXPECT_EQ(reference_of(study, study.runs[3])->name, "b, density 2000, fps 60");
}

TEST_F(StudyTest, WhatIsFixedIsNotSweptAndOneSweptRunCanBeTheReference) {
  const std::string sweep = R"("sweep": {"bodies[0].material.density": [1000, 2000]})";
  const Study fixed =
      read(R"({"scene": "scene.json", "runs": ["rigid", {"name": "b", "method": "rigid", "fixed": true}],
    "reference": "b", )" +
           sweep + "}");
  ASSERT_EQ(fixed.runs.size(), 3u);
  for (const PlannedRun& run : fixed.runs) EXPECT_EQ(reference_of(fixed, run)->name, "b") << run.name;
  EXPECT_EQ(fixed.notes.at(0), "swept over bodies[0].material.density (2 values): rigid; not swept: b");
  EXPECT_EQ(fixed.notes.at(1), "every run is measured against 'b'");
  Study one = read(R"({"scene": "scene.json", "runs": ["rigid"], "reference": "rigid, density 2000", )" +
                   sweep + "}");
  for (const PlannedRun& run : one.runs)
    EXPECT_EQ(reference_of(one, run)->name, "rigid, density 2000") << run.name;
  // A name with a comma in it is picked whole, also among others.
  Study picked = one;
  select_runs(picked, {"rigid, density 1000"}, registered_methods());
  ASSERT_EQ(picked.runs.size(), 1u);
  EXPECT_EQ(picked.runs[0].name, "rigid, density 1000");
  select_runs(one, {"rigid-density-2000,shape-matching"}, registered_methods());
  ASSERT_EQ(one.runs.size(), 2u);
  EXPECT_EQ(one.runs[0].name, "rigid, density 2000");
  EXPECT_EQ(one.runs[1].method, "shape-matching");
}

TEST_F(StudyTest, RefinementBecomesAssignments) {
  const Study study = read(R"({"scene": "scene.json", "runs": [{"method": "rigid", "refine": [0.5, 1]}],
    "reference": {"method": "rigid", "refine": 2, "set": {"time.fps": 10}}})");
  ASSERT_EQ(study.runs.size(), 3u);
  const PlannedRun& fine = study.runs[2];
  EXPECT_TRUE(fine.reference);
  std::vector<std::string> set;
  for (const Setting& setting : fine.settings) set.push_back(setting.assignment());
  EXPECT_EQ(set, (std::vector<std::string>{"time.fps=10", "bodies[0].volume.grid=[8,4,2]",
                                           "bodies[1].volume.max_tet_volume=0.001"}));
  EXPECT_EQ(study.runs[0].settings[0].value, "[2,1,1]");
  EXPECT_TRUE(study.runs[1].settings.empty());
  EXPECT_EQ(reference_of(study, study.runs[0]), &study.runs[2]);
}

TEST_F(StudyTest, APlanOfTooManyRunsIsRefused) {
  std::string sweep;
  for (int k = 0; k < 9; ++k)
    sweep += fmt::format("{}\"bodies[0].position[{}]\": [0,1,2,3,4,5,6,7,8,9]", k ? "," : "", k);
  const std::vector<Problem> found =
      problems(R"({"scene": "scene.json", "runs": ["rigid"], "sweep": {)" + sweep + "}}");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(mentions(found, "sweep", "1e+09 runs"));
}

TEST_F(StudyTest, NamesAreOneLineWithoutControlCharacters) {
  for (const char* title : {R"(a\nimport os)", R"(\u001b[2J)", R"(\u0000)"}) {
    const std::vector<Problem> found =
        problems(std::string(R"({"scene": "scene.json", "runs": ["rigid"], "title": ")") + title + "\"}");
    ASSERT_EQ(found.size(), 1u) << title;
    EXPECT_TRUE(mentions(found, "title", "without control characters"));
  }
}

TEST_F(StudyTest, EveryProblemIsToldWithItsPlace) {
  const std::vector<Problem> found = problems(R"({"scene": "nothing.json", "runs": ["rigit", 3,
    {"method": "rigid", "refine": -1, "sett": {}}], "reference": "rigidd", "metrics": ["surface_rmss"], "sweeep": 1,
    "title": 7})");
  EXPECT_TRUE(mentions(found, "scene", "there is no file"));
  EXPECT_TRUE(mentions(found, "runs[0]", "did you mean 'rigid'"));
  EXPECT_TRUE(mentions(found, "runs[1]", "expected a string"));
  EXPECT_TRUE(mentions(found, "runs[2].refine", "expected a number in (0, 16]"));
  EXPECT_TRUE(mentions(found, "runs[2].sett", "did you mean 'set'"));
  EXPECT_TRUE(mentions(found, "reference", "did you mean 'rigid'"));
  EXPECT_TRUE(mentions(found, "metrics[0]", "did you mean 'surface_rms'"));
  EXPECT_TRUE(mentions(found, "sweeep", "did you mean 'sweep'"));
  EXPECT_TRUE(mentions(found, "title", "expected a string"));
  EXPECT_EQ(found.size(), 9u);
}

TEST_F(StudyTest, ProblemsOfTheSceneAsARunChangesIt) {
  const std::vector<Problem> found = problems(
      R"({"scene": "scene.json", "runs": ["rigid", {"name": "b", "method": "rigid", "set": {"time.fps": -3}}]})");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(mentions(found, "runs[1]", "time.fps: expected a number > 0"));
}

TEST_F(StudyTest, SelectionKeepsAReference) {
  Study study = read(R"({"scene": "scene.json", "runs": ["rigid", {"name": "b", "method": "rigid"}]})");
  select_runs(study, {"b"}, registered_methods());
  ASSERT_EQ(study.runs.size(), 1u);
  EXPECT_TRUE(study.runs[0].reference);
  EXPECT_THROW(select_runs(study, {"nothing"}, registered_methods()), InputError);
}

TEST(Batch, RunsEveryJobAndKeepsExitCodesAndLogs) {
  const fs::path folder = fs::temp_directory_path() / ("exemplar-batch-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back({{"sh", "-c", "echo 'job " + std::to_string(i) + "'; exit " + std::to_string(i)},
                    (folder / std::to_string(i)).string()});
  }
  jobs.push_back({{"sh", "-c", "kill -9 $$"}, (folder / "killed").string()});
  BatchOptions options;
  options.jobs = 3;
  const std::vector<JobResult> results = run_jobs(jobs, options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(results[static_cast<std::size_t>(i)].exit_code, i);
    std::ifstream log(folder / std::to_string(i));
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, "job " + std::to_string(i));
  }
  EXPECT_EQ(results[5].exit_code, 128 + 9);
  fs::remove_all(folder);
}

TEST(Batch, QuotesForTheShell) {
  EXPECT_EQ(shell_quoted("plain/path-1.json"), "plain/path-1.json");
  EXPECT_EQ(shell_quoted("bodies[0].x=1"), "'bodies[0].x=1'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace exemplar
