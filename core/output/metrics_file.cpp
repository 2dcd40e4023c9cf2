#include "core/output/metrics_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Names with a comma or a quote are quoted, as RFC 4180 has it.
std::string csv_cell(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string header_line(const Metrics& columns) {
  std::string line = "frame";
  for (const Metric& column : columns) line += ',' + csv_cell(column.title());
  return line + '\n';
}

std::vector<std::string> split_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool escaped = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (escaped) cells.back() += line[++i];
      if (!escaped) quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

// Only lines that are complete: a killed run may have left half of one.
std::vector<std::string> complete_lines(const fs::path& path) {
  const std::string text = file_bytes(path);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
  }
  return lines;
}

std::string rows_before(const fs::path& path, const std::string& header, int first_frame) {
  const std::vector<std::string> lines = complete_lines(path);
  if (lines.empty()) return {};
  if (lines.front() + '\n' != header) {
    throw InputError(Problem{path.string(), {}, "has other columns than this run; remove it or start anew"});
  }
  std::string kept;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    int frame = 0;
    const char* end = lines[i].data() + lines[i].size();
    const auto parsed = std::from_chars(lines[i].data(), end, frame);
    if (parsed.ec == std::errc() && frame < first_frame) kept += lines[i] + '\n';
  }
  return kept;
}

bool is_row(const std::vector<std::string>& cells, std::size_t columns) {
  return cells.size() == columns && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
           double value = 0;
           const char* end = cell.data() + cell.size();
           const auto parsed = std::from_chars(cell.data(), end, value);
           return cell.empty() || (parsed.ec == std::errc() && parsed.ptr == end);
         });
}

double parse_cell(const std::string& cell, const fs::path& path, std::size_t line) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != cell.data() + cell.size()) {
    throw InputError(Problem{path.string(), {}, fmt::format("line {}: '{}' is not a number", line, cell)});
  }
  return value;
}

}  // namespace

MetricsFile::MetricsFile(fs::path path, const Metrics& columns, int first_frame)
    : m_path(std::move(path)), m_columns(columns.size()) {
  const std::string header = header_line(columns);
  write_file_atomically(m_path, header + (first_frame > 0 ? rows_before(m_path, header, first_frame) : ""));
  m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (m_descriptor < 0) throw OutputError(m_path, std::strerror(errno));
}

MetricsFile::~MetricsFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void MetricsFile::append(int frame, const Metrics& row) {
  assert(row.size() == m_columns);
  std::string line = std::to_string(frame);
  for (const Metric& m : row) line += std::isnan(m.value) ? std::string(",") : fmt::format(",{}", m.value);
  line += '\n';
  append_whole(m_descriptor, m_path, line);
}

int MetricsTable::find(const std::string& name) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<double> MetricsTable::column(const std::string& name) const {
  const int index = find(name);
  if (index < 0) throw InputError("the metrics have no column '" + name + "'");
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[static_cast<std::size_t>(index)]);
  return values;
}

void MetricsTable::join(const MetricsTable& other) {
  std::map<double, const std::vector<double>*> by_frame;
  for (const auto& row : other.rows) by_frame[row[0]] = &row;
  for (std::size_t c = 0; c < other.columns.size(); ++c) {
    if (find(other.columns[c].name) >= 0) continue;
    columns.push_back(other.columns[c]);
    for (auto& row : rows) {
      const auto found = by_frame.find(row[0]);
      row.push_back(found == by_frame.end() ? std::numeric_limits<double>::quiet_NaN() : (*found->second)[c]);
    }
  }
}

MetricsTable read_metrics(const fs::path& path, AtDamage at_damage) {
  const std::vector<std::string> lines = complete_lines(path);
  if (lines.empty()) throw InputError(Problem{path.string(), {}, "there is no table of metrics"});
  MetricsTable table;
  for (const std::string& title : split_cells(lines.front()))
    table.columns.push_back(parse_metric_title(title));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split_cells(lines[i]);
    if (at_damage == AtDamage::stop && !is_row(cells, table.columns.size())) break;
    if (cells.size() != table.columns.size()) {
      throw InputError(Problem{
          path.string(),
          {},
          fmt::format("line {} has {} cells, expected {}", i + 1, cells.size(), table.columns.size())});
    }
    std::vector<double>& row = table.rows.emplace_back();
    for (const std::string& cell : cells) row.push_back(parse_cell(cell, path, i + 1));
  }
  return table;
}

}  // namespace exemplar
