#include "core/scene/runs/run_record.h"

#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/scene/json.h"

namespace exemplar {

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::missing:
      return "missing";
    case RunStatus::waiting:
      return "waiting";
    case RunStatus::running:
      return "running";
    case RunStatus::done:
      return "done";
    case RunStatus::interrupted:
      return "interrupted";
    case RunStatus::failed:
      return "failed";
  }
  return "failed";
}

void describe(Describe<Note>& d) {
  d.name("note");
  d.choice("severity", &Note::severity, {{"note", Severity::note}, {"warning", Severity::warning}},
           "warning: to be known before the result is trusted");
  d.field("text", &Note::text, "", "what is to be told").required();
  d.shorthand("text");
}

void describe(Describe<RunRecord>& d) {
  d.name("run");
  d.field("program", &RunRecord::program, "", "the program that ran");
  d.field("version", &RunRecord::version, "", "its version");
  d.field("method", &RunRecord::method, "", "the method");
  d.field("scene", &RunRecord::scene, "", "the scene's path as it was given");
  d.field("title", &RunRecord::title, "", "the scene's title");
  d.field("assignments", &RunRecord::assignments, "", "what was changed in the scene with --set");
  d.field("content_key", &RunRecord::content_key, "", "of everything that determines the result");
  d.field("threads", &RunRecord::threads, "", "threads of the method", non_negative());
  d.field("blas_threads", &RunRecord::blas_threads, "", "threads inside factorisations", non_negative());
  d.field("not_modelled", &RunRecord::not_modelled, "", "what of the scene the method leaves out");
  d.field("notes", &RunRecord::notes, "", "what was derived, chosen or repaired");
  d.choice("status", &RunRecord::status,
           {{"running", RunStatus::running},
            {"done", RunStatus::done},
            {"interrupted", RunStatus::interrupted},
            {"failed", RunStatus::failed}},
           "how far it came");
  d.field("message", &RunRecord::message, "", "why it did not end as it should");
  d.field("frames", &RunRecord::frames, "", "the last frame written", non_negative());
  d.field("simulated_time", &RunRecord::simulated_time, "s", "of the last frame");
  d.field("steps", &RunRecord::steps, "", "time steps, sub-steps included", non_negative());
  d.field("iterations", &RunRecord::iterations, "", "iterations of the solver", non_negative());
  d.field("setup_time", &RunRecord::setup_time, "s",
          "before the first step: reading, meshing, the method's own");
  d.field("wall_time", &RunRecord::wall_time, "s", "spent in the simulation's steps");
  d.field("real_time_factor", &RunRecord::real_time_factor, "", "simulated time over wall time");
  d.field("peak_memory_MB", &RunRecord::peak_memory, "MB", "most memory in use");
  d.field("worst_penetration", &RunRecord::worst_penetration, "m", "deepest of all frames");
  d.field("phases", &RunRecord::phases, "s", "wall time of the method's phases");
  d.field("writer_time", &RunRecord::writer_time, "s", "of the thread that writes frames");
  d.field("final_metrics", &RunRecord::final_metrics, "", "the last row of metrics.csv");
  d.field("settings", &RunRecord::settings, "", "the scene after defaults, with the method's settings");
}

void write_run_record(const std::filesystem::path& directory, const RunRecord& record) {
  const Json json = write_object(description_of<RunRecord>(), &record);
  write_file_atomically(directory / "run.json",
                        json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& directory) {
  const std::string path = (directory / "run.json").string();
  RunRecord record;
  std::vector<Problem> problems;
  read_object(read_json_file(path), description_of<RunRecord>(), &record, "", problems);
  for (Problem& problem : problems) problem.file = path;
  if (!problems.empty()) throw InputError(problems);
  return record;
}

std::optional<RunRecord> find_run_record(const std::filesystem::path& directory) {
  try {
    RunRecord record = read_run_record(directory);
    return record.status == RunStatus::missing ? std::nullopt : std::optional(std::move(record));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace exemplar
