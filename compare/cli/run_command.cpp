// exemplar run: one scene, one method → a run directory.
#include <fmt/format.h>

#include <algorithm>

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
#include "core/output/checksums.h"
#include "core/output/directory_lock.h"
#include "core/output/frame_writer.h"
#include "core/output/geometry_file.h"
#include "core/output/manifest.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"
#include "core/output/target_file.h"
#include "core/run/body_separation.h"
#include "core/run/example_shapes.h"
#include "core/run/run_directory.h"
#include "core/scene/checks/example_watch.h"
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
                      const Scene& scene, const Method& method, const InputLog& log) {
  RunRecord record;
  record.method = info.name;
  record.version = program_version();
  record.scene = arguments.scene;
  record.title = file.settings.title;
  record.assignments = arguments.assignments;
  record.settings.text = write_scene(file, info.name).dump();
  record.inputs = inputs_of(file, log);
  record.content_key = content_key(file, info.name, record.inputs);
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

// A directory with a run is neither replaced nor gone on with unless that was asked for.
void refuse_occupied(const std::string& output, const RunArguments& arguments) {
  const bool is_held = holds_run(output);
  const auto file = is_held && !arguments.overwrite ? std::nullopt : find_in_the_way(output);
  if (file)
    throw InputError(
        Problem{file->string(), "",
                "is there already and no run of Exemplar made it: choose another directory (-o)"});
  if (!is_held || arguments.resume || arguments.overwrite) return;
  const RunRecord run = find_run_record(output).value_or(RunRecord{});
  throw InputError(Problem{
      output, "",
      fmt::format(
          "holds a run{}: --resume goes on with it (what is complete is left as it is), --overwrite replaces "
          "it, or choose another directory (-o)",
          run.method.empty() ? ""
                             : fmt::format(" of {} with {}, {} frames", run.scene, run.method, run.frames))});
}

// What was read, and runs that poses are named from, whether or not the method looks at poses.
std::vector<fs::path> inputs_of_run(const SceneFile& file, const InputLog& log) {
  std::vector<fs::path> inputs;
  for (const InputFile& input : log.files()) inputs.emplace_back(input.path);
  for (const BodySettings& body : file.settings.bodies) {
    for (const ExampleSettings& example : body.examples) {
      if (example.frame) inputs.push_back(fs::path(file.directory) / example.frame->run);
      if (example.file) inputs.push_back(fs::path(file.directory) / *example.file);
    }
  }
  return inputs;
}

// A pose may come from a run: it is not replaced by a run that reads it.
void refuse_own_input(const SceneFile& file, const InputLog& log, const fs::path& output) {
  const fs::path run = fs::weakly_canonical(output);
  for (const fs::path& input : inputs_of_run(file, log)) {
    const fs::path path = fs::weakly_canonical(input);
    if (std::mismatch(run.begin(), run.end(), path.begin(), path.end()).first == run.end())
      throw InputError(Problem{output.string(), "",
                               fmt::format("holds {}, which this run reads: choose another directory (-o)",
                                           input.lexically_normal().string())});
  }
}

[[noreturn]] void refuse_other_run(const std::string& output) {
  throw InputError(output +
                   " holds a run of another method, or with other settings or files: --overwrite replaces "
                   "it, or choose another "
                   "directory (-o)");
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
    ResumePoint& sums = totals.sums;
    sums.frame_steps = static_cast<int>(cell(row, "steps"));
    sums.frame_iterations = static_cast<int>(cell(row, "iterations"));
    sums.steps += sums.frame_steps;
    sums.iterations += sums.frame_iterations;
    sums.worst_penetration = std::fmax(sums.worst_penetration, cell(row, "deepest_penetration"));
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

// Where a run goes on, and what had turned up until there.
struct EarlierPart {
  ResumePoint resume;
  Notes notes;
};

// Loads a checkpoint; none: from the start.
std::optional<EarlierPart> load_earlier_part(const fs::path& output, const RunRecord& record, LiveRun& run,
                                             const Terminal& terminal) {
  const std::optional<Checkpoint> checkpoint = find_checkpoint(output, terminal);
  if (!checkpoint) return std::nullopt;
  if (checkpoint->content_key != record.content_key) refuse_other_run(output.string());
  EarlierPart earlier;
  earlier.notes = checkpoint->notes;
  MetricsTable table = read_metrics(output / "metrics.csv", AtDamage::stop);
  table.join(read_metrics_if_any(output / "timings.csv"));
  const Totals totals = totals_until(table, checkpoint->frame);
  earlier.resume = totals.sums;
  run.resume(checkpoint->frame, totals.wall_time, checkpoint->arrays);
  return earlier;
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
            ? fmt::format("frames up to {} are kept in {}; continue with --resume", summary.last_frame,
                          output)
            : fmt::format("frames up to {} and a checkpoint are kept in {}", summary.last_frame, output));
  } else if (summary.status == Status::interrupted) {
    terminal.note(fmt::format("interrupted after frame {}; continue with --resume", summary.last_frame));
  } else {
    terminal.say(fmt::format("{} frames in {:.3g} s ({:.3g} × real time): {}", summary.last_frame,
                             summary.wall_time, summary.last.time / std::max(summary.wall_time, 1e-9),
                             output));
  }
}

// What is made again without a step, but for the collections: the record and the shapes of examples.
bool has_damaged_record(const std::string& output) {
  const std::vector<FileDamage> damaged = find_damaged_files(output);
  return std::any_of(damaged.begin(), damaged.end(), [](const FileDamage& damage) {
    return damage.file == "run.json" || damage.file == "examples.vtp" || damage.file == k_checksums_name;
  });
}

