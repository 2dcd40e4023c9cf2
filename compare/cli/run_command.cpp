// exemplar run: one scene, one method → a run directory.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "compare/cli/commands.h"
#include "compare/cli/interrupt.h"
#include "compare/study/study.h"
#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/phase.h"
#include "core/base/stopwatch.h"
#include "core/output/atomic_file.h"
#include "core/output/directory_lock.h"
#include "core/output/frame_writer.h"
#include "core/output/geometry_file.h"
#include "core/output/manifest.h"
#include "core/output/metrics_file.h"
#include "core/run/body_separation.h"
#include "core/run/example_shapes.h"
#include "core/run/run_directory.h"
#include "core/scene/checks/start_check.h"
#include "core/scene/files/json_text.h"
#include "core/sparse/cholesky.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

std::string default_method(const Registry& registry) {
  return registry.find("fem") ? "fem" : registry.methods().at(0).name;
}

RunRecord make_record(const RunArguments& arguments, const SceneFile& file, const MethodInfo& info,
                      const Scene& scene, const Method& method) {
  RunRecord record;
  record.method = info.name;
  record.version = program_version();
  record.scene = arguments.scene;
  record.title = file.settings.title;
  record.settings.text = write_scene(file, info.name).dump();
  record.content_key = content_key(file, info.name);
  record.threads = thread_count();
  record.blas_threads = arguments.blas_threads;
  record.not_modelled = not_modelled(scene, info.capabilities);
  record.notes = scene_warnings(scene);
  for (const Body& body : scene.bodies) {
    const Notes own = body.notes();
    record.notes.insert(record.notes.end(), own.begin(), own.end());
  }
  const Notes notes = method.notes();
  record.notes.insert(record.notes.end(), notes.begin(), notes.end());
  return record;
}

[[noreturn]] void refuse_other_run(const std::string& output) {
  throw InputError(
      output +
      " holds a run of another method, or with other settings or files; leave out --resume, or choose "
      "another -o");
}

void refuse_study(const std::string& path) {
  if (is_study(read_json_file(path)))
    throw InputError(Problem{path, "", "is a study: `exemplar compare " + path + "` runs it"});
}

void tell(std::span<const Note> notes, const Terminal& terminal) {
  for (const Note& note : notes) {
    if (note.severity == Severity::warning) {
      terminal.warn(note.text);
    } else {
      terminal.note(note.text);
    }
  }
}

void tell_notes(const RunRecord& record, const Terminal& terminal) {
  tell(record.notes, terminal);
  for (const std::string& missing : record.not_modelled) terminal.note("not modelled: " + missing);
}

MetricsTable read_metrics_if_any(const fs::path& path) {
  try {
    return read_metrics(path, AtDamage::stop);
  } catch (const InputError&) {
    return {};
  }
}

// Frames 0 … last with their rows of the table: the first that is missing or damaged.
std::optional<FrameDamage> find_run_damage(const fs::path& output, int last) {
  std::optional<FrameDamage> damage = find_damage(output, last);
  const int end = damage ? damage->frame : last + 1;
  const MetricsTable table = read_metrics_if_any(output / "metrics.csv");
  for (int frame = 0; frame < end; ++frame) {
    const auto row = static_cast<std::size_t>(frame);
    if (row < table.rows.size() && table.rows[row][0] == frame) continue;
    return FrameDamage{frame, fmt::format("metrics.csv has no row of frame {}", frame)};
  }
  return damage;
}

struct Totals {
  ResumePoint sums;
  double wall_time = 0;  // s
};

// Sums over the frames up to this one, as the table has them.
Totals totals_until(const MetricsTable& table, int frame) {
  auto cell = [&](const std::vector<double>& row, const char* name) {
    const int column = table.find(name);
    return column < 0 ? k_unknown : row[static_cast<std::size_t>(column)];
  };
  Totals totals;
  for (const std::vector<double>& row : table.rows) {
    if (static_cast<int>(row[0]) > frame) break;
    if (const double wall = cell(row, "wall_time"); std::isfinite(wall)) totals.wall_time = wall;
    totals.sums.steps += static_cast<int>(cell(row, "steps"));
    totals.sums.iterations += static_cast<int>(cell(row, "iterations"));
    totals.sums.worst_penetration =
        std::fmax(totals.sums.worst_penetration, cell(row, "deepest_penetration"));
  }
  return totals;
}

