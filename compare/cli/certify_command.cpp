// exemplar certify: the reference at its own steps, at half and a quarter of them and on a finer mesh; how far it is from
// the limit (compare/results/refinement.h), as a table and as a file that studies measure against.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/interrupt.h"
#include "compare/cli/record_context.h"
#include "compare/jobs/batch.h"
#include "compare/jobs/quoting.h"
#include "compare/results/collect.h"
#include "compare/results/refinement.h"
#include "compare/results/surface_distance.h"
#include "compare/study/study.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/output/directory_lock.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// What is certified: a scene with settings, and a method.
struct Subject {
  std::string scene, method;
  std::vector<Setting> settings;
};

Subject subject_of_study(const Json& document, const std::string& path, const CertifyArguments& arguments,
                         const Registry& registry) {
  Json plain = document;
  // The reference that is there is made anew: its file is not looked at.
  if (plain.contains("reference") && plain["reference"].is_object() && plain["reference"].contains("file"))
    plain.erase("reference");
  plain.erase("lesson");
  plain.erase("claims");
  const Study study = read_study(plain, path, registry, arguments.assignments);
  for (const PlannedRun& run : study.runs) {
    const bool is_wanted = arguments.method.empty() ? run.reference : run.method == arguments.method;
    if (is_wanted) return {study.scene, run.method, run.settings};
  }
  throw InputError(Problem{path, "", "has no run of the method '" + arguments.method + "'"});
}

Subject subject_of(const CertifyArguments& arguments, const Registry& registry) {
  const fs::path given = arguments.subject;
  const std::string path = fs::is_regular_file(given) ? given.string() : study_file(arguments.subject);
  const Json document = read_json_file(path);
  if (is_study(document)) return subject_of_study(document, path, arguments, registry);
  if (arguments.method.empty())
    throw InputError(Problem{path, "", "is a scene: say which method with --method"});
  Subject subject{path, registry.get(arguments.method).name, {}};
  for (const std::string& assignment : arguments.assignments) {
    const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
    subject.settings.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
  }
  return subject;
}

std::vector<std::string> assignments_of(const std::vector<Setting>& settings) {
  std::vector<std::string> assignments;
  for (const Setting& setting : settings) assignments.push_back(setting.assignment());
  return assignments;
}

std::vector<PlannedRun> plan(const Subject& subject, const Registry& registry) {
  const SceneFile file = read_scene(subject.scene, assignments_of(subject.settings), registry.descriptions());
  std::vector<PlannedRun> runs;
  for (const RefinementLevel& level : refinement_ladder(parse_json(file.document, subject.scene))) {
    PlannedRun run;
    run.name = run.series = run.directory = level.name;
    run.method = subject.method;
    run.settings = subject.settings;
    run.settings.insert(run.settings.end(), level.settings.begin(), level.settings.end());
    runs.push_back(std::move(run));
  }
  return runs;
}

bool is_complete(const PlannedRun& run, const Subject& subject, const fs::path& directory,
                 const Registry& registry) {
  const std::optional<RunRecord> earlier = find_run_record(directory);
  if (!earlier || earlier->status != RunStatus::done) return false;
  const SceneFile file = read_scene(subject.scene, assignments_of(run.settings), registry.descriptions());
  return is_unchanged(*earlier, file, run.method);
}

// False when interrupted.
bool run_ladder(const std::vector<PlannedRun>& runs, const Subject& subject, const fs::path& folder,
                const CertifyArguments& arguments, const Registry& registry, const Terminal& terminal) {
  std::vector<Job> jobs;
  std::vector<std::string> names;
  for (const PlannedRun& run : runs) {
    const fs::path directory = folder / run.directory;
    if (is_complete(run, subject, directory, registry)) {
      terminal.note(run.name + ": complete already");
      continue;
    }
    make_writable_directory(directory);
    fs::remove(directory / "run.json");
    std::vector<std::string> command{own_program(), "run", subject.scene,     "--method",
                                     run.method,    "-o",  directory.string()};
    for (const std::string& assignment : assignments_of(run.settings))
      command.insert(command.end(), {"--set", assignment});
    command.emplace_back("--overwrite");  // what an interrupted one left
    if (arguments.threads > 0)
      command.insert(command.end(), {"--threads", std::to_string(arguments.threads)});
    jobs.push_back({command, (directory / "log.txt").string()});
    names.push_back(run.name);
  }
  BatchOptions options;
  options.jobs = arguments.jobs;
  options.interrupted = interrupt_requested;
  options.finished = [&](std::size_t i, const JobResult& result) {
    terminal.note(fmt::format("{}: {} in {}", names[i], result.exit_code == 0 ? "done" : "failed",
                              duration_text(result.seconds)));
  };
  const PolledInterrupts polled;
  run_jobs(jobs, options);
  return !interrupt_requested();
}

std::string text_of(double metres) {
  return std::isfinite(metres) ? length_text(metres) : "does not converge";
}

