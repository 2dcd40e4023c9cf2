// exemplar compare: the runs of a study as processes of their own, then tables, side-by-side VTK and the
// report.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "compare/cli/commands.h"
#include "compare/cli/interrupt.h"
#include "compare/cli/run_board.h"
#include "compare/jobs/batch.h"
#include "compare/reference/reference_file.h"
#include "compare/report/report.h"
#include "compare/results/cards.h"
#include "compare/results/claims.h"
#include "compare/results/collect.h"
#include "compare/results/paraview_script.h"
#include "compare/results/side_by_side.h"
#include "compare/study/study.h"
#include "compare/watch/page_server.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/directory_lock.h"
#include "core/output/manifest.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Runs at the same time share the processors.
int threads_of_run(const CompareArguments& arguments) {
  if (arguments.threads > 0 || arguments.jobs == 1) return arguments.threads;
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, processors / arguments.jobs);
}

std::vector<std::string> assignments_of(const PlannedRun& run) {
  std::vector<std::string> assignments;
  for (const Setting& setting : run.settings) assignments.push_back(setting.assignment());
  return assignments;
}

// The ordinary command that does this run.
std::vector<std::string> command_of(const PlannedRun& run, const Study& study, const fs::path& output,
                                    const CompareArguments& arguments) {
  std::vector<std::string> command{own_program(), "run", study.scene, "--method", run.method};
  for (const std::string& assignment : assignments_of(run)) {
    command.insert(command.end(), {"--set", assignment});
  }
  if (arguments.frames >= 0) command.insert(command.end(), {"--frames", std::to_string(arguments.frames)});
  if (const int threads = threads_of_run(arguments); threads > 0)
    command.insert(command.end(), {"--threads", std::to_string(threads)});
  command.insert(command.end(), {"-o", (output / run.directory).string()});
  return command;
}

int frames_of(const PlannedRun& run, const Study& study, const CompareArguments& arguments,
              const Registry& registry) {
  if (arguments.frames >= 0) return arguments.frames;
  return frame_count(read_scene(study.scene, assignments_of(run), registry.descriptions()).settings.time);
}

enum class Need { nothing, remainder, everything };

// What is left to do of a run: nothing when it is complete and what determines it has not changed.
Need what_is_left(const PlannedRun& run, const Study& study, const fs::path& output,
                  const CompareArguments& arguments, const Registry& registry) {
  if (!arguments.resume) return Need::everything;
  const SceneFile file = read_scene(study.scene, assignments_of(run), registry.descriptions());
  const std::optional<RunRecord> earlier = find_run_record(output / run.directory);
  if (!earlier || earlier->content_key != content_key(file, run.method)) return Need::everything;
  const int frames = arguments.frames >= 0 ? arguments.frames : frame_count(file.settings.time);
  const bool is_there = earlier->status == RunStatus::done && earlier->frames >= frames;
  return is_there && !find_damage(output / run.directory, earlier->frames) ? Need::nothing : Need::remainder;
}

int print_lines(const Study& study, const fs::path& output, const CompareArguments& arguments,
                const Terminal& terminal) {
  for (const PlannedRun& run : study.runs) {
    if (!run.file.empty()) continue;
    terminal.say(shell_line(command_of(run, study, output, arguments)));
  }
  return k_exit_done;
}

// A Python string literal whose braces Snakemake leaves alone.
std::string snakemake_string(const std::string& text, bool is_command) {
  std::string escaped = Json(text).dump();
  if (!is_command) return escaped;
  std::string doubled;
  for (const char c : escaped) doubled += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  return doubled;
}

