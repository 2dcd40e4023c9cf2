// exemplar compare: the runs of a study as processes of their own, then tables, side-by-side VTK and the
// report.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "compare/cli/commands.h"
#include "compare/cli/comparison_folder.h"
#include "compare/cli/interrupt.h"
#include "compare/cli/run_board.h"
#include "compare/jobs/batch.h"
#include "compare/jobs/quoting.h"
#include "compare/reference/reference_file.h"
#include "compare/report/pictures.h"
#include "compare/report/report.h"
#include "compare/results/cards.h"
#include "compare/results/claims.h"
#include "compare/results/collect.h"
#include "compare/results/paraview_script.h"
#include "compare/results/side_by_side.h"
#include "compare/study/study.h"
#include "compare/watch/page_server.h"
#include "core/base/errors.h"
#include "core/base/phase.h"
#include "core/output/atomic_file.h"
#include "core/output/checksums.h"
#include "core/output/directory_lock.h"
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

DirectoryLock::Use lock_use(const CompareArguments& arguments) {
  return arguments.lock ? DirectoryLock::Use::lock : DirectoryLock::Use::no_lock;
}

// The ordinary command that does this run.
std::vector<std::string> command_of(const PlannedRun& run, const Study& study, const fs::path& output,
                                    const CompareArguments& arguments) {
  std::vector<std::string> command{own_program(), "run", as_operand(study.scene), "--method", run.method};
  for (const std::string& assignment : assignments_of(run)) {
    command.insert(command.end(), {"--set", assignment});
  }
  if (arguments.frames >= 0) command.insert(command.end(), {"--frames", std::to_string(arguments.frames)});
  if (const int threads = threads_of_run(arguments); threads > 0)
    command.insert(command.end(), {"--threads", std::to_string(threads)});
  if (!arguments.lock) command.emplace_back("--no-lock");
  command.insert(command.end(), {"-o", as_operand((output / run.directory).string())});
  return command;
}

int frames_of(const PlannedRun& run, const Study& study, const CompareArguments& arguments,
              const Registry& registry) {
  if (arguments.frames >= 0) return arguments.frames;
  return frame_count(read_scene(study.scene, assignments_of(run), registry.descriptions()).settings.time);
}

// For a shell: what is complete already is left as it is.
std::vector<std::string> lasting_command_of(const PlannedRun& run, const Study& study, const fs::path& output,
                                            const CompareArguments& arguments) {
  std::vector<std::string> command = command_of(run, study, output, arguments);
  command.emplace_back(arguments.overwrite ? "--overwrite" : "--resume");
  return command;
}

int print_lines(const Study& study, const fs::path& output, const CompareArguments& arguments,
                const Terminal& terminal) {
  for (const PlannedRun& run : study.runs) {
    if (!run.file.empty()) continue;
    terminal.say(shell_line(lasting_command_of(run, study, output, arguments)));
  }
  return k_exit_done;
}

// So that it can be compared from any folder.
Study with_whole_paths(Study study) {
  study.scene = fs::absolute(study.scene).string();
  return study;
}

std::string snakemake_rule(const std::string& name, const std::string& title, const std::string& record,
                           int threads, const std::string& command) {
  return fmt::format("rule {}:  # {}\n    output: {}\n    threads: {}\n    shell: {}\n\n", name,
                     python_string(title), python_string(record), threads, snakemake_command(command));
}

// Snakemake takes braces in the names of files for wildcards: those it sees are relative to the output folder and hold
// none. Failed runs leave a run.json that says so, and the report shows them: only a run that left nothing stops the
// workflow.
int print_snakefile(const Study& planned, const fs::path& output, const CompareArguments& arguments,
                    const Terminal& terminal) {
  const Study study = with_whole_paths(planned);
  const fs::path folder = fs::absolute(output).lexically_normal();
  std::string inputs, rules;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const PlannedRun& run = study.runs[i];
    if (!run.file.empty()) continue;
    const std::string record = run.directory + "/run.json";
    const std::string command = shell_line(lasting_command_of(run, study, folder, arguments)) +
                                " || test -s " + shell_quoted((folder / record).string());
    inputs += fmt::format("        {},\n", python_string(record));
    rules +=
        snakemake_rule(fmt::format("run_{}", i), run.name, record, std::max(1, arguments.threads), command);
  }
  std::vector<std::string> collect{own_program(), "compare", fs::absolute(study.path).string(), "--collect",
                                   folder.string()};
  for (const std::string& assignment : arguments.assignments)
    collect.insert(collect.end(), {"--set", assignment});
  for (const std::string& name : arguments.methods) collect.push_back("--methods=" + name);
  terminal.say(
      fmt::format("# {}\nworkdir: {}\n\nrule all:\n    input: \"report.html\"\n\n"
                  "rule collect:\n    input:\n{}    output: \"report.html\"\n    shell: {}\n\n{}",
                  python_string(study.title), python_string(folder.string()), inputs,
                  snakemake_command(shell_line(collect)), rules));
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

