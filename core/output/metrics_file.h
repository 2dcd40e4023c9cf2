// metrics.csv: one row per frame, numbers with all their digits, an empty cell for what a method does not know.
// Rows are appended whole, so a killed run leaves a readable table; a resumed one cuts off what it computes
// again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/output/atomic_file.h"
#include "core/output/metric.h"

namespace exemplar {

class MetricsFile {
 public:
  // `columns` come after the column "frame", which is always the first; their values are not looked at. Rows
  // with frame < first_frame of an existing table with the same columns are kept as they are. Throws
  // OutputError when the file cannot be written, InputError when a table to be continued has other columns.
  MetricsFile(std::filesystem::path path, const Metrics& columns, int first_frame = 0);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // One value per column; NaN becomes an empty cell. With the system when it returns. Throws OutputError.
  void append(int frame, const Metrics& row);
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  std::size_t m_columns;
  int m_descriptor = -1;
};

struct MetricsTable {
  std::vector<MetricName> columns;        // the first is "frame"
  std::vector<std::vector<double>> rows;  // NaN for empty cells

  // Index of a column by its name; -1 when there is none.
  int find(const std::string& name) const;
  // The values of a column; throws InputError when there is none.
  std::vector<double> column(const std::string& name) const;
  // Adds the columns of another table that are not here yet, row by row of the same frame; NaN where it has none.
  void join(const MetricsTable& other);
};

enum class AtDamage { refuse, stop };
// A last row without its end of line is left out. What is wrong is an InputError with its line, or the end of the table.
MetricsTable read_metrics(const std::filesystem::path& path, AtDamage at_damage = AtDamage::refuse);

}  // namespace exemplar
