#include "compare/results/refinement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/results/surface_distance.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/output/geometry_file.h"
#include "core/scene/scene_settings.h"

namespace exemplar {

namespace {

constexpr double k_slowest = 0.7;  // d2 / d1 of what still converges
constexpr double k_floor = 1e-4;   // of the largest motion: what counts as no difference
constexpr double k_small = 0.05;   // of the largest motion: what may scatter
constexpr double k_scatter = 3;    // times the larger of two differences that do

struct Frames {
  std::vector<double> times;
  std::vector<Geometry> surfaces;
};

Frames frames_of(const RunData& run) {
  Frames frames;
  for (const PvdEntry& entry : run.surfaces) {
    frames.times.push_back(entry.time);
    frames.surfaces.push_back(read_geometry(entry.file));
  }
  return frames;
}

bool has_surface_of(const Frames& level, const Frames& base) {
  return level.surfaces.front().connectivity == base.surfaces.front().connectivity;
}

// Every vertex of the base's surface is one of the finer surface, too: at rest they are in one place.
std::vector<Eigen::Index> same_places(const Points& base, const Points& finer) {
  const double allowed = 1e-6 * (base.colwise().maxCoeff() - base.colwise().minCoeff()).norm();
  std::vector<Eigen::Index> places(to_size(base.rows()));
  for (Eigen::Index v = 0; v < base.rows(); ++v) {
    Eigen::Index nearest = 0;
    const double squared = (finer.rowwise() - base.row(v)).rowwise().squaredNorm().minCoeff(&nearest);
    if (!(squared <= allowed * allowed))
      throw InputError("the finer surface does not have the vertices of the coarse one");
    places[to_size(v)] = nearest;
  }
  return places;
}

// The finer surface at the vertices of the base's.
void take_vertices_of(const Frames& base, Frames& finer) {
  const Points rest = rest_positions(base.surfaces.front());
  const std::vector<Eigen::Index> places = same_places(rest, rest_positions(finer.surfaces.front()));
  const Geometry& first = base.surfaces.front();
  for (Geometry& surface : finer.surfaces) {
    Geometry coarse = first;
    coarse.points = surface.points(places, Eigen::all);
    const Points moved = coarse.points - rest;
    for (FieldArray& array : coarse.arrays) {
      if (array.name == "displacement") array.values.assign(moved.data(), moved.data() + moved.size());
    }
    surface = std::move(coarse);
  }
}

// The base's frames that every level has.
std::size_t common_frames(const std::vector<Frames>& levels) {
  std::size_t count = levels.front().times.size();
  for (const Frames& level : levels) count = std::min(count, level.times.size());
  if (count == 0) throw InputError("a run of the refinement has no frames");
  for (const Frames& level : levels) {
    const bool is_whole =
        level.surfaces.front().connectivity == levels.front().surfaces.front().connectivity &&
        level.surfaces[count - 1].connectivity == level.surfaces.front().connectivity;
    if (!is_whole)
      throw InputError("the surface does not keep its triangles: what breaks cannot be certified");
  }
  return count;
}

double largest_motion(const Frames& frames) {
  SurfaceComparison comparison(frames.surfaces.front());
  double most = 0;
  for (const Geometry& surface : frames.surfaces)
    most = std::max(most, comparison.between(surface, frames.surfaces.front()).rms);
  return most;
}

// What the levels of a ladder differ by.
struct LevelRatios {
  double fastest;  // the least d2 / d1 that is believed
  double mesh;     // n: by how much the cells of the last level are smaller
};

bool follows_accuracy(const RunData& run) {
  const Json settings = parse_json(run.record.settings.text, "run.json");
  return !settings.value("time", Json::object()).value("steps_per_frame", Json("auto")).is_number();
}

double sum_or_unknown(std::optional<double> step, double mesh) {
  return step ? *step + mesh : k_unknown;
}

// Once a frame does not converge, no later one is trusted: what was different stays different.
void spoil_the_rest(std::vector<double>& values) {
  const auto first = std::find_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  std::fill(first, values.end(), k_unknown);
}

std::vector<FrameUncertainty> surface_uncertainties(const std::vector<Frames>& levels, std::size_t count,
                                                    const LevelRatios& ratios) {
  const double motion = largest_motion(levels.front()), finer = ratios.mesh - 1;
  SurfaceComparison comparison(levels.front().surfaces.front());
  std::vector<FrameUncertainty> frames;
  double most_of_mesh = 0;
  for (std::size_t f = 0; f < count; ++f) {
    const auto between = [&](std::size_t a, std::size_t b) {
      return comparison.between(levels[a].surfaces[f], levels[b].surfaces[f]);
    };
    const SurfaceDistances d1 = between(0, 1), d2 = between(1, 2), mesh = between(1, 3);
    const auto left = [&](double first, double second) {
      return left_by_steps(first, second, motion, ratios.fastest);
    };
    const std::optional<double> rms = left(d1.rms, d2.rms), max = left(d1.max, d2.max),
                                shape = left(d1.rms_aligned, d2.rms_aligned);
    const double of_mesh = mesh.rms / finer;
    most_of_mesh = std::max(most_of_mesh, of_mesh);
    frames.push_back({levels.front().times[f], rms.value_or(k_unknown), of_mesh, sum_or_unknown(rms, of_mesh),
                      sum_or_unknown(max, mesh.max / finer),
                      sum_or_unknown(shape, mesh.rms_aligned / finer)});
  }
  if (most_of_mesh == 0 && motion > 0)
    throw InputError(
        "the finer mesh is the coarse one: its cells are limited by the surface; lower "
        "volume.max_tet_volume");
  return frames;
}

// The largest of a column, or of all three parts of a vector.
double size_of(const RunData& run, const std::string& name) {
  std::vector<std::string> parts{name};
  for (const char* axis : {"_x", "_y", "_z"}) {
    if (!name.ends_with(axis)) continue;
    const std::string base = name.substr(0, name.size() - 2);
    parts = {base + "_x", base + "_y", base + "_z"};
  }
  double size = 0;
  for (const std::string& part : parts) {
    if (run.metrics.find(part) < 0) continue;
    for (const double value : run.metrics.column(part)) {
      if (std::isfinite(value)) size = std::max(size, std::abs(value));
    }
  }
  return size;
}

// Of one column, frame by frame.
std::vector<double> metric_uncertainty(const std::vector<RunData>& runs, const std::string& name,
                                       std::size_t count, const LevelRatios& ratios) {
  std::vector<std::vector<double>> q;
  for (const RunData& run : runs) q.push_back(run.metrics.column(name));
  const double size = size_of(runs.front(), name);
  std::vector<double> values;
  for (std::size_t f = 0; f < count; ++f) {
    const std::optional<double> step =
        left_by_steps(std::abs(q[0][f] - q[1][f]), std::abs(q[1][f] - q[2][f]), size, ratios.fastest);
    values.push_back(sum_or_unknown(step, std::abs(q[1][f] - q[3][f]) / (ratios.mesh - 1)));
  }
  spoil_the_rest(values);
  return values;
}

bool is_certified_metric(const MetricName& column) {
  static const std::vector<std::string> k_bookkeeping{
      "frame", "time", "steps", "iterations", "wall_time", "real_time_factor", "residual", "smallest_gap"};
  return !column.name.starts_with("time_") &&
         std::find(k_bookkeeping.begin(), k_bookkeeping.end(), column.name) == k_bookkeeping.end();
}

// From when on what does not converge, in words.
std::vector<std::string> remarks_of(const MetricsTable& uncertainty) {
  std::vector<std::string> remarks;
  for (std::size_t c = 2; c < uncertainty.columns.size(); ++c) {
    for (const auto& row : uncertainty.rows) {
      if (!std::isnan(row[c])) continue;
      remarks.push_back(
          fmt::format("{} does not converge from {:.3g} s on", uncertainty.columns[c].name, row[1]));
      break;
    }
  }
  return remarks;
}

// Frame, time and what is known of the surface.
MetricsTable surface_table(const std::vector<FrameUncertainty>& frames) {
  MetricsTable table;
  table.columns = {
      {"frame", ""}, {"time", "s"}, {"surface_rms", "m"}, {"surface_max", "m"}, {"surface_rms_aligned", "m"}};
  std::vector<double> rms, max, shape;
  for (const FrameUncertainty& frame : frames) {
    rms.push_back(frame.total_rms);
    max.push_back(frame.total_max);
    shape.push_back(frame.total_shape);
  }
  spoil_the_rest(rms);
  spoil_the_rest(max);
  spoil_the_rest(shape);
  for (std::size_t f = 0; f < frames.size(); ++f)
    table.rows.push_back({static_cast<double>(f), frames[f].time, rms[f], max[f], shape[f]});
  return table;
}

MetricsTable uncertainty_table(const std::vector<RunData>& runs, const std::vector<FrameUncertainty>& frames,
                               const LevelRatios& ratios) {
  MetricsTable table = surface_table(frames);
  for (const MetricName& column : runs.front().metrics.columns) {
    const bool is_everywhere = std::all_of(runs.begin(), runs.end(), [&](const RunData& run) {
      return run.metrics.find(column.name) >= 0 && run.metrics.rows.size() >= frames.size();
    });
    if (!is_certified_metric(column) || !is_everywhere) continue;
    const std::vector<double> known = runs.front().metrics.column(column.name);
    if (std::none_of(known.begin(), known.end(), [](double value) { return std::isfinite(value); })) continue;
    table.columns.push_back(column);
    const std::vector<double> values = metric_uncertainty(runs, column.name, frames.size(), ratios);
    for (std::size_t f = 0; f < frames.size(); ++f) table.rows[f].push_back(values[f]);
  }
  return table;
}

MovingGeometry moving(const std::vector<Geometry>& frames, std::size_t count) {
  MovingGeometry result;
  result.first = frames.front();
  for (std::size_t f = 0; f < count; ++f) result.frames.push_back(frames[f].points);
  return result;
}

std::vector<Geometry> obstacle_frames(const RunData& run) {
  std::vector<Geometry> frames;
  for (const PvdEntry& entry : run.obstacles) frames.push_back(read_geometry(entry.file));
  return frames;
}

MetricsTable first_rows(const MetricsTable& table, std::size_t count) {
  MetricsTable cut = table;
  cut.rows.resize(std::min(cut.rows.size(), count));
  return cut;
}

}  // namespace

std::optional<double> left_after_middle(double first_difference, double second_difference, double floor,
                                        double fastest) {
  if (!std::isfinite(first_difference) || !std::isfinite(second_difference)) return std::nullopt;
  if (second_difference <= floor) return second_difference;
  if (second_difference > k_slowest * first_difference) return std::nullopt;
  const double ratio = std::max(fastest, second_difference / first_difference);
  return second_difference / (1 - ratio);
}

std::optional<double> left_by_steps(double first_difference, double second_difference, double size,
                                    double fastest) {
  const std::optional<double> left =
      left_after_middle(first_difference, second_difference, k_floor * size, fastest);
  const double larger = std::max(first_difference, second_difference);
  if (left || !(larger <= k_small * size)) return left;
  return k_scatter * larger;
}

namespace {

std::vector<Setting> finer_sheets(const Json& scene) {
  std::vector<Setting> settings;
  const Json bodies = scene.value("bodies", Json::array());
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Json surface = bodies[b].value("surface", Json::object());
    if (!surface.contains("sheet")) continue;
    for (const char* axis : {"resolution_x", "resolution_z"}) {
      if (surface["sheet"].contains(axis))
        settings.push_back({fmt::format("bodies[{}].surface.sheet.{}", b, axis),
                            std::to_string(k_finer_sheet * surface["sheet"][axis].get<int>())});
    }
  }
  return settings;
}

}  // namespace

