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
#include "compare/report/pictures.h"
#include "compare/report/report.h"
#include "compare/results/collect.h"
#include "compare/results/paraview_script.h"
#include "compare/results/side_by_side.h"
#include "compare/study/study.h"
#include "compare/watch/page_server.h"
#include "core/base/errors.h"
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
    terminal.say(shell_line(lasting_command_of(run, study, output, arguments)));
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
    const std::string record = (output / run.directory / "run.json").string();
    const std::string command =
        shell_line(lasting_command_of(run, study, output, arguments)) + " || test -s " + shell_quoted(record);
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
    if (needs[i] == Need::nothing) {
      terminal.note(run.name + ": complete already");
      continue;
    }
    const fs::path directory = output / run.directory;
    make_writable_directory(directory);
    const DirectoryLock lock(directory);
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

int collect_and_report(const Study& study, const fs::path& output, bool pictures, const Registry& registry,
                       const Progress& progress, const Terminal& terminal) {
  const Comparison comparison = collect(study, output, registry.method_names(), progress.without_record());
  const std::optional<std::vector<FileSum>> before = read_checksums(output);
  fs::remove(output / k_checksums_name);  // until all is there
  if (pictures) remove_pictures(output, before.value_or(std::vector<FileSum>{}));
  write_comparison_csv(comparison);
  write_comparison_json(comparison);
  std::vector<fs::path> files = write_side_by_side(comparison);
  write_paraview_script(comparison);
  for (const Note& note : write_report(comparison, registry, {pictures, interrupt_requested}))
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
  terminal.say("report: " + (output / "report.html").string());
  return comparison.all_done() ? k_exit_done : k_exit_cannot_go_on;
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
  check_folder(output, study, arguments.overwrite);
  Progress progress(output);
  std::optional<LivePage> live;
  if (arguments.watch) live.emplace(study, output, arguments.port, registry, terminal);
  if (live) live->follow(progress);
  if (arguments.collect.empty() &&
      !run_all(study, output, arguments, registry, terminal, progress, live ? &*live : nullptr)) {
    terminal.note("interrupted; go on with --resume");
    return k_exit_interrupted;
  }
  const int code = collect_and_report(study, output, arguments.pictures, registry, progress, terminal);
  if (live) live->finish(file_bytes(output / "report.html"), terminal);
  return code;
}

}  // namespace exemplar
