#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "core/base/errors.h"
#include "core/output/metrics_file.h"
#include "output_support.h"

namespace exemplar::test {

namespace {

Metrics row_of(int frame) {
  return {{"time", "s", frame / 3.0},
          {"kinetic_energy", "J", std::exp(-frame * 50.0)},
          {"weight \"a\", b", "", frame % 2 ? NAN : -1.0 / 7}};
}

void write_rows(const std::filesystem::path& path, int begin, int end) {
  MetricsFile file(path, row_of(0), begin);
  for (int frame = begin; frame < end; ++frame) file.append(frame, row_of(frame));
}

TEST(MetricsFile, NumbersComeBackExactlyAndNanIsEmpty) {
  const TemporaryFolder folder;
  write_rows(folder.path() / "metrics.csv", 0, 4);
  const MetricsTable table = read_metrics(folder.path() / "metrics.csv");
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[0].name, "frame");
  EXPECT_EQ(table.columns[2].name, "kinetic_energy");
  EXPECT_EQ(table.columns[2].unit, "J");
  EXPECT_EQ(table.columns[3].name, "weight \"a\", b");
  ASSERT_EQ(table.rows.size(), 4u);
  for (int frame = 0; frame < 4; ++frame) {
    EXPECT_EQ(table.column("frame")[static_cast<std::size_t>(frame)], frame);
    EXPECT_EQ(table.column("time")[static_cast<std::size_t>(frame)], frame / 3.0);
    EXPECT_EQ(table.column("kinetic_energy")[static_cast<std::size_t>(frame)], std::exp(-frame * 50.0));
    EXPECT_EQ(std::isnan(table.rows[static_cast<std::size_t>(frame)][3]), frame % 2 == 1);
  }
  EXPECT_EQ(table.find("none"), -1);
  EXPECT_THROW(table.column("none"), InputError);
  EXPECT_NE(bytes_of(folder.path() / "metrics.csv").find("\n1,0.3333333333333333,1.9287498479639178e-22,\n"),
            std::string::npos);
}

TEST(MetricsFile, InfinityComesBack) {
  const TemporaryFolder folder;
  const double infinity = std::numeric_limits<double>::infinity();
  const Metrics row{{"a", "", infinity}, {"b", "", -infinity}};
  MetricsFile(folder.path() / "m.csv", row).append(0, row);
  EXPECT_EQ(read_metrics(folder.path() / "m.csv").rows[0], (std::vector<double>{0, infinity, -infinity}));
}

TEST(MetricsFile, ResumedTableEqualsUndisturbedOne) {
  const TemporaryFolder folder;
  write_rows(folder.path() / "a.csv", 0, 12);
  write_rows(folder.path() / "b.csv", 0, 9);
  std::ofstream(folder.path() / "b.csv", std::ios::app) << "9,0.12";  // killed in the middle of a row
  EXPECT_EQ(read_metrics(folder.path() / "b.csv").rows.size(), 9u);
  write_rows(folder.path() / "b.csv", 5, 12);
  EXPECT_EQ(bytes_of(folder.path() / "a.csv"), bytes_of(folder.path() / "b.csv"));
  write_rows(folder.path() / "b.csv", 0, 2);
  EXPECT_EQ(read_metrics(folder.path() / "b.csv").rows.size(), 2u);
}

TEST(MetricsFile, OtherColumnsAreNotContinued) {
  const TemporaryFolder folder;
  write_rows(folder.path() / "a.csv", 0, 3);
  EXPECT_THROW(MetricsFile(folder.path() / "a.csv", {{"time", "s", 0}}, 2), InputError);
  EXPECT_EQ(read_metrics(folder.path() / "a.csv").rows.size(), 3u);
}

TEST(MetricsFile, DamagedTablesAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_metrics(folder.path() / "missing.csv"), InputError);
  std::ofstream(folder.path() / "a.csv") << "frame,a\n0,1,2\n";
  EXPECT_THROW(read_metrics(folder.path() / "a.csv"), InputError);
  std::ofstream(folder.path() / "b.csv") << "frame,a\n0,one\n";
  EXPECT_THROW(read_metrics(folder.path() / "b.csv"), InputError);
}

TEST(MetricsFile, FullDiskKeepsWholeRows) {
  const TemporaryFolder folder;
  MetricsFile file(folder.path() / "a.csv", {{"a", "", 0}});
  file.append(0, {{"a", "", 1}});
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 14;  // "frame,a\n0,1\n" and two bytes
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(file.append(1, {{"a", "", 2}}), OutputError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(bytes_of(folder.path() / "a.csv"), "frame,a\n0,1\n");
  file.append(1, {{"a", "", 2}});
  EXPECT_EQ(bytes_of(folder.path() / "a.csv"), "frame,a\n0,1\n1,2\n");
}

}  // namespace

}  // namespace exemplar::test
