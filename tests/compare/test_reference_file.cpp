// Certified references: what is written is read again, unpacked as a run, measured against, and damage is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compare/reference/reference_file.h"
#include "compare/registered_methods.h"
#include "compare/results/cards.h"
#include "compare/results/collect.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"
#include "core/output/pvd_file.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;

class ReferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = fs::temp_directory_path() / ("exemplar-reference-" + std::to_string(::getpid()));
    fs::create_directories(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }
  fs::path m_folder;
};

// A tetrahedron that rises by a tenth of a metre a frame.
ReferenceFile tetrahedron() {
  ReferenceFile r;
  r.method = "fem";
  r.title = "rising";
  r.version = "0";
  r.date = "2026-01-01";
  r.command = "by hand";
  r.settings = R"({"time": {"duration": 0.2, "fps": 10}, "bodies": [{"name": "it"}]})";
  r.wall_time = 12;
  r.remarks = {"surface_max does not converge from 0.2 s on"};
  r.rest.resize(4, 3);
  r.rest << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.1;
  r.surface.first.series = "surface";
  r.surface.first.points = r.rest;
  r.surface.first.connectivity = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  r.surface.first.arrays = {make_integer_array("body", Association::point, {0, 0, 0, 0}),
                            make_integer_array("body", Association::cell, {0, 0, 0, 0})};
  r.metrics.columns = {{"frame", ""}, {"time", "s"}, {"kinetic_energy", "J"}};
  r.uncertainty.columns = {{"frame", ""},        {"time", "s"},           {"surface_rms", "m"},
                           {"surface_max", "m"}, {"kinetic_energy", "J"}, {"surface_rms_aligned", "m"}};
  for (int f = 0; f < 3; ++f) {
    r.times.push_back(0.1 * f);
    Points points = r.rest;
    points.col(1).array() += 0.1 * f;
    r.surface.frames.push_back(points);
    r.metrics.rows.push_back({double(f), 0.1 * f, 5.0 * f});
    r.uncertainty.rows.push_back(
        {double(f), 0.1 * f, 0.01 * f, f < 2 ? 0.02 * f : std::nan(""), 0.5, 0.002 * f});
  }
  return r;
}

