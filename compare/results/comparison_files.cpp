// comparison.csv and comparison.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/results/cards.h"
#include "compare/results/claims.h"
#include "compare/results/collect.h"
#include "core/output/atomic_file.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string csv_cell(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// What a run costs is told apart from what it computes.
bool is_cost(const std::string& metric) {
  return metric == "frame" || metric == "steps" || metric == "iterations" || metric == "wall_time" ||
         metric == "real_time_factor" || metric.starts_with("time_");
}

// Every column of any run's metrics.csv that says something about its last frame.
std::vector<MetricName> final_columns(const Comparison& comparison) {
  std::vector<MetricName> columns;
  for (const ComparedRun& run : comparison.runs) {
    for (const MetricName& column : run.data.metrics.columns) {
      const bool known = std::any_of(columns.begin(), columns.end(),
                                     [&](const MetricName& other) { return other.name == column.name; });
      if (!known && !is_cost(column.name)) columns.push_back(column);
    }
  }
  return columns;
}

double final_value(const RunData& run, const std::string& column) {
  const int index = run.metrics.find(column);
  if (index < 0 || run.metrics.rows.empty()) return k_unknown;
  return run.metrics.rows.back()[static_cast<std::size_t>(index)];
}

std::vector<double> distance_values(const ComparedRun& run) {
  const SurfaceDistances* last = run.final_distances();
  if (!last) return std::vector<double>(5, k_unknown);
  return {last->rms, last->max, last->rms_aligned, last->max_aligned, run.worst_rms()};
}

Json surface_json(const ComparedRun& run) {
  Json frames{{"time [s]", Json::array()},
              {"rms [m]", Json::array()},
              {"max [m]", Json::array()},
              {"rms_aligned [m]", Json::array()},
              {"max_aligned [m]", Json::array()}};
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    frames["time [s]"].push_back(run.times[i]);
    frames["rms [m]"].push_back(json_number(run.distances[i].rms));
    frames["max [m]"].push_back(json_number(run.distances[i].max));
    frames["rms_aligned [m]"].push_back(json_number(run.distances[i].rms_aligned));
    frames["max_aligned [m]"].push_back(json_number(run.distances[i].max_aligned));
  }
  const std::vector<double> last = distance_values(run);
  return {{"final",
           {{"rms [m]", json_number(last[0])},
            {"max [m]", json_number(last[1])},
            {"rms_aligned [m]", json_number(last[2])},
            {"max_aligned [m]", json_number(last[3])}}},
          {"worst_rms [m]", json_number(last[4])},
          {"uncertainty [m]", json_number(run.final_uncertainty().rms)},
          {"frames", frames}};
}

Json run_json(const ComparedRun& run, const std::vector<MetricName>& columns) {
  const RunData& data = run.data;
  const RunRecord& record = data.record;
  Json json;
  json["name"] = data.plan.name;
  json["series"] = data.plan.series;
  json["method"] = data.plan.method;
  json["directory"] = data.plan.directory;
  json["colour"] = run.colour;
  json["status"] = to_string(record.status);
  json["message"] = record.message;
  json["reference"] = run.reference.empty() ? Json(nullptr) : Json(run.reference);
  json["set"] = to_json(data.plan.settings);
  json["variation"] = to_json(data.plan.variation);
  json["resolution"] = to_json(data.plan.resolution);
  json["refine"] = data.plan.refine;
  json["doubts"] = run.doubts;
  json["not_ranked"] = run.not_ranked;
  json["cost"] = {{"wall_time [s]", json_number(run.wall_time())},
                  {"setup_time [s]", json_number(record.setup_time.value_or(k_unknown))},
                  {"output_time [s]", json_number(record.writer_time.value_or(k_unknown))},
                  {"cost_ratio", json_number(run.cost_ratio)},
                  {"real_time_factor", json_number(record.real_time_factor.value_or(k_unknown))},
                  {"peak_memory [MB]", json_number(record.peak_memory.value_or(k_unknown))},
                  {"threads", record.threads},
                  {"frames", record.frames},
                  {"steps", record.steps},
                  {"iterations", record.iterations}};
  json["phases [s]"] = Json::object();
  for (const auto& [name, seconds] : record.phases) json["phases [s]"][name] = seconds;
  json["surface_distance"] = surface_json(run);
  json["shape_change"] = {{"final [m]", json_number(run.final_change())},
                          {"largest [m]", json_number(run.largest_change())}};
  json["final"] = Json::object();
  for (const MetricName& column : columns)
    json["final"][column.title()] = json_number(final_value(data, column.name));
  json["not_modelled"] = record.not_modelled;
  json["warnings"] = data.notes(Severity::warning);
  json["notes"] = data.notes(Severity::note);
  return json;
}

}  // namespace