// The newest checkpoint before anything that is damaged.
std::optional<Checkpoint> find_checkpoint(const fs::path& output, const Terminal& terminal) {
  LoadedCheckpoint loaded = load_latest_checkpoint(output / "checkpoints");
  for (const std::string& damaged : loaded.damaged) terminal.warn(damaged);
  if (!loaded.checkpoint) return std::nullopt;
  const std::optional<FrameDamage> damage = find_run_damage(output, loaded.checkpoint->frame);
  if (!damage) return loaded.checkpoint;
  loaded = load_latest_checkpoint(output / "checkpoints", damage->frame);
  terminal.warn(
      fmt::format("{}: made again from {}", damage->what,
                  loaded.checkpoint ? fmt::format("frame {}", loaded.checkpoint->frame) : "the start"));
  return loaded.checkpoint;
}

// Loads a checkpoint; none: from the start.
std::optional<ResumePoint> load_resume_point(const fs::path& output, const RunRecord& record, LiveRun& run,
                                             const Terminal& terminal) {
  const std::optional<Checkpoint> checkpoint = find_checkpoint(output, terminal);
  if (!checkpoint) return std::nullopt;
  if (checkpoint->content_key != record.content_key) refuse_other_run(output.string());
  MetricsTable table = read_metrics(output / "metrics.csv", AtDamage::stop);
  table.join(read_metrics_if_any(output / "timings.csv"));
  const Totals totals = totals_until(table, checkpoint->frame);
  run.resume(checkpoint->frame, totals.wall_time, checkpoint->arrays);
  return totals.sums;
}

// By the metric's name or its title.
std::optional<double> value_of(const FrameMetrics& frame, const std::string& metric) {
  for (const Metric& m : metrics_of(frame)) {
    if (m.name == metric || m.title() == metric) return m.value;
  }
  return std::nullopt;
}

// "metric: measured, expected ± margin" for each of the scene's expectations of this method; true if all
// hold.
bool compare_with_expectations(const SceneFile& file, const std::string& method, const FrameMetrics& last,
                               const Terminal& terminal) {
  bool all_hold = true;
  for (const ExpectSettings& expect : file.settings.expect) {
    if (expect.method != method) continue;
    const double measured = value_of(last, expect.metric).value_or(k_unknown);
    const bool holds = std::abs(measured - expect.value) <= expect.margin;
    all_hold = all_hold && holds;
    terminal.say(fmt::format("{} {}: {:.6g}, expected {:.6g} ± {:.3g}", holds ? "ok    " : "DIFFERS",
                             expect.metric, measured, expect.value, expect.margin));
  }
  return all_hold;
}

// Replaces the value of every expectation of this method in the scene file, in place, keeping comments and
// layout.
void rewrite_expectations(const SceneFile& file, const std::string& method, const FrameMetrics& last) {
  std::string text = file_bytes(file.path);
  Json wanted = parse_json(text, file.path);
  for (std::size_t i = 0; i < file.settings.expect.size(); ++i) {
    const ExpectSettings& expect = file.settings.expect[i];
    const std::optional<double> measured = value_of(last, expect.metric);
    const std::optional<TextSpan> span = find_value(text, {"expect", std::to_string(i), "value"});
    if (expect.method != method || !measured || !span) continue;
    const std::string value = std::isfinite(*measured) ? fmt::format("{:.6g}", *measured) : "null";
    text.replace(span->begin, span->end - span->begin, value);
    wanted["expect"][i]["value"] = Json::parse(value);
  }
  if (parse_json(text, file.path) != wanted)
    throw OutputError(file.path, "the expectations could not be found in the text");
  write_file_atomically(file.path, text);
}

int exit_code_of(Status status) {
  if (status == Status::ok) return k_exit_done;
  return status == Status::interrupted ? k_exit_interrupted : k_exit_cannot_go_on;
}

void tell_outcome(const RunSummary& summary, const std::string& output, const Terminal& terminal) {
  if (summary.status == Status::failed) {
    terminal.error(fmt::format("the simulation could not go on after t = {:.6g} s: {}", summary.last.time,
                               summary.message));
    terminal.error(
        summary.output_failed
            ? fmt::format("frames up to {} are kept in {}; go on with --resume", summary.last_frame, output)
            : fmt::format("frames up to {} and a checkpoint are kept in {}", summary.last_frame, output));
  } else if (summary.status == Status::interrupted) {
    terminal.note(fmt::format("interrupted after frame {}; go on with --resume", summary.last_frame));
  } else {
    terminal.say(fmt::format("{} frames in {:.3g} s ({:.3g} × real time): {}", summary.last_frame,
                             summary.wall_time, summary.last.time / std::max(summary.wall_time, 1e-9),
                             output));
  }
}

