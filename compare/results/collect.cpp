#include "compare/results/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/results/cards.h"
#include "compare/results/plausibility.h"
#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/output/geometry_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Okabe and Ito's colours and four of Tol's muted ones: told apart by colour-blind readers, dark enough on
// white.
const std::vector<std::string> k_palette{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                         "#332288", "#882255", "#999933", "#666666", "#117733", "#aa4499"};

// A series gets its method's colour (the method's place among all methods); further series of the same method
// get what is free.
std::map<std::string, std::string> colours_of(const Study& study, const std::vector<std::string>& methods) {
  std::vector<std::pair<std::string, std::string>> series;  // name, method
  for (const PlannedRun& run : study.runs) {
    const std::pair<std::string, std::string> item{run.series, run.method};
    if (std::find(series.begin(), series.end(), item) == series.end()) series.push_back(item);
  }
  std::map<std::string, std::string> colours;
  std::vector<bool> used(k_palette.size(), false);
  for (const auto& [name, method] : series) {
    const auto place =
        static_cast<std::size_t>(std::find(methods.begin(), methods.end(), method) - methods.begin());
    if (used[place % k_palette.size()]) continue;
    used[place % k_palette.size()] = true;
    colours[name] = k_palette[place % k_palette.size()];
  }
  for (const auto& [name, method] : series) {
    if (colours.count(name)) continue;
    const auto unused = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
    if (unused < used.size()) used[unused] = true;
    colours[name] = k_palette[unused % k_palette.size()];
  }
  return colours;
}

// Every frame of a run's surface; the frames before the first that cannot be read.
std::vector<Geometry> read_surfaces(RunData& run) {
  std::vector<Geometry> surfaces(run.surfaces.size());
  std::vector<std::string> problems(run.surfaces.size());
  parallel_for(
      surfaces.size(),
      [&](std::size_t i) {
        try {
          surfaces[i] = read_geometry(run.surfaces[i].file);
        } catch (const InputError& error) {
          problems[i] = error.what();
        }
      },
      4);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (problems[i].empty()) continue;
    run.warn("frames from " + std::to_string(i) + " on are left out: " + problems[i]);
    surfaces.resize(i);
    run.surfaces.resize(i);
    break;
  }
  return surfaces;
}

// Leaves out `share` of the points on each side of each axis.
Box bounds_of(const std::vector<Geometry>& surfaces, double share) {
  Box bounds;
  for (const Geometry& surface : surfaces) {
    const Eigen::Index count = surface.points.rows();
    if (count == 0 || !surface.points.allFinite()) continue;
    const auto skipped = static_cast<std::ptrdiff_t>(share * static_cast<double>(count));
    Vec3 low, high;
    for (int axis = 0; axis < 3; ++axis) {
      VecX values = surface.points.col(axis);
      std::sort(values.begin(), values.end());
      low[axis] = values[skipped];
      high[axis] = values[count - 1 - skipped];
    }
    bounds.extend(low);
    bounds.extend(high);
  }
  return bounds;
}

// Both boxes of a run.
void set_bounds(ComparedRun& run, const std::vector<Geometry>& surfaces) {
  run.bounds = bounds_of(surfaces, 0);
  run.view = bounds_of(surfaces, 0.02);
}

// Of the row nearest in time.
SurfaceUncertainty uncertainty_at(const MetricsTable& table, double time) {
  const std::vector<double> times = table.column("time");
  // Files of the first kind do not know the shape alone: it is known at least as well as the place.
  const char* shape = table.find("surface_rms_aligned") < 0 ? "surface_rms" : "surface_rms_aligned";
  SurfaceUncertainty nearest;
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (std::abs(times[i] - time) >= gap) continue;
    gap = std::abs(times[i] - time);
    nearest = {table.column("surface_rms")[i], table.column("surface_max")[i], table.column(shape)[i]};
  }
  return nearest;
}