// Failed runs leave a run.json that says so, and the report shows them: only a run that left nothing stops
// the workflow.
int print_snakefile(const Study& study, const fs::path& output, const CompareArguments& arguments,
                    const Terminal& terminal) {
  const std::string report = (output / "report.html").string();
  std::string inputs, rules;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const PlannedRun& run = study.runs[i];
    if (!run.file.empty()) continue;
    const std::string record = (output / run.directory / "run.json").string();
    const std::string command =
        shell_line(command_of(run, study, output, arguments)) + " || test -s " + shell_quoted(record);
    inputs += fmt::format("        {},\n", snakemake_string(record, false));
    rules += fmt::format("rule run_{}:  # {}\n    output: {}\n    threads: {}\n    shell: {}\n\n", i,
                         run.name, snakemake_string(record, false), std::max(1, arguments.threads),
                         snakemake_string(command, true));
  }
  std::vector<std::string> collect{own_program(), "compare", arguments.study, "--collect", output.string()};
  for (const std::string& assignment : arguments.assignments)
    collect.insert(collect.end(), {"--set", assignment});
  for (const std::string& name : arguments.methods) collect.insert(collect.end(), {"--methods", name});
  terminal.say(
      fmt::format("# {}\nrule all:\n    input: {}\n\nrule collect:\n    input:\n{}    output: {}\n"
                  "    shell: {}\n\n{}",
                  study.title, snakemake_string(report, false), inputs, snakemake_string(report, false),
                  snakemake_string(shell_line(collect), true), rules));
  return k_exit_done;
}

void tell_result(const PlannedRun& run, const JobResult& result, const std::string& log,
                 const Terminal& terminal) {
  if (result.exit_code == k_exit_done) {
    terminal.note(fmt::format("{}: done in {}", run.name, duration_text(result.seconds)));
  } else if (result.exit_code == k_exit_interrupted) {
    terminal.note(run.name + ": interrupted");
  } else {
    terminal.warn(fmt::format("{} failed (exit code {}): see {}", run.name, result.exit_code, log));
  }
}

// The report of the frames that are there already, served while the runs go on. Made anew at most every three
// seconds, and never for more than a fifth of the time.
class LivePage {
 public:
  LivePage(const Study& study, fs::path output, int port, const Registry& registry, const Terminal& terminal)
      : m_study(study), m_output(std::move(output)), m_registry(registry), m_server(port) {
    terminal.say("watch: " + m_server.address());
  }