// Which of the runs that are to be done have begun to write: before, what is there is an earlier run's.
class Progress {
 public:
  explicit Progress(fs::path output) : m_output(std::move(output)) {}
  void plan(const std::string& directory) { m_planned[directory] = record_time(m_output / directory); }
  void done(const std::string& directory) { m_planned.erase(directory); }
  std::set<std::string> without_record() const {
    std::set<std::string> directories;
    for (const auto& [directory, time] : m_planned) {
      if (record_time(m_output / directory) == time) directories.insert(directory);
    }
    return directories;
  }

 private:
  fs::path m_output;
  std::map<std::string, std::optional<fs::file_time_type>> m_planned;  // when an earlier record was written
};

// The report of the frames written so far, served while the runs go on. Made anew at most every three
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

  // Of these, what an earlier run left is not shown.
  void follow(const Progress& progress) { m_progress = &progress; }

  // The page stays until Ctrl-C.
  void finish(const std::string& page, const Terminal& terminal) {
    m_server.show(page);
    terminal.say(fmt::format("every run has ended; {} shows the report until Ctrl-C", m_server.address()));
    const PolledInterrupts polled;
    while (!interrupt_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Nothing while a file is being written.
  std::optional<Comparison> collect_now() const {
    try {
      return collect(m_study, m_output, m_registry.method_names(),
                     m_progress ? m_progress->without_record() : std::set<std::string>());
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  void show(const std::optional<Comparison>& comparison) {
    if (!comparison) return;
    std::vector<std::pair<RunStatus, std::size_t>> state;
    for (const ComparedRun& run : comparison->runs)
      state.emplace_back(run.data.record.status, run.data.surfaces.size());
    if (state == m_state) return;
    m_state = state;
    Notes notes;
    m_server.show(report_page(*comparison, m_registry, {false, interrupt_requested}, notes));
  }

  const Study& m_study;
  fs::path m_output;
  const Registry& m_registry;
  PageServer m_server;
  Clock::time_point m_next;
  std::vector<std::pair<RunStatus, std::size_t>> m_state;  // of the page, a run each: status, frames
  const Progress* m_progress = nullptr;
};

// Certified references as runs among the others.
void unpack_references(const Study& study, const fs::path& output, const CompareArguments& arguments) {
  for (const PlannedRun& run : study.runs) {
    if (run.file.empty()) continue;
    make_writable_directory(output / run.directory);
    const DirectoryLock lock(output / run.directory, lock_use(arguments));
    unpack_reference(read_reference(run.file), output / run.directory);
  }
}

struct Plan {
  std::vector<Job> jobs;
  std::vector<const PlannedRun*> runs;
  std::vector<int> frames;
};

// Each run that is to be done becomes a job.
Plan plan_jobs(const Study& study, const fs::path& output, const CompareArguments& arguments,
               const Registry& registry, const Terminal& terminal, Progress& progress) {
  Plan plan;
  const std::vector<Need> needs = needs_of(study, output, arguments, registry);
  claim_folder(output, study);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const PlannedRun& run = study.runs[i];
    if (!run.file.empty()) continue;
    if (needs[i] == Need::nothing) {
      terminal.note(run.name + ": complete already");
      refresh_camera(output / run.directory,
                     read_scene(study.scene, assignments_of(run), registry.descriptions()), run.method);
      continue;
    }
    const fs::path directory = output / run.directory;
    make_writable_directory(directory);
    const DirectoryLock lock(directory, lock_use(arguments));
    progress.plan(run.directory);
    std::error_code ignored;
    fs::remove(directory / "log.txt", ignored);  // of the run before
    std::vector<std::string> command = command_of(run, study, output, arguments);
    if (needs[i] == Need::remainder) command.emplace_back("--resume");
    if (needs[i] == Need::replacement) command.emplace_back("--overwrite");
    plan.jobs.push_back({command, (directory / "log.txt").string()});
    plan.runs.push_back(&run);
    plan.frames.push_back(frames_of(run, study, arguments, registry));
  }
  return plan;
}

// Runs what is left; false when interrupted.
bool run_all(const Study& study, const fs::path& output, const CompareArguments& arguments,
             const Registry& registry, const Terminal& terminal, Progress& progress, LivePage* live) {
  const auto& [jobs, planned, frames] = plan_jobs(study, output, arguments, registry, terminal, progress);
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
    if (result.exit_code == k_exit_done) progress.done(planned[i]->directory);
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

// Pictures of a comparison are drawn anew or not at all.
void remove_pictures(const fs::path& output, const std::vector<FileSum>& made) {
  for (const FileSum& sum : made) {
    if (sum.file.parent_path() == "pictures") fs::remove(output / sum.file);
  }
}

// Beside the frames of the runs side by side.
std::vector<fs::path> comparison_files(const Comparison& comparison) {
  std::vector<fs::path> files{"comparison.csv", "comparison.json", "paraview.py", "report.html"};
  for (const ComparedRun& run : comparison.runs)
    files.push_back(fs::path(run.data.plan.directory) / "log.txt");
  for (const fs::path& picture : picture_files(comparison.directory / "pictures"))
    files.push_back("pictures" / picture);
  return files;
}

// What an earlier collection made and this one did not: more frames, say.
void remove_left_over(const fs::path& output, const std::vector<FileSum>& before,
                      const std::vector<fs::path>& now) {
  for (const FileSum& sum : before) {
    const bool is_frame = *sum.file.begin() == "side_by_side" || sum.file == "side_by_side.pvd";
    if (is_frame && std::find(now.begin(), now.end(), sum.file) == now.end()) fs::remove(output / sum.file);
  }
}

int collect_and_report(const Study& study, const fs::path& output, const CompareArguments& arguments,
                       const Registry& registry, const Progress& progress, const Terminal& terminal) {
  const Comparison comparison = collect(study, output, registry.method_names(), progress.without_record());
  const std::optional<std::vector<FileSum>> before = read_checksums(output);
  fs::remove(output / k_checksums_name);  // until all is there
  if (arguments.pictures) remove_pictures(output, before.value_or(std::vector<FileSum>{}));
  write_comparison_csv(comparison);
  write_comparison_json(comparison);
  std::vector<fs::path> files = write_side_by_side(comparison);
  write_paraview_script(comparison);
  for (const Note& note : write_report(comparison, registry, {arguments.pictures, interrupt_requested}))
    terminal.note(note.text);
  for (const fs::path& file : comparison_files(comparison)) files.push_back(file);
  remove_left_over(output, before.value_or(std::vector<FileSum>{}), files);
  write_checksums(output, files);
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
  std::optional<PhaseTeller> teller(std::in_place, terminal);
  std::optional<Phase> checking(std::in_place, "checking " + path);
  Study study = read_study(document, path, registry, arguments.assignments);
  checking.reset();
  teller.reset();
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
  const DirectoryLock lock(output, lock_use(arguments));
  check_folder(output, study, arguments.overwrite);
  Progress progress(output);
  unpack_references(study, output, arguments);
  std::optional<LivePage> live;
  if (arguments.watch) live.emplace(study, output, arguments.port, registry, terminal);
  if (live) live->follow(progress);
  if (arguments.collect.empty() &&
      !run_all(study, output, arguments, registry, terminal, progress, live ? &*live : nullptr)) {
    terminal.note("interrupted; continue with --resume");
    return k_exit_interrupted;
  }
  const int code = collect_and_report(study, output, arguments, registry, progress, terminal);
  if (live) live->finish(file_bytes(output / "report.html"), terminal);
  return code;
}

}  // namespace exemplar