void add_distances(ComparedRun& run, const std::vector<Geometry>& surfaces, const ComparedRun& reference,
                   const std::vector<Geometry>& reference_surfaces) {
  if (surfaces.empty() || reference_surfaces.empty()) return;
  SurfaceComparison comparison(reference_surfaces.front());
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    const double time = run.data.surfaces[i].time;
    const PvdEntry* same_time = entry_at(reference.data.surfaces, time);
    if (!same_time || !surfaces[i].points.allFinite()) continue;
    const auto j = static_cast<std::size_t>(same_time - reference.data.surfaces.data());
    run.times.push_back(time);
    run.distances.push_back(comparison.between(surfaces[i], reference_surfaces[j]));
    if (!reference.data.uncertainty.columns.empty())
      run.uncertainties.push_back(uncertainty_at(reference.data.uncertainty, time));
  }
}

void add_shape_change(ComparedRun& run, const std::vector<Geometry>& surfaces) {
  if (surfaces.empty() || !surfaces.front().points.allFinite()) return;
  SurfaceComparison comparison(surfaces.front());
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    if (!surfaces[i].points.allFinite()) continue;
    run.change_times.push_back(run.data.surfaces[i].time);
    const SurfaceDistances change = comparison.between(surfaces[i], surfaces.front());
    run.shape_change.push_back(change.rms_aligned);
    run.displacement.push_back(change.rms);
  }
}

// From dark (0) to light (1) in the same hue.
std::string shade(const std::string& colour, double light) {
  std::string text = "#";
  for (std::size_t k = 1; k < 7; k += 2) {
    const double value = std::stoi(colour.substr(k, 2), nullptr, 16);
    const double mixed = light < 0.5 ? value * (0.6 + 0.8 * light) : value + (220 - value) * (light - 0.5);
    text += fmt::format("{:02x}", static_cast<int>(std::lround(std::clamp(mixed, 0.0, 255.0))));
  }
  return text;
}

// Runs of one series (a sweep) are told apart by the shade of its colour.
void shade_sweeps(std::vector<ComparedRun>& runs) {
  std::map<int, int> count, seen;
  for (const ComparedRun& run : runs) ++count[run.series];
  for (ComparedRun& run : runs) {
    const int place = seen[run.series]++;
    if (count[run.series] > 1)
      run.colour = shade(run.colour, static_cast<double>(place) / (count[run.series] - 1));
  }
}

RunData run_without_record(const PlannedRun& plan, const fs::path& directory) {
  RunData run;
  run.plan = plan;
  run.directory = directory;
  const std::string error = last_error(directory / "log.txt");
  run.record.status = error.empty() ? RunStatus::waiting : RunStatus::failed;
  run.record.message = error.empty() ? "it has not begun yet" : error;
  return run;
}

void read_runs(Comparison& comparison, const std::vector<std::string>& methods,
               const std::set<std::string>& waiting) {
  const std::map<std::string, std::string> colours = colours_of(comparison.study, methods);
  std::vector<std::string> series;
  for (const PlannedRun& plan : comparison.study.runs) {
    ComparedRun run;
    const fs::path directory = comparison.directory / plan.directory;
    run.data =
        waiting.count(plan.directory) ? run_without_record(plan, directory) : read_run(plan, directory);
    run.colour = colours.at(plan.series);
    if (std::find(series.begin(), series.end(), plan.series) == series.end()) series.push_back(plan.series);
    run.series = static_cast<int>(std::find(series.begin(), series.end(), plan.series) - series.begin());
    comparison.runs.push_back(std::move(run));
  }
  shade_sweeps(comparison.runs);
}

void add_doubts(ComparedRun& run, const std::vector<Geometry>& surfaces) {
  for (const Doubt& doubt : find_doubts(run.data, surfaces.front(), surfaces.back())) {
    run.doubts.push_back(doubt.text);
    run.cures.push_back(doubt.cure);
  }
}

// The runs are taken reference by reference, so that only two runs' frames are in memory.
void compare_with_reference(Comparison& comparison, std::size_t r) {
  ComparedRun& reference = comparison.runs[r];
  const std::vector<Geometry> truth = read_surfaces(reference.data);
  for (ComparedRun& run : comparison.runs) {
    if (reference_of(comparison.study, run.data.plan) == nullptr ||
        reference_of(comparison.study, run.data.plan)->name != reference.data.plan.name)
      continue;
    run.reference = reference.data.plan.name;
    // A certified reference was made elsewhere, at another time: its cost is no measure.
    if (run.data.is_done() && reference.data.plan.file.empty())
      run.cost_ratio = run.wall_time() / reference.wall_time();
    const bool itself = &run == &reference;
    const std::vector<Geometry> surfaces = itself ? truth : read_surfaces(run.data);
    set_bounds(run, surfaces);
    if (!surfaces.empty()) add_doubts(run, surfaces);
    try {
      add_shape_change(run, surfaces);
      add_distances(run, surfaces, reference, truth);
    } catch (const InputError& error) {
      run.data.warn(std::string("not compared with the reference: ") + error.what());
    }
  }
}

}  // namespace

