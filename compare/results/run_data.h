// A finished (or failed) run as its directory tells it: run.json, metrics.csv and the written frames.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/study/study.h"
#include "core/output/fields.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/runs/run_record.h"

namespace exemplar {

struct RunData {
  PlannedRun plan;
  std::filesystem::path directory;
  RunRecord record;  // its notes also tell what the metrics and frames show
  MetricsTable metrics;
  std::vector<PvdEntry> surfaces, obstacles;  // by time

  bool has_frames() const { return !surfaces.empty(); }
  bool is_done() const { return record.status == RunStatus::done; }
  std::vector<std::string> notes(Severity severity) const;
  void warn(std::string text) { record.notes.push_back({Severity::warning, std::move(text)}); }
};

// Never throws for what is missing or damaged: the status and message say it.
RunData read_run(const PlannedRun& plan, const std::filesystem::path& directory);

// The entry whose time is within half a frame of `time`; nullptr when there is none.
const PvdEntry* entry_at(const std::vector<PvdEntry>& entries, double time);

// What a log says went wrong; for runs that ended before they wrote run.json.
std::string last_error(const std::filesystem::path& log);

}  // namespace exemplar
