// A finished (or failed) run as its directory tells it: run.json, metrics.csv and the written frames.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/study.h"
#include "core/output/fields.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"

namespace exemplar {

struct RunData {
  PlannedRun plan;
  std::filesystem::path directory;
  std::string status = "missing";  // done, failed, interrupted, running, missing
  std::string message;             // why it failed
  double wall_time = k_unknown, real_time_factor = k_unknown, peak_memory = k_unknown;  // s, –, MB
  double simulated_time = k_unknown;                                                    // s
  int frames = 0, steps = 0, iterations = 0, threads = 0;
  std::string version;
  std::vector<std::string> notes, not_modelled, warnings;
  std::vector<std::pair<std::string, double>> phases;  // s
  MetricsTable metrics;
  std::vector<PvdEntry> surfaces, obstacles;  // by time
  std::string settings_json;                  // after defaults

  bool has_frames() const { return !surfaces.empty(); }
};

// Never throws for what is missing or damaged: the status and message say it.
RunData read_run(const PlannedRun& plan, const std::filesystem::path& directory);

// The entry whose time is within half a frame of `time`; nullptr when there is none.
const PvdEntry* entry_at(const std::vector<PvdEntry>& entries, double time);

}  // namespace exemplar
