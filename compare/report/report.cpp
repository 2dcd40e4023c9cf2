#include "compare/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compare/jobs/quoting.h"
#include "compare/report/assets.h"
#include "compare/report/export.h"
#include "compare/report/page_text.h"
#include "compare/report/pictures.h"
#include "compare/report/view_camera.h"
#include "compare/results/cards.h"
#include "compare/results/claims.h"
#include "compare/stage/stage.h"
#include "core/output/atomic_file.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// Six digits are more than a plot shows, and keep the page small.
Json rounded(double value) {
  return std::isfinite(value) ? Json::parse(fmt::format("{:.6g}", value)) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

Json point(const Vec3& p) {
  return Json::array({p.x(), p.y(), p.z()});
}

Json layer_json(const ExportLayer& layer) {
  Json segments = Json::array();
  for (const ExportSegment& segment : layer.segments) {
    segments.push_back(
        {{"frames", segment.frames}, {"points", segment.points}, {"triangles", segment.triangles}});
  }
  Json fields = Json::array();
  for (const auto& [name, bytes] : layer.fields) fields.push_back(name);
  return {{"low", point(layer.low)}, {"high", point(layer.high)}, {"segments", segments}, {"fields", fields}};
}

Json fields_json(const Exported& exported) {
  Json list = Json::array();
  for (const FieldScale& scale : exported.fields)
    list.push_back({{"name", scale.name},
                    {"unit", stage::unit_of_array(scale.name)},
                    {"low", rounded(scale.low)},
                    {"high", rounded(scale.high)}});
  return list;
}

// For an <img>; null without a picture.
Json png_source(const std::string& png) {
  return png.empty() ? Json(nullptr) : Json("data:image/png;base64," + base64(png));
}

Json pictures_json(const Pictures& pictures, const std::string& directory) {
  Json list = Json::array();
  const auto found = pictures.by_directory.find(directory);
  if (found == pictures.by_directory.end()) return list;
  for (const Picture& picture : found->second) {
    list.push_back({{"time", picture.time}, {"shot", picture.shot}, {"src", png_source(picture.png)}});
  }
  return list;
}

int index_of(const Comparison& comparison, const std::string& name) {
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    if (comparison.runs[i].data.plan.name == name) return static_cast<int>(i);
  }
  return -1;
}

double final_metric(const RunData& run, const std::string& name) {
  const int column = run.metrics.find(name);
  return column < 0 || run.metrics.rows.empty() ? k_unknown
                                                : run.metrics.rows.back()[static_cast<std::size_t>(column)];
}

Json run_json(const ComparedRun& run, const Comparison& comparison, const ExportedRun& exported,
              const Pictures& pictures, const Registry& registry) {
  const RunData& data = run.data;
  const RunRecord& record = data.record;
  const MethodInfo* info = registry.find(data.plan.method);
  const SurfaceDistances* last = run.final_distances();
  Json json;
  json["name"] = data.plan.name;
  json["series"] = data.plan.series;
  json["method"] = data.plan.method;
  json["directory"] = data.plan.directory;
  json["summary"] = info ? info->summary : "";
  json["source"] = info ? info->source : "";
  json["models_deformation"] = data.plan.capabilities.deformation;
  json["colour"] = run.colour;
  json["status"] = to_string(record.status);
  json["message"] = record.message;
  json["is_reference"] = run.reference == data.plan.name;
  json["reference_index"] = index_of(comparison, run.reference);
  json["resolution"] = !data.plan.resolution.empty();
  json["set"] = to_json(data.plan.settings);
  json["wall_time"] = number(run.wall_time());
  json["setup_time"] = number(record.setup_time.value_or(k_unknown));
  json["output_time"] = number(record.writer_time.value_or(k_unknown));
  json["doubts"] = run.doubts;
  json["not_ranked"] = run.not_ranked;
  json["cost_ratio"] = number(run.cost_ratio);
  json["real_time_factor"] = number(record.real_time_factor.value_or(k_unknown));
  json["memory"] = number(record.peak_memory.value_or(k_unknown));
  json["steps"] = record.steps;
  json["iterations"] = record.iterations;
  json["uncertainty"] = number(run.final_uncertainty().rms);
  json["uncertainty_aligned"] = number(run.final_uncertainty().rms_aligned);
  json["uncertainty_max"] = number(run.final_uncertainty().max);
  json["rms"] = number(last ? last->rms : k_unknown);
  json["max"] = number(last ? last->max : k_unknown);
  json["rms_aligned"] = number(last ? last->rms_aligned : k_unknown);
  json["change"] = number(run.final_change());
  json["largest_change"] = number(run.largest_change());
  json["pieces"] = number(final_metric(data, "fragments"));
  json["not_modelled"] = record.not_modelled;
  json["warnings"] = data.notes(Severity::warning);
  json["notes"] = data.notes(Severity::note);
  json["frames"] = exported.frames;
  json["layers"] = {{"surface", layer_json(exported.surface)}, {"obstacles", layer_json(exported.obstacles)}};
  json["pictures"] = pictures_json(pictures, data.plan.directory);
  return json;
}