// Ten frames from the first to the last.
std::vector<std::vector<std::string>> table_of(const Certificate& certificate) {
  std::vector<std::vector<std::string>> rows{{"time", "left by the step", "left by the mesh", "surface (RMS)",
                                              "surface (largest)", "shape only (RMS)"}};
  const std::size_t last = certificate.frames.size() - 1, count = std::min<std::size_t>(10, last);
  for (std::size_t i = 0; i <= count; ++i) {
    const FrameUncertainty& frame = certificate.frames[count ? i * last / count : 0];
    rows.push_back({fmt::format("{:.3g} s", frame.time), text_of(frame.step_rms), text_of(frame.mesh_rms),
                    text_of(frame.total_rms), text_of(frame.total_max), text_of(frame.total_shape)});
  }
  return rows;
}

constexpr std::size_t k_surface_columns = 5;  // frame, time and three of the surface

// Of the last frame: what a reader looks for first.
std::vector<std::vector<std::string>> metrics_table(const ReferenceFile& file) {
  std::vector<std::vector<std::string>> rows{{"at the end", "value", "uncertainty"}};
  for (std::size_t c = k_surface_columns; c < file.uncertainty.columns.size(); ++c) {
    const MetricName& column = file.uncertainty.columns[c];
    const double value = file.metrics.column(column.name).back(), open = file.uncertainty.rows.back()[c];
    if (!std::isfinite(value)) continue;
    rows.push_back({column.title(), fmt::format("{:.4g}", value),
                    std::isfinite(open) ? fmt::format("{:.2g}", open) : "does not converge"});
  }
  return rows;
}

Points points_at(const ReferenceFile& file, std::size_t frame) {
  return file.surface.frames[frame];
}

// A file whose uncertainty at the end is many times what is found now was made too coarsely to be of use.
constexpr double k_coarse = 3;

// Whether a file says the same as one made now: within its own uncertainty (or a thousandth of the motion), which must not
// be much larger than need be.
int check_file(const ReferenceFile& kept, const ReferenceFile& made, const std::string& path,
               const Terminal& terminal) {
  if (kept.times != made.times || kept.surface.first.connectivity != made.surface.first.connectivity) {
    terminal.warn(path + " has other frames or another surface than what is made now");
    return k_exit_failed_check;
  }
  const std::vector<double> open = kept.uncertainty.column("surface_rms");
  double motion = 0;
  const auto rms = [](const Points& a, const Points& b) {
    return std::sqrt((a - b).rowwise().squaredNorm().mean());
  };
  for (std::size_t f = 0; f < kept.times.size(); ++f)
    motion = std::max(motion, rms(points_at(kept, f), points_at(kept, 0)));
  for (std::size_t f = 0; f < kept.times.size(); ++f) {
    if (!std::isfinite(open[f])) break;
    const double apart = rms(points_at(kept, f), points_at(made, f)),
                 allowed = std::max(open[f], 1e-3 * motion);
    if (apart <= allowed) continue;
    terminal.warn(fmt::format("{}: at {:.3g} s the surface is {} from what is made now, {} are allowed", path,
                              kept.times[f], length_text(apart), length_text(allowed)));
    return k_exit_failed_check;
  }
  const double now = made.uncertainty.column("surface_rms").back();
  if (open.back() > k_coarse * now + 1e-3 * motion) {
    terminal.warn(fmt::format(
        "{}: is known to {} at the end only, and what is made now to {}: it was made too coarsely", path,
        length_text(open.back()), length_text(now)));
    return k_exit_failed_check;
  }
  terminal.say(path + ": holds");
  return k_exit_done;
}

// What makes the file again.
std::string command_of(const CertifyArguments& arguments, const Subject& subject) {
  std::string command =
      "exemplar certify " + fs::path(arguments.subject).filename().string() + " --method " + subject.method;
  for (const std::string& assignment : arguments.assignments) command += " --set " + shell_quoted(assignment);
  return command;
}

}  // namespace

int certify_command(const CertifyArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const Subject subject = subject_of(arguments, registry);
  std::optional<ReferenceFile> kept;
  if (!arguments.check.empty()) kept = read_reference(arguments.check);
  const fs::path folder = arguments.directory.empty()
                              ? fs::path("out") / "certify" / fs::path(arguments.subject).stem()
                              : fs::path(arguments.directory);
  make_writable_directory(folder);
  const DirectoryLock lock(folder);
  const std::vector<PlannedRun> runs = plan(subject, registry);
  if (!run_ladder(runs, subject, folder, arguments, registry, terminal)) return k_exit_interrupted;
  std::vector<RunData> finished;
  for (const PlannedRun& run : runs) {
    finished.push_back(read_run(run, folder / run.directory));
    if (finished.back().is_done()) continue;
    terminal.warn(fmt::format("{}: {}", run.name, finished.back().record.message));
    return k_exit_cannot_go_on;
  }
  Certificate certificate = certify(finished);
  certificate.file.date = record_context()["date"].get<std::string>();
  certificate.file.command = command_of(arguments, subject);
  terminal.say(format_table(table_of(certificate)));
  terminal.say(format_table(metrics_table(certificate.file)));
  for (const std::string& remark : certificate.file.remarks) terminal.note(remark);
  if (kept) return check_file(*kept, certificate.file, arguments.check, terminal);
  const fs::path file = arguments.output.empty()
                            ? folder.parent_path() / (folder.filename().string() + ".ref")
                            : fs::path(arguments.output);
  write_reference(file, certificate.file);
  terminal.say("reference: " + file.string());
  return k_exit_done;
}

}  // namespace exemplar
