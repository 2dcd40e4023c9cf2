#include "compare/coupons/scorecard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/base/input_file.h"

namespace exemplar::coupons {

namespace {

constexpr const char* k_dash = "–";

const std::vector<std::string> k_columns{"coupon",   "quantity", "method",  "resolution", "outcome",
                                         "measured", "expected", "unit",    "error [%]",  "cpu [s]",
                                         "warned",   "reason",   "warnings"};

template <class Member>
std::vector<std::string> each_once(const std::vector<Cell>& cells, Member member) {
  std::vector<std::string> names;
  for (const Cell& cell : cells) {
    if (std::find(names.begin(), names.end(), cell.*member) == names.end()) names.push_back(cell.*member);
  }
  return names;
}

std::string percent(double error) {
  const double value = 100 * error;
  if (std::abs(value) >= 999.5) return value > 0 ? "> +999" : "< −999";
  const std::string digits = std::abs(value) < 9.95 ? fmt::format("{:.1f}", std::abs(value))
                                                    : fmt::format("{:.0f}", std::abs(value));
  if (digits == "0.0") return digits;
  return (value > 0 ? "+" : "−") + digits;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " | ") + text;
  return all;
}

// Fields of the rows of a table; a quoted one may hold commas, quotes (twice) and ends of lines.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool inside = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (inside && c == '"' && k + 1 < text.size() && text[k + 1] == '"') {
      rows.back().back() += text[++k];
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      rows.back().emplace_back();
    } else if (!inside && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  if (rows.back() == std::vector<std::string>{""}) rows.pop_back();
  return rows;
}

double number_in(const std::string& text, const std::filesystem::path& file) {
  if (text.empty()) return std::nan("");
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    throw InputError(Problem{file.string(), "", "'" + text + "' is no number"});
  return value;
}

Cell cell_from(const std::vector<std::string>& row, const std::filesystem::path& file) {
  Cell cell;
  cell.coupon = row[0];
  cell.quantity = row[1];
  cell.method = row[2];
  cell.resolution = static_cast<int>(number_in(row[3], file));
  cell.outcome = outcome_from(row[4]);
  cell.measured = number_in(row[5], file);
  cell.expected = number_in(row[6], file);
  cell.unit = row[7];
  cell.error = number_in(row[8], file) / 100;
  cell.has_reading = std::isfinite(cell.error);
  cell.cpu_seconds = number_in(row[9], file);
  cell.is_warned = row[10] == "yes";
  cell.reason = row[11];
  if (!row[12].empty()) cell.warnings = {row[12]};
  return cell;
}

std::string words_of(const Cell& cell) {
  if (!cell.has_reading) return cell.reason;
  return fmt::format("{:.4g} {}, expected {:.4g} {}", cell.measured, cell.unit, cell.expected, cell.unit);
}

}  // namespace

std::string score_text(const Cell* cell) {
  if (cell == nullptr) return "";
  if (!cell->has_reading) {
    if (cell->outcome == Outcome::left_out) return k_dash;
    return cell->outcome == Outcome::measured ? "?" : to_string(cell->outcome);
  }
  std::string text = percent(cell->error);
  if (cell->outcome == Outcome::cut) text += "~";
  if (std::abs(cell->error) > k_large_error) text += is_unsaid(*cell) ? " !" : " w";
  return text;
}

std::vector<std::vector<std::string>> score_rows(const std::vector<Cell>& cells,
                                                 const std::vector<std::string>& methods) {
  std::vector<std::vector<std::string>> rows(1, {"error in %"});
  rows.front().insert(rows.front().end(), methods.begin(), methods.end());
  for (const std::string& quantity : each_once(cells, &Cell::quantity)) {
    rows.push_back({quantity});
    for (const std::string& method : methods)
      rows.back().push_back(score_text(finest_cell(cells, method, quantity)));
  }
  return rows;
}

std::vector<std::string> remarks_on(const std::vector<Cell>& cells, const std::vector<std::string>& methods) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> places;
  std::vector<std::string> large;
  for (const Cell& cell : finest_cells(cells, methods)) {
    const std::string place = cell.quantity + " of " + cell.method;
    if (!cell.reason.empty()) {
      if (places[cell.reason].empty()) reasons.push_back(cell.reason);
      places[cell.reason].push_back(place);
    }
    if (cell.has_reading && std::abs(cell.error) > k_large_error)
      large.push_back(fmt::format("{} {}: {} ({})", is_unsaid(cell) ? "!" : "w", place,
                                  percent(cell.error) + " %", words_of(cell)));
  }
  std::vector<std::string> lines;
  for (const std::string& reason : reasons)
    lines.push_back(fmt::format("{} {}: {}", k_dash, reason, fmt::join(places[reason], ", ")));
  lines.insert(lines.end(), large.begin(), large.end());
  return lines;
}

std::string csv_text(const std::vector<Cell>& cells) {
  std::string text = fmt::format("{}\n", fmt::join(k_columns, ","));
  for (const Cell& cell : cells) {
    const double nothing = std::nan("");
    const double known = cell.has_reading ? 1 : nothing;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{:.3g},{},{},{}\n", cell.coupon, cell.quantity,
                        cell.method, cell.resolution, to_string(cell.outcome),
                        number_text(cell.measured * known), number_text(cell.expected * known), cell.unit,
                        number_text(100 * cell.error * known), cell.cpu_seconds, cell.is_warned ? "yes" : "",
                        quoted(cell.reason), quoted(joined(cell.warnings)));
  }
  return text;
}

std::vector<Cell> finest_cells(const std::vector<Cell>& cells, const std::vector<std::string>& methods) {
  std::vector<Cell> finest;
  for (const std::string& quantity : each_once(cells, &Cell::quantity)) {
    for (const std::string& method : methods) {
      if (const Cell* cell = finest_cell(cells, method, quantity)) finest.push_back(*cell);
    }
  }
  return finest;
}

std::vector<Cell> read_csv(const std::filesystem::path& file) {
  const auto rows = parse_csv(read_whole_file(file, k_largest_text_file));
  if (rows.empty() || rows.front() != k_columns)
    throw InputError(Problem{file.string(), "", "is no table of coupons (exemplar coupons --record)"});
  std::vector<Cell> cells;
  for (std::size_t k = 1; k < rows.size(); ++k) {
    if (rows[k].size() != k_columns.size())
      throw InputError(Problem{
          file.string(), "",
          fmt::format("line {} has {} fields instead of {}", k + 1, rows[k].size(), k_columns.size())});
    cells.push_back(cell_from(rows[k], file));
  }
  return cells;
}

std::string scorecard_markdown(const std::vector<Cell>& cells) {
  const std::vector<std::string> methods = each_once(cells, &Cell::method);
  std::string text;
  bool is_header = true;
  for (const std::vector<std::string>& row : score_rows(cells, methods)) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool is_name = is_header ? k > 0 : k == 0;
      text += is_name ? fmt::format("| `{}` ", row[k]) : fmt::format("| {} ", row[k]);
    }
    text += "|\n";
    if (is_header) {
      text += "|---|";
      for (std::size_t k = 1; k < row.size(); ++k) text += "---:|";
      text += "\n";
    }
    is_header = false;
  }
  return text;
}

}  // namespace exemplar::coupons