// One metric over time, a line a run.
struct Plot {
  MetricName metric;
  std::string label;
  Json lines = Json::array();
};

void add_line(std::vector<Plot>& plots, const MetricName& metric, const std::string& label, std::size_t run,
              const std::vector<double>& times, const std::vector<double>& values) {
  if (std::none_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) return;
  auto found = std::find_if(plots.begin(), plots.end(),
                            [&](const Plot& plot) { return plot.metric.name == metric.name; });
  if (found == plots.end()) found = plots.insert(plots.end(), Plot{metric, label, Json::array()});
  found->lines.push_back({{"run", run}, {"times", numbers(times)}, {"values", numbers(values)}});
}

void add_distances(std::vector<Plot>& plots, const ComparedRun& run, std::size_t index) {
  add_line(plots, {"shape_change", "m"}, "change of shape since the start, RMS", index, run.change_times,
           run.shape_change);
  if (run.reference == run.data.plan.name || run.distances.empty()) return;
  std::vector<double> rms, max, rms_aligned, max_aligned;
  for (const SurfaceDistances& d : run.distances) {
    rms.push_back(d.rms);
    max.push_back(d.max);
    rms_aligned.push_back(d.rms_aligned);
    max_aligned.push_back(d.max_aligned);
  }
  add_line(plots, {"surface_rms", "m"}, "distance to the reference, RMS", index, run.times, rms);
  add_line(plots, {"surface_max", "m"}, "distance to the reference, largest", index, run.times, max);
  add_line(plots, {"surface_rms_aligned", "m"}, "difference of shape, RMS", index, run.times, rms_aligned);
  add_line(plots, {"surface_max_aligned", "m"}, "difference of shape, largest", index, run.times,
           max_aligned);
}

// What the references leave open of a metric: of a distance from 0 up, of any other around the reference's own line.
Json bands_of(const Comparison& comparison, const std::string& metric) {
  Json bands = Json::array();
  for (const ComparedRun& run : comparison.runs) {
    const MetricsTable& table = run.data.uncertainty;
    if (!run.is_reference() || table.find(metric) < 0 || metric == "time" || metric == "frame") continue;
    const std::vector<double> widths = table.column(metric);
    std::vector<double> low(widths.size(), 0), high = widths;
    if (!metric.starts_with("surface_")) {
      const std::vector<double> middle = run.data.metrics.column(metric);
      for (std::size_t i = 0; i < widths.size(); ++i) {
        low[i] = middle[i] - widths[i];
        high[i] = middle[i] + widths[i];
      }
    }
    bands.push_back(
        {{"times", numbers(table.column("time"))}, {"low", numbers(low)}, {"high", numbers(high)}});
  }
  return bands;
}

// Every metric over time; those the study names come first.
Json metrics_json(const Comparison& comparison) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) add_distances(plots, comparison.runs[i], i);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const MetricsTable& table = comparison.runs[i].data.metrics;
    if (table.find("time") < 0) continue;
    const std::vector<double> times = table.column("time");
    for (const MetricName& column : table.columns) {
      if (column.name == "frame" || column.name == "time") continue;
      add_line(plots, column, "", i, times, table.column(column.name));
    }
  }
  std::vector<std::string> first = comparison.study.metrics;
  if (first.empty()) first = {"surface_rms", "volume_ratio", "kinetic_energy", "wall_time"};
  auto rank = [&](const Plot& plot) {
    return std::find(first.begin(), first.end(), plot.metric.name) - first.begin();
  };
  std::stable_sort(plots.begin(), plots.end(),
                   [&](const Plot& a, const Plot& b) { return rank(a) < rank(b); });
  Json list = Json::array();
  for (const Plot& plot : plots) {
    list.push_back({{"name", plot.metric.name},
                    {"unit", plot.metric.unit},
                    {"label", plot.label},
                    {"bands", bands_of(comparison, plot.metric.name)},
                    {"first", rank(plot) < static_cast<std::ptrdiff_t>(first.size())},
                    {"lines", plot.lines}});
  }
  return list;
}

std::string export_note(const Comparison& comparison, const Exported& exported) {
  const double extent = (comparison.bounds.max - comparison.bounds.min).maxCoeff();
  std::string note = fmt::format("Positions here are rounded to about {}", length_text(extent / 65535));
  if (exported.written_frames > static_cast<int>(exported.times.size()))
    note += fmt::format(", {} of {} frames are shown", exported.times.size(), exported.written_frames);
  for (std::size_t i = 0; i < exported.runs.size(); ++i) {
    const ExportLayer& surface = exported.runs[i].surface;
    if (surface.segments.empty() || surface.segments[0].points == surface.original_points) continue;
    note += fmt::format(", surfaces are thinned from {} to {} vertices", surface.original_points,
                        surface.segments[0].points);
    break;
  }
  return note + "; the numbers below come from the full data.";
}