TEST_F(ReferenceTest, WhatIsWrittenIsReadAgain) {
  const ReferenceFile made = tetrahedron();
  write_reference(m_folder / "a.ref", made);
  const ReferenceFile read = read_reference(m_folder / "a.ref");
  EXPECT_EQ(read.method, "fem");
  EXPECT_EQ(read.command, "by hand");
  EXPECT_EQ(read.remarks, made.remarks);
  EXPECT_EQ(read.times, made.times);
  EXPECT_EQ(read.surface.first.connectivity, made.surface.first.connectivity);
  ASSERT_EQ(read.surface.frames.size(), 3u);
  EXPECT_LT((read.rest - made.rest).cwiseAbs().maxCoeff(), 1e-8);  // 0.1 as Float32
  for (std::size_t f = 0; f < 3; ++f)
    EXPECT_LT((read.surface.frames[f] - made.surface.frames[f]).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_EQ(read.metrics.rows, made.metrics.rows);
  EXPECT_TRUE(std::isnan(read.uncertainty.rows[2][3]));
  EXPECT_FALSE(read.obstacles);
}

TEST_F(ReferenceTest, DamageIsRefusedWithItsFile) {
  write_reference(m_folder / "a.ref", tetrahedron());
  const std::string whole = file_bytes(m_folder / "a.ref");
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  const std::string huge = whole.substr(0, 21) + std::string(8, '\x7f') + whole.substr(29);
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), whole.substr(0, 25), std::string("{}"), flipped, huge}) {
    std::ofstream(m_folder / "b.ref", std::ios::binary) << bytes;
    try {
      read_reference(m_folder / "b.ref");
      FAIL() << bytes.size();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("b.ref"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read_reference(m_folder / "none.ref"), InputError);
}

TEST_F(ReferenceTest, WhatDoesNotFitTogetherOrIsTooLargeIsNotWritten) {
  ReferenceFile short_one = tetrahedron();
  short_one.surface.frames.pop_back();
  EXPECT_THROW(write_reference(m_folder / "a.ref", short_one), InputError);
  ReferenceFile large = tetrahedron();
  large.rest = Points::Random(100000, 3);  // noise: nothing to compress
  large.surface.first.points = large.rest;
  large.surface.first.arrays.clear();
  for (Points& frame : large.surface.frames) frame = Points::Random(100000, 3);
  for (auto& row : large.uncertainty.rows) row[2] = 0;  // known exactly: nothing may be rounded
  EXPECT_THROW(write_reference(m_folder / "a.ref", large), InputError);
  EXPECT_FALSE(fs::exists(m_folder / "a.ref"));
}

// Known to 20 mm: what is told more finely than to 0.2 mm may go where there is no room for it.
TEST_F(ReferenceTest, WhatIsNotKnownMakesRoom) {
  ReferenceFile large = tetrahedron();
  large.rest = Points::Constant(150000, 3, 0.25);
  large.surface.first.points = large.rest;
  large.surface.first.arrays.clear();
  large.surface.frames = {large.rest, Points::Random(150000, 3), Points::Random(150000, 3)};
  write_reference(m_folder / "a.ref", large);
  EXPECT_LE(fs::file_size(m_folder / "a.ref"), k_most_reference_bytes);
  const ReferenceFile read = read_reference(m_folder / "a.ref");
  const double off = (read.surface.frames[2] - large.surface.frames[2]).cwiseAbs().maxCoeff();
  EXPECT_GT(off, 1e-7);  // Float32 alone would keep more
  EXPECT_LT(off, 1.1e-4);
}

// A run that is `offset` metres beside the reference at every frame.
void write_run(const fs::path& directory, const ReferenceFile& reference, double offset,
               const std::string& method) {
  ReferenceFile moved = reference;
  moved.method = method;
  for (std::size_t f = 1; f < moved.surface.frames.size(); ++f)
    moved.surface.frames[f].col(0).array() += offset;
  unpack_reference(moved, directory);
}

TEST_F(ReferenceTest, DistancesBelowTheUncertaintyAreNotTold) {
  const ReferenceFile reference = tetrahedron();  // ± 20 mm RMS at the end
  write_reference(m_folder / "a.ref", reference);
  std::ofstream(m_folder / "scene.json")
      << R"({"bodies": [{"name": "it", "surface": {"box": {}}, "volume": {"grid": [1, 1, 1]}}]})";
  const Study study =
      read_study(parse_json(R"({"scene": "scene.json", "reference": {"file": "a.ref"}, "runs": [
    {"name": "near", "method": "fem"}, {"name": "nearer", "method": "fem"}, {"name": "far", "method": "fem"}]})",
                            "study.json"),
                 (m_folder / "study.json").string(), registered_methods());
  ASSERT_EQ(study.runs.size(), 4u);
  EXPECT_EQ(study.runs[3].name, "certified reference");
  EXPECT_EQ(study.runs[3].method, "fem");
  write_run(m_folder / "out" / "near", reference, 0.015, "fem");
  write_run(m_folder / "out" / "nearer", reference, 0.005, "fem");
  write_run(m_folder / "out" / "far", reference, 0.05, "fem");
  unpack_reference(read_reference(study.runs[3].file), m_folder / "out" / study.runs[3].directory);
  const Comparison comparison = collect(study, m_folder / "out", registered_methods().method_names());
  EXPECT_NEAR(comparison.runs[2].final_distances()->rms, 0.05, 1e-6);
  EXPECT_NEAR(comparison.runs[0].final_uncertainty().rms, 0.02, 1e-12);
  EXPECT_NEAR(comparison.runs[0].final_uncertainty().rms_aligned, 0.004, 1e-12);  // the shape is known better
  EXPECT_EQ(comparison.runs[0].not_ranked, "");
  const std::vector<std::vector<std::string>> table = summary_table(comparison);
  EXPECT_EQ(table[1][2], "≤ 20 mm");
  EXPECT_EQ(table[2][2], "≤ 20 mm");
  EXPECT_EQ(table[3][2], "50 mm");
  EXPECT_EQ(table[1][3], "≤ 4 mm");
  EXPECT_EQ(table[4][2], "is the reference");
  EXPECT_FALSE(std::isfinite(comparison.runs[0].cost_ratio));  // made elsewhere
  for (const Card& card : cards_of(comparison)) {
    if (!card.what.starts_with("Closest to it")) continue;
    EXPECT_EQ(card.runs, (std::vector<std::size_t>{1, 0}));  // the two cannot be told apart; the third can
  }
  EXPECT_TRUE(reference_errors(comparison).empty());
  EXPECT_EQ(
      reference_note(comparison),
      "The reference is certified: at the end its surface is within 20 mm (RMS) of its limit, 40 % of the "
      "largest distance shown.");
}

TEST_F(ReferenceTest, AReferenceOfAnotherSceneIsAnError) {
  ReferenceFile reference = tetrahedron();
  Comparison comparison;
  for (const char* name : {"certified reference", "near"}) {
    unpack_reference(reference, m_folder / name);
    PlannedRun plan;
    plan.name = name;
    plan.method = "fem";
    ComparedRun run;
    run.data = read_run(plan, m_folder / name);
    run.reference = "certified reference";
    comparison.runs.push_back(run);
    reference.settings =
        R"({"time": {"duration": 0.2, "fps": 10, "steps_per_frame": 7}, "bodies": [{"name": "it", "volume": {}}]})";
  }
  comparison.runs[0].data.plan.file = "a.ref";
  EXPECT_TRUE(reference_errors(comparison).empty());  // other steps and volumes are what a reference has
  comparison.runs[1].data.record.settings.text =
      R"({"time": {"duration": 0.2, "fps": 10}, "bodies": [{"name": "other"}]})";
  ASSERT_EQ(reference_errors(comparison).size(), 1u);
  EXPECT_NE(reference_errors(comparison)[0].find("exemplar certify"), std::string::npos);
}

TEST_F(ReferenceTest, AStudyWithoutTheFileIsRefused) {
  std::ofstream(m_folder / "scene.json")
      << R"({"bodies": [{"name": "it", "surface": {"box": {}}, "volume": {"grid": [1, 1, 1]}}]})";
  try {
    read_study(parse_json(R"({"scene": "scene.json", "runs": ["fem"], "reference": {"file": "none.ref"}})",
                          "study.json"),
               (m_folder / "study.json").string(), registered_methods());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().front().path, "reference.file");
    EXPECT_NE(std::string(error.what()).find("there is no such file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace exemplar
