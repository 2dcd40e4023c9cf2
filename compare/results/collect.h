// From finished runs to one comparison: distances to the reference, costs and final metrics in one place.
//
// comparison.csv: one row per run. comparison.json: the same with units spelled out, and the distances of
// every frame. All SI.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compare/results/run_data.h"
#include "compare/results/surface_distance.h"
#include "compare/study/study.h"
#include "core/mesh/bvh.h"

namespace exemplar {

struct SurfaceUncertainty {
  double rms = k_unknown, max = k_unknown;  // m
  double rms_aligned = k_unknown;           // of the shape alone
};

struct ComparedRun {
  RunData data;
  std::string colour;         // #rrggbb, one a series
  int series = 0;             // index among the study's series
  std::string reference;      // name of the run it was measured against; empty: none
  std::vector<double> times;  // s, of the frames that both have
  std::vector<SurfaceDistances> distances;
  // Of the reference at the same frames: distances below it say nothing. Empty without a certified reference; NaN where
  // the reference does not converge.
  std::vector<SurfaceUncertainty> uncertainties;
  // Of every frame: how far its shape is from that of the first frame (RMS after the best rigid motion), m.
  std::vector<double> change_times, shape_change;
  std::vector<double> displacement;  // the same before alignment, m
  double cost_ratio = k_unknown;     // wall time over the reference's
  std::vector<std::string> doubts;   // plausibility.h
  std::vector<std::string> cures;    // what to do about each
  std::string not_ranked;            // why (cards.h); empty: it is ranked
  Box bounds;                        // of the surface over all frames, m
  Box view;  // the same without the outermost points: loose splinters are not looked at

  // Of the last frame and over all frames; nothing for a run that did not come to its end: its numbers would
  // look better than those of the others.
  const SurfaceDistances* final_distances() const;
  // Of the reference at the last frame; 0 where it is not known.
  SurfaceUncertainty final_uncertainty() const;
  double worst_rms() const;
  double final_change() const;
  double largest_change() const;
  double largest_displacement() const;
  bool is_reference() const { return !reference.empty() && reference == data.plan.name; }
  double wall_time() const { return data.record.wall_time.value_or(k_unknown); }
};

// The colour of the method at this place among all methods, the same on every page: "#0072b2".
const std::string& method_colour(std::size_t place);

struct Comparison {
  Study study;
  std::filesystem::path directory;
  std::vector<ComparedRun> runs;
  Box bounds, view;  // of all runs

  bool all_done() const;
};

// Reads every run of the study below `directory`. `methods`: names of all methods, in the order that gives
// each its colour in every report. `waiting`: directories of runs that have not begun; what is there is an earlier run's.
Comparison collect(const Study& study, const std::filesystem::path& directory,
                   const std::vector<std::string>& methods, const std::set<std::string>& waiting = {});

void write_comparison_csv(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);
void write_comparison_json(const Comparison& comparison);

// Rows of the table that is printed at the end; the first is the header.
std::vector<std::vector<std::string>> summary_table(const Comparison& comparison);

// A distance beside the uncertainty of what it is measured against: "≤ 2 mm" when it is below.
std::string distance_text(double metres, double uncertainty);

// "0.0123 m" as "12.3 mm", "95.2 s" as "1.6 min": what a person reads at a glance.
std::string length_text(double metres);
std::string duration_text(double seconds);

}  // namespace exemplar
