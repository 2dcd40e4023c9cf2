#include "core/scene/runs/run_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/errors.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

class RunRecordFile : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(m_folder); }
  void TearDown() override { fs::remove_all(m_folder); }
  void put(const std::string& text) const { std::ofstream(m_folder / "run.json") << text; }
  const fs::path m_folder = fs::path(::testing::TempDir()) / "exemplar-run-record";
};

TEST_F(RunRecordFile, EverythingWrittenComesBack) {
  RunRecord record;
  record.method = "fem";
  record.status = RunStatus::failed;
  record.message = "too \"far\"";
  record.notes = {{Severity::warning, "warning: is just a word"}, {Severity::note, "12 tets"}};
  record.not_modelled = {"fracture"};
  record.wall_time = 0.1;
  record.phases = {{"solve", 0.25}};
  record.final_metrics = {{"kinetic_energy [J]", 1.0 / 3}, {"mass [kg]", NAN}};
  record.settings.text = R"({"title":"a","gravity":[0,-9.81,0]})";
  write_run_record(m_folder, record);
  const RunRecord again = read_run_record(m_folder);
  EXPECT_EQ(again.method, "fem");
  EXPECT_EQ(again.status, RunStatus::failed);
  EXPECT_EQ(again.message, record.message);
  ASSERT_EQ(again.notes.size(), 2u);
  EXPECT_EQ(again.notes[0].severity, Severity::warning);
  EXPECT_EQ(again.notes[0].text, "warning: is just a word");
  EXPECT_EQ(again.notes[1].severity, Severity::note);
  EXPECT_EQ(again.not_modelled, record.not_modelled);
  EXPECT_EQ(again.wall_time, 0.1);
  EXPECT_FALSE(again.worst_penetration.has_value());
  EXPECT_EQ(again.phases, record.phases);
  ASSERT_EQ(again.final_metrics.size(), 2u);
  EXPECT_EQ(again.final_metrics[0].second, 1.0 / 3);
  EXPECT_TRUE(std::isnan(again.final_metrics[1].second));
  EXPECT_EQ(again.settings.text, record.settings.text);
}

TEST_F(RunRecordFile, ADamagedOneIsRefusedWithEveryProblem) {
  EXPECT_THROW(read_run_record(m_folder), InputError);
  EXPECT_FALSE(find_run_record(m_folder).has_value());
  for (const char* text : {"", "{", "[]", "7", R"({"method": 3})", R"({"frames": 1.5})",
                           R"({"method": "fem", "status": "lost"})"}) {
    put(text);
    EXPECT_THROW(read_run_record(m_folder), InputError) << text;
    EXPECT_FALSE(find_run_record(m_folder).has_value()) << text;
  }
  put(R"({"method": "fem", "frames": -1, "notes": 5})");
  try {
    read_run_record(m_folder);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().size(), 2u) << error.what();
  }
}

}  // namespace
}  // namespace exemplar