// What an earlier run in the directory left to do; existing frames are never cut off.
bool is_complete(const std::string& output, const SceneFile& file, const std::string& method, int frames) {
  const std::optional<RunRecord> earlier = find_run_record(output);
  if (!earlier || has_damaged_record(output)) return false;
  if (!is_unchanged(*earlier, file, method)) refuse_other_run(output);
  return earlier->status == RunStatus::done && earlier->frames >= frames &&
         !find_run_damage(output, earlier->frames);
}

// Other methods do not make the poses: some take a volume or a solve.
void write_example_shapes(const fs::path& output, const Scene& scene, const Capabilities& capabilities) {
  if (!capabilities.elastic_examples && !capabilities.plastic_examples) return;
  const Geometry shapes = example_shapes(scene);
  if (shapes.points.rows() > 0) write_geometry(output / "examples.vtp", shapes, 0);
}

// Some moments of a run, from the first to the last.
std::vector<Points> surfaces_of(const fs::path& output) {
  constexpr std::size_t k_most = 12;
  const std::vector<PvdEntry> entries = read_pvd(output / "surface.pvd");
  std::vector<Points> surfaces;
  const std::size_t count = std::min(k_most, entries.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t at = count > 1 ? k * (entries.size() - 1) / (count - 1) : 0;
    surfaces.push_back(read_geometry(entries[at].file).points);
  }
  return surfaces;
}

// A run whose files cannot be read says so elsewhere.
Notes unused_examples(const fs::path& output, const Scene& scene, const MethodInfo& info) {
  if (!info.capabilities.elastic_examples && !info.capabilities.plastic_examples) return {};
  try {
    return example_notes(scene, info.name, read_metrics(output / "metrics.csv", AtDamage::stop),
                         surfaces_of(output));
  } catch (const InputError&) {
    return {};
  }
}

RunSummary simulate_into(const std::string& output, const RunRecord& record, const MethodInfo& info,
                         LiveRun& run, const RunArguments& arguments,
                         const std::optional<EarlierPart>& earlier, const Terminal& terminal) {
  ProgressBar bar(terminal, record.method);
  RunOptions options;
  options.frames = arguments.frames;
  options.interrupted = interrupt_requested;
  options.progress = [&](const FrameMetrics& metrics, int frames) {
    bar.update(metrics.frame, frames, metrics.time);
  };
  const ResumePoint* resume = earlier ? &earlier->resume : nullptr;
  RunDirectory directory(output, record, resume ? run.frame() + 1 : 0);
  write_example_shapes(output, run.scene(), info.capabilities);
  directory.keep_notes(earlier ? earlier->notes : Notes(), [&run, said = run.method().notes().size()] {
    Notes later = run.method().notes();  // what turned up on the way
    later.erase(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(said));
    return later;
  });
  // A run that was cut short may not have come to what its examples are for.
  directory.tell_at_end([&] {
    return run.frame() < run.scene().frame_count() ? Notes() : unused_examples(output, run.scene(), info);
  });
  const RunSummary simulated = simulate(run, directory, options, resume);
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
    Problem problem = error.problems().front();
    try {
      write_target(path, {}, [&] { write_geometry(path, error.triangles(), 0); });
      problem.message += fmt::format(" (the triangles: {})", path.string());
    } catch (const InputError&) {  // somebody else's file has that name
    }
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
  const DirectoryLock lock(output, arguments.lock ? DirectoryLock::Use::lock : DirectoryLock::Use::no_lock);
  refuse_occupied(output, arguments);
  const int frames = arguments.frames >= 0 ? arguments.frames : frame_count(file.settings.time);
  if (arguments.resume && is_complete(output, file, name, frames)) {
    repair_collections(output);
    refresh_camera(output, file, name);
    if (!fs::exists(fs::path(output) / k_checksums_name)) write_run_checksums(output);
    return tell_already_there(frames, output, terminal);
  }

  std::optional<PhaseTeller> teller(std::in_place, terminal);
  const Stopwatch set_up_began;
  const InputLog log;
  LiveRun run = make_run(file, registry, name, output);
  RunRecord record = make_record(arguments, file, info, run.scene(), run.method(), log);
  record.setup_time = set_up_began.seconds();
  teller.reset();
  tell_notes(record, terminal);
  std::optional<EarlierPart> earlier;
  if (arguments.resume) earlier = load_earlier_part(output, record, run, terminal);
  if (earlier && run.frame() > frames) return tell_already_there(frames, output, terminal);
  if (earlier) terminal.note(fmt::format("going on after frame {}", run.frame()));
  if (arguments.overwrite && holds_run(output)) {
    refuse_own_input(file, log, output);
    remove_run(output);
  }
  const PolledInterrupts polled;  // until here nothing is lost when the program just ends
  const RunSummary summary = simulate_into(output, record, info, run, arguments, earlier, terminal);
  tell(std::span(summary.notes).subspan(record.notes.size()), terminal);
  tell_outcome(summary, output, terminal);
  if (summary.status != Status::ok) return exit_code_of(summary.status);
  if (arguments.rewrite_expect) rewrite_expectations(file, name, summary.last);
  if (arguments.expect && !compare_with_expectations(file, name, summary.last, terminal))
    return k_exit_failed_check;
  return k_exit_done;
}

}  // namespace exemplar