const SurfaceDistances* ComparedRun::final_distances() const {
  return data.is_done() && !distances.empty() ? &distances.back() : nullptr;
}

SurfaceUncertainty ComparedRun::final_uncertainty() const {
  return uncertainties.empty() ? SurfaceUncertainty{0, 0, 0} : uncertainties.back();
}

double ComparedRun::worst_rms() const {
  if (!final_distances()) return k_unknown;
  double worst = 0;
  for (const SurfaceDistances& d : distances) worst = std::max(worst, d.rms);
  return worst;
}

double ComparedRun::final_change() const {
  return data.is_done() && !shape_change.empty() ? shape_change.back() : k_unknown;
}

double ComparedRun::largest_change() const {
  if (!data.is_done() || shape_change.empty()) return k_unknown;
  return *std::max_element(shape_change.begin(), shape_change.end());
}

double ComparedRun::largest_displacement() const {
  if (!data.is_done() || displacement.empty()) return k_unknown;
  return *std::max_element(displacement.begin(), displacement.end());
}

bool Comparison::all_done() const {
  return std::all_of(runs.begin(), runs.end(), [](const ComparedRun& r) { return r.data.is_done(); });
}

const std::string& method_colour(std::size_t place) {
  return k_palette[place % k_palette.size()];
}

Comparison collect(const Study& study, const fs::path& directory, const std::vector<std::string>& methods,
                   const std::set<std::string>& waiting) {
  Comparison comparison;
  comparison.study = study;
  comparison.directory = directory;
  read_runs(comparison, methods, waiting);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    if (comparison.runs[i].data.plan.reference) compare_with_reference(comparison, i);
  }
  for (const ComparedRun& run : comparison.runs) {
    comparison.bounds.extend(run.bounds);
    comparison.view.extend(run.view);
  }
  rank_runs(comparison);
  return comparison;
}

std::string length_text(double metres) {
  if (!std::isfinite(metres)) return "–";
  const double size = std::abs(metres);
  if (size < 1e-12) return "0";
  if (size < 1e-6) return fmt::format("{:.1e} m", metres);
  if (size < 1e-3) return fmt::format("{:.3g} µm", metres * 1e6);
  if (size < 1) return fmt::format("{:.3g} mm", metres * 1e3);
  return fmt::format("{:.3g} m", metres);
}

std::string distance_text(double metres, double uncertainty) {
  return metres <= uncertainty && uncertainty > 0 ? "≤ " + length_text(uncertainty) : length_text(metres);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

std::vector<std::vector<std::string>> summary_table(const Comparison& comparison) {
  auto number = [](double value, const char* format) {
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("–");
  };
  std::vector<std::vector<std::string>> rows{{"run", "status", "distance to the reference",
                                              "same, shape only", "set-up", "wall time", "output",
                                              "× real time", "memory", "doubts"}};
  for (const ComparedRun& run : comparison.runs) {
    const SurfaceDistances* last = run.final_distances();
    const bool itself = run.reference == run.data.plan.name;
    rows.push_back(
        {run.data.plan.name, std::string(to_string(run.data.record.status)),
         itself && run.data.is_done()
             ? "is the reference"
             : distance_text(last ? last->rms : k_unknown, run.final_uncertainty().rms),
         itself ? ""
                : distance_text(last ? last->rms_aligned : k_unknown, run.final_uncertainty().rms_aligned),
         duration_text(run.data.record.setup_time.value_or(k_unknown)), duration_text(run.wall_time()),
         duration_text(run.data.record.writer_time.value_or(k_unknown)),
         number(run.data.record.real_time_factor.value_or(k_unknown), "{:.3g}"),
         number(run.data.record.peak_memory.value_or(k_unknown), "{:.0f} MB"),
         fmt::format("{}", fmt::join(run.doubts, "; "))});
  }
  return rows;
}

}  // namespace exemplar