  void update() {
    const Clock::time_point now = Clock::now();
    if (now < m_next) return;
    show(collect_now());
    m_next = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(3), 4 * (Clock::now() - now));
  }

  void finish(const std::string& page) {
    m_server.show(page);
    m_server.wait_for_readers(10);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Nothing while a file is being written.
  std::optional<Comparison> collect_now() const {
    try {
      return collect(m_study, m_output, m_registry.method_names());
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  void show(const std::optional<Comparison>& comparison) {
    if (!comparison) return;
    std::size_t frames = 0;
    for (const ComparedRun& run : comparison->runs) frames += run.data.surfaces.size();
    if (frames == m_frames) return;
    m_frames = frames;
    Notes notes;
    m_server.show(report_page(*comparison, m_registry, {false, interrupt_requested}, notes));
  }

  const Study& m_study;
  fs::path m_output;
  const Registry& m_registry;
  PageServer m_server;
  Clock::time_point m_next;
  std::size_t m_frames = 0;
};

// Certified references as runs among the others.
void unpack_references(const Study& study, const fs::path& output) {
  for (const PlannedRun& run : study.runs) {
    if (run.file.empty()) continue;
    make_writable_directory(output / run.directory);
    const DirectoryLock lock(output / run.directory);
    unpack_reference(read_reference(run.file), output / run.directory);
  }
}

// Runs what is left; false when interrupted.
bool run_all(const Study& study, const fs::path& output, const CompareArguments& arguments,
             const Registry& registry, const Terminal& terminal, LivePage* live) {
  std::vector<Job> jobs;
  std::vector<const PlannedRun*> planned;
  std::vector<int> frames;
  for (const PlannedRun& run : study.runs) {
    if (!run.file.empty()) continue;
    const Need need = what_is_left(run, study, output, arguments, registry);
    if (need == Need::nothing) {
      terminal.note(run.name + ": complete already");
      continue;
    }
    const fs::path directory = output / run.directory;
    make_writable_directory(directory);
    const DirectoryLock lock(directory);
    if (need == Need::everything) fs::remove(directory / "run.json");
    std::vector<std::string> command = command_of(run, study, output, arguments);
    if (need == Need::remainder) command.push_back("--resume");
    jobs.push_back({command, (directory / "log.txt").string()});
    planned.push_back(&run);
    frames.push_back(frames_of(run, study, arguments, registry));
  }
  RunBoard board(terminal);
  BatchOptions options;
  options.waiting = [&] {
    board.update();
    if (live) live->update();
  };
  options.jobs = arguments.jobs;
  options.interrupted = interrupt_requested;
  options.started = [&](std::size_t i) {
    board.clear();
    terminal.note(fmt::format("{}: run {} of {}", planned[i]->name, i + 1, planned.size()));
    board.start(i, planned[i]->name, output / planned[i]->directory, frames[i]);
  };
  options.finished = [&](std::size_t i, const JobResult& result) {
    board.finish(i);
    tell_result(*planned[i], result, jobs[i].log, terminal);
  };
  const PolledInterrupts polled;
  run_jobs(jobs, options);
  return !interrupt_requested();
}

// Whether every claim holds and the reference can be trusted.
bool tell_claims(const Comparison& comparison, const Terminal& terminal) {
  const std::vector<std::string> errors = reference_errors(comparison);
  for (const std::string& error : errors) terminal.warn(error);
  const CheckedLesson lesson = check_lesson(comparison);
  for (const CheckedClaim& claim : lesson.claims) {
    if (claim.verdict == Verdict::fails)
      terminal.warn(fmt::format("does not hold: {} ({})", claim.text, claim.numbers));
    if (claim.verdict == Verdict::unchecked)
      terminal.note(fmt::format("not checked: {} ({})", claim.text, claim.numbers));
  }
  if (const std::string line = claims_line(lesson); !line.empty()) terminal.say(line);
  if (!lesson.problems.empty()) throw InputError(lesson.problems);
  return errors.empty() && lesson.count(Verdict::holds) == static_cast<int>(lesson.claims.size());
}

int collect_and_report(const Study& study, const fs::path& output, const CompareArguments& arguments,
                       const Registry& registry, const Terminal& terminal) {
  const Comparison comparison = collect(study, output, registry.method_names());
  write_comparison_csv(comparison);
  write_comparison_json(comparison);
  write_side_by_side(comparison);
  write_paraview_script(comparison);
  for (const Note& note : write_report(comparison, registry, {arguments.pictures, interrupt_requested}))
    terminal.note(note.text);
  terminal.say(format_table(summary_table(comparison)));
  for (const ComparedRun& run : comparison.runs) {
    if (!run.data.is_done())
      terminal.warn(fmt::format("{}: {}: {}", run.data.plan.name, to_string(run.data.record.status),
                                run.data.record.message));
  }
  const bool holds = tell_claims(comparison, terminal);
  terminal.say("report: " + (output / "report.html").string());
  if (!comparison.all_done()) return k_exit_cannot_go_on;
  return holds || !arguments.check ? k_exit_done : k_exit_failed_check;
}

}  // namespace

int compare_command(const CompareArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const std::string path = study_file(arguments.study);
  const Json document = read_json_file(path);
  if (document.is_object() && document.contains("bodies"))
    throw InputError(
        Problem{path, "", "is a scene: `exemplar run " + path + "` runs it, a study compares runs of it"});
  Study study = read_study(document, path, registry, arguments.assignments);
  select_runs(study, arguments.methods, registry);
  fs::path output = arguments.output;
  if (output.empty()) output = fs::path("out") / fs::path(arguments.study).stem();
  if (!arguments.collect.empty()) {
    output = arguments.collect;
    if (!fs::is_directory(output))
      throw InputError(Problem{output.string(), "", "there is no such directory"});
  }
  if (arguments.dry_run) {
    return arguments.format == "lines" ? print_lines(study, output, arguments, terminal)
                                       : print_snakefile(study, output, arguments, terminal);
  }
  for (const std::string& note : study.notes) terminal.note(note);
  make_writable_directory(output);
  const DirectoryLock lock(output);
  unpack_references(study, output);
  std::optional<LivePage> live;
  if (arguments.watch) live.emplace(study, output, arguments.port, registry, terminal);
  if (arguments.collect.empty() &&
      !run_all(study, output, arguments, registry, terminal, live ? &*live : nullptr)) {
    terminal.note("interrupted; go on with --resume");
    return k_exit_interrupted;
  }
  const int code = collect_and_report(study, output, arguments, registry, terminal);
  if (live) live->finish(file_bytes(output / "report.html"));
  return code;
}

}  // namespace exemplar