// What an earlier run in the directory left to do; frames that are there are never made shorter.
bool is_complete(const std::string& output, const std::string& key, int frames) {
  const std::optional<RunRecord> earlier = find_run_record(output);
  if (!earlier) return false;
  if (earlier->content_key != key) refuse_other_run(output);
  return earlier->status == RunStatus::done && earlier->frames >= frames &&
         !find_run_damage(output, earlier->frames);
}

// Other methods do not make the poses: some take a volume or a solve.
void write_example_shapes(const fs::path& output, const Scene& scene, const Capabilities& capabilities) {
  if (!capabilities.elastic_examples && !capabilities.plastic_examples) return;
  const Geometry shapes = example_shapes(scene);
  if (shapes.points.rows() > 0) write_geometry(output / "examples.vtp", shapes, 0);
}

RunSummary simulate_into(const std::string& output, const RunRecord& record, LiveRun& run,
                         const RunArguments& arguments, const std::optional<ResumePoint>& resume,
                         const Terminal& terminal) {
  ProgressBar bar(terminal, record.method);
  RunOptions options;
  options.frames = arguments.frames;
  options.interrupted = interrupt_requested;
  options.progress = [&](const FrameMetrics& metrics, int frames) {
    bar.update(metrics.frame, frames, metrics.time);
  };
  RunDirectory directory(output, record, resume ? run.frame() + 1 : 0);
  const std::size_t said = run.method().notes().size();
  const RunSummary simulated = simulate(run, directory, options, resume ? &*resume : nullptr);
  Notes later = run.method().notes();  // what turned up on the way
  later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(said));
  directory.add_notes(later);
  RunSummary summary = directory.finish(simulated);
  bar.finish();
  return summary;
}

// A start that overlaps is refused with the triangles that cross, to look at.
LiveRun make_run(const SceneFile& file, const Registry& registry, const std::string& method,
                 const std::string& output) {
  try {
    return {file, registry, method};
  } catch (const OverlapError& error) {
    const fs::path path = fs::path(output) / "overlap.vtp";
    write_geometry(path, error.triangles(), 0);
    Problem problem = error.problems().front();
    problem.message += fmt::format(" (the triangles: {})", path.string());
    throw InputError(std::move(problem));
  }
}

int tell_already_there(int frames, const std::string& output, const Terminal& terminal) {
  terminal.say(fmt::format("complete already: {} frames or more in {}", frames, output));
  return k_exit_done;
}

}  // namespace

int run_command(const RunArguments& arguments, const Registry& registry, const Terminal& terminal) {
  set_thread_count(arguments.threads);
  set_blas_threads(arguments.blas_threads);
  const std::string name = arguments.method.empty() ? default_method(registry) : arguments.method;
  const MethodInfo& info = registry.get(name);
  refuse_study(scene_file(arguments.scene));
  const SceneFile file =
      read_scene(scene_file(arguments.scene), arguments.assignments, registry.descriptions());
  const std::string output = arguments.output.empty()
                                 ? fmt::format("out/{}-{}", fs::path(file.path).stem().string(), name)
                                 : arguments.output;
  make_writable_directory(output);
  const DirectoryLock lock(output);
  const int frames = arguments.frames >= 0 ? arguments.frames : frame_count(file.settings.time);
  if (arguments.resume && is_complete(output, content_key(file, name), frames)) {
    repair_collections(output);
    return tell_already_there(frames, output, terminal);
  }

  std::optional<PhaseTeller> teller(std::in_place, terminal);
  const Stopwatch set_up_began;
  LiveRun run = make_run(file, registry, name, output);
  RunRecord record = make_record(arguments, file, info, run.scene(), run.method());
  record.setup_time = set_up_began.seconds();
  teller.reset();
  tell_notes(record, terminal);
  std::optional<ResumePoint> resume;
  if (arguments.resume) resume = load_resume_point(output, record, run, terminal);
  if (resume && run.frame() > frames) return tell_already_there(frames, output, terminal);
  if (resume) terminal.note(fmt::format("going on after frame {}", run.frame()));
  write_example_shapes(output, run.scene(), info.capabilities);
  const PolledInterrupts polled;  // until here nothing is lost when the program just ends
  const RunSummary summary = simulate_into(output, record, run, arguments, resume, terminal);
  tell(std::span(summary.notes).subspan(record.notes.size()), terminal);
  tell_outcome(summary, output, terminal);
  if (summary.status != Status::ok) return exit_code_of(summary.status);
  if (arguments.rewrite_expect) rewrite_expectations(file, name, summary.last);
  if (arguments.expect && !compare_with_expectations(file, name, summary.last, terminal))
    return k_exit_failed_check;
  return k_exit_done;
}

}  // namespace exemplar