std::string cost_note(const Comparison& comparison) {
  int threads = 0;
  for (const ComparedRun& run : comparison.runs) threads = std::max(threads, run.data.record.threads);
  return fmt::format(
      "Distances are over the whole surface at the last frame, as it is and after the best rigid alignment "
      "of each "
      "body (shape only). Wall time is that of the simulation steps, with {} thread{} a run; set-up "
      "(reading, meshing, the "
      "method's own preparation) and output (encoding and writing, on a thread of its own) are beside it.",
      threads, threads == 1 ? "" : "s");
}

Json page_data(const Comparison& comparison, const Exported& exported, const Pictures& pictures,
               const Registry& registry) {
  Json json;
  json["title"] = comparison.study.title;
  const CheckedLesson lesson = check_lesson(comparison);
  json["lesson"] = lesson.text;
  json["claims"] = claims_json(lesson);
  json["reference_errors"] = reference_errors(comparison);
  json["reference_note"] = reference_note(comparison);
  json["cards"] = cards_json(comparison);
  json["scene_title"] = comparison.study.scene_title;
  json["version"] = program_version();
  json["command"] = shell_line({"exemplar", "compare", comparison.study.path});
  json["notes"] = comparison.study.notes;
  json["times"] = numbers(exported.times);
  json["bounds"] = {{"low", point(comparison.view.min)}, {"high", point(comparison.view.max)}};
  json["camera"] = view_camera_json(comparison);
  json["fields"] = fields_json(exported);
  json["export_note"] = export_note(comparison, exported);
  json["cost_note"] = cost_note(comparison);
  json["pictures_note"] =
      pictures.problem.empty() ? "" : "Drawn by the 3D view of this page, because " + pictures.problem + ".";
  json["poses"] = Json::array();
  for (const ExamplePicture& pose : pictures.poses)
    json["poses"].push_back({{"name", pose.name}, {"src", png_source(pose.png)}});
  json["rigs"] = png_source(pictures.rigs);
  json["example_weights"] = png_source(pictures.examples);
  json["runs"] = Json::array();
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    json["runs"].push_back(run_json(comparison.runs[i], comparison, exported.runs[i], pictures, registry));
  }
  json["metrics"] = metrics_json(comparison);
  return json;
}

std::string layer_scripts(const Exported& exported) {
  std::string text;
  auto add = [&](std::size_t run, const char* name, const ExportLayer& layer) {
    text += fmt::format("<script type=\"text/plain\" id=\"layer-{}-{}-positions\">{}</script>\n", run, name,
                        base64(layer.positions));
    text += fmt::format("<script type=\"text/plain\" id=\"layer-{}-{}-indices\">{}</script>\n", run, name,
                        base64(layer.indices));
    int number = 0;
    for (const auto& [field, bytes] : layer.fields)
      text += fmt::format("<script type=\"text/plain\" id=\"layer-{}-{}-field-{}\">{}</script>\n", run, name,
                          number++, base64(bytes));
  };
  for (std::size_t i = 0; i < exported.runs.size(); ++i) {
    if (exported.runs[i].frames == 0) continue;
    add(i, "surface", exported.runs[i].surface);
    add(i, "obstacles", exported.runs[i].obstacles);
  }
  return text;
}

}  // namespace

std::string report_page(const Comparison& comparison, const Registry& registry, const ReportOptions& options,
                        Notes& notes) {
  Pictures pictures;
  pictures.problem = "rendered ones were not asked for";
  if (options.pictures) pictures = render_pictures(comparison, options.interrupted);
  if (options.pictures && !pictures.problem.empty())
    notes.push_back({Severity::note, "no rendered pictures in the report: " + pictures.problem});
  if (assets::viewer().empty())
    notes.push_back({Severity::note, "the report has no 3D view: built without node and npm"});
  const Exported exported = export_frames(comparison);
  const std::string data = page_data(comparison, exported, pictures, registry)
                               .dump(-1, ' ', false, Json::error_handler_t::replace);
  return filled(assets::page(), {{"TITLE", escape_xml(comparison.study.title)},
                                 {"STYLE", std::string(assets::style())},
                                 {"DATA", json_inside_script(data)},
                                 {"LAYERS", assets::viewer().empty() ? "" : layer_scripts(exported)},
                                 {"VIEWER", inside_script(std::string(assets::viewer()))},
                                 {"SCRIPT", inside_script(std::string(assets::script()))}});
}

Notes write_report(const Comparison& comparison, const Registry& registry, const ReportOptions& options) {
  Notes notes;
  write_file_atomically(comparison.directory / "report.html",
                        report_page(comparison, registry, options, notes));
  return notes;
}

}  // namespace exemplar