void write_comparison_csv(const Comparison& comparison) {
  const std::vector<MetricName> columns = final_columns(comparison);
  std::string text =
      "run,series,method,status,doubts,reference,refine,setup_time [s],wall_time [s],output_time "
      "[s],cost_ratio,real_time_factor,peak_memory "
      "[MB],steps,"
      "iterations,surface_rms [m],surface_max [m],surface_rms_aligned [m],surface_max_aligned [m],"
      "surface_rms_worst [m],shape_change [m],shape_change_largest [m]";
  for (const MetricName& column : columns) text += "," + csv_cell(column.title());
  text += "\n";
  for (const ComparedRun& run : comparison.runs) {
    const RunData& data = run.data;
    const RunRecord& record = data.record;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(data.plan.name),
                        csv_cell(data.plan.series), data.plan.method, to_string(record.status),
                        csv_cell(fmt::format("{}", fmt::join(run.doubts, "; "))), csv_cell(run.reference),
                        data.plan.refine, csv_cell(record.setup_time.value_or(k_unknown)),
                        csv_cell(run.wall_time()), csv_cell(record.writer_time.value_or(k_unknown)),
                        csv_cell(run.cost_ratio), csv_cell(record.real_time_factor.value_or(k_unknown)),
                        csv_cell(record.peak_memory.value_or(k_unknown)), record.steps, record.iterations);
    for (const double value : distance_values(run)) text += "," + csv_cell(value);
    text += "," + csv_cell(run.final_change()) + "," + csv_cell(run.largest_change());
    for (const MetricName& column : columns) text += "," + csv_cell(final_value(data, column.name));
    text += "\n";
  }
  write_file_atomically(comparison.directory / "comparison.csv", text);
}

Json claims_json(const CheckedLesson& lesson) {
  Json list = Json::array();
  for (const CheckedClaim& claim : lesson.claims)
    list.push_back(
        {{"claim", claim.text}, {"verdict", to_string(claim.verdict)}, {"numbers", claim.numbers}});
  return list;
}

Json cards_json(const Comparison& comparison) {
  Json list = Json::array();
  for (const Card& card : cards_of(comparison))
    list.push_back({{"what", card.what}, {"runs", card.runs}, {"number", card.number}});
  return list;
}

Json comparison_json(const Comparison& comparison) {
  const CheckedLesson lesson = check_lesson(comparison);
  Json json;
  json["program"] = "exemplar";
  json["version"] = program_version();
  json["title"] = comparison.study.title;
  json["lesson"] = lesson.text;
  json["claims"] = claims_json(lesson);
  json["reference_errors"] = reference_errors(comparison);
  json["reference_note"] = reference_note(comparison);
  json["cards"] = cards_json(comparison);
  json["study"] = comparison.study.path;
  json["scene"] = comparison.study.scene;
  json["scene_title"] = comparison.study.scene_title;
  json["metrics"] = comparison.study.metrics;
  json["notes"] = comparison.study.notes;
  json["runs"] = Json::array();
  const std::vector<MetricName> columns = final_columns(comparison);
  for (const ComparedRun& run : comparison.runs) json["runs"].push_back(run_json(run, columns));
  return json;
}

void write_comparison_json(const Comparison& comparison) {
  write_file_atomically(
      comparison.directory / "comparison.json",
      comparison_json(comparison).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace exemplar