std::vector<RefinementLevel> refinement_ladder(const Json& scene) {
  const Json time = scene.value("time", Json::object());
  const Json steps = time.value("steps_per_frame", Json("auto"));
  const auto finer_steps = [&](int factor) -> Setting {
    if (steps.is_number()) return {"time.steps_per_frame", std::to_string(steps.get<int>() * factor)};
    const double accuracy = time.value("accuracy", TimeSettings().accuracy);
    return {"time.accuracy", fmt::format("{:g}", accuracy / (factor * factor))};
  };
  std::vector<RefinementLevel> levels{
      {"base", {}}, {"step-2", {finer_steps(2)}}, {"step-4", {finer_steps(4)}}};
  RefinementLevel mesh{"mesh", {finer_steps(2)}};
  for (const Setting& setting : finer_volumes(scene, k_finer_mesh)) mesh.settings.push_back(setting);
  for (const Setting& setting : finer_sheets(scene)) mesh.settings.push_back(setting);
  if (mesh.settings.size() == 1)
    throw InputError(
        "the scene's bodies need \"volume\": {\"grid\"}, {\"max_tet_volume\"} or {\"cage_cell\"}, or a "
        "sheet, to be refined");
  levels.push_back(std::move(mesh));
  return levels;
}

Certificate certify(const std::vector<RunData>& runs) {
  std::vector<Frames> levels;
  for (const RunData& run : runs) {
    if (!run.is_done())
      throw InputError(
          fmt::format("the run '{}' did not come to its end: {}", run.plan.name, run.record.message));
    levels.push_back(frames_of(run));
  }
  const bool is_sheet = !has_surface_of(levels.back(), levels.front());
  if (is_sheet) take_vertices_of(levels.front(), levels.back());
  const LevelRatios ratios{follows_accuracy(runs.front()) ? k_fastest_of_accuracy : k_fastest_of_halves,
                           is_sheet ? k_finer_sheet : k_finer_mesh};
  const std::size_t count = common_frames(levels);
  Certificate certificate;
  certificate.frames = surface_uncertainties(levels, count, ratios);
  const RunData& fine = runs.back();
  ReferenceFile& file = certificate.file;
  file.method = fine.record.method;
  file.title = fine.record.title;
  file.version = fine.record.version;
  file.content_key = fine.record.content_key;
  file.settings = runs.front().record.settings.text;
  file.wall_time = fine.record.wall_time.value_or(0);
  file.times.assign(levels.back().times.begin(),
                    levels.back().times.begin() + static_cast<std::ptrdiff_t>(count));
  file.rest = rest_positions(levels.back().surfaces.front());
  file.surface = moving(levels.back().surfaces, count);
  const std::vector<Geometry> obstacles = obstacle_frames(fine);
  if (obstacles.size() >= count) file.obstacles = moving(obstacles, count);
  file.metrics = first_rows(fine.metrics, count);
  file.uncertainty = uncertainty_table(runs, certificate.frames, ratios);
  file.remarks = remarks_of(file.uncertainty);
  return certificate;
}

}  // namespace exemplar
