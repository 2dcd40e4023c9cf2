#include "compare/cli/check_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/jobs/batch.h"
#include "compare/jobs/quoting.h"
#include "core/output/checksums.h"
#include "core/output/directory_lock.h"
#include "core/output/manifest.h"
#include "core/run/run_directory.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// The call that made a run; its frames, as it may have been shorter or longer than the scene.
std::string command_of(const RunRecord& record, const fs::path& directory, const char* flag) {
  std::vector<std::string> command{"exemplar", "run", record.scene, "--method", record.method};
  for (const std::string& assignment : record.assignments)
    command.insert(command.end(), {"--set", assignment});
  if (record.status == RunStatus::done)
    command.insert(command.end(), {"--frames", std::to_string(record.frames)});
  command.insert(command.end(), {"-o", directory.string(), flag});
  return shell_line(command);
}

std::string remedy(const RunRecord& record, const fs::path& directory, const char* flag) {
  if (record.scene.empty())
    return fmt::format("the command that made the run, with {}, makes it again", flag);
  return fmt::format("`{}` makes it again", command_of(record, directory, flag));
}

// What goes on with a run repairs everything but what it cost and where it could go on.
const char* flag_for(const fs::path& file) {
  const bool only_anew = file == "timings.csv" || file.parent_path() == "checkpoints";
  return only_anew ? "--overwrite" : "--resume";
}

void check_run(const fs::path& directory, ResultFindings& findings) {
  if (is_locked(directory)) {
    findings.remarks.push_back({directory.string(), "", "a process is writing into it: not checked"});
    return;
  }
  const RunRecord record = find_run_record(directory).value_or(RunRecord{});
  const auto damaged = [&](const fs::path& file, const std::string& what) {
    findings.damages.push_back(
        {directory.string(), "", what + ": " + remedy(record, directory, flag_for(file))});
  };
  if (!fs::exists(directory / k_checksums_name))
    findings.remarks.push_back(
        {directory.string(), "",
         "there is no checksums.csv: the run has not ended, or an earlier version made it; only "
         "its frames are checked"});
  for (const FileDamage& damage : find_damaged_files(directory)) damaged(damage.file, damage.what);
  for (const ManifestEntry& entry : read_manifest(directory)) {
    if (const std::string what = damage_of(directory, entry.sum()); !what.empty()) damaged(entry.file, what);
  }
}

// Runs of a comparison stand in its folder.
std::vector<fs::path> runs_in(const fs::path& directory) {
  std::vector<fs::path> runs;
  for (const auto& item : fs::directory_iterator(directory)) {
    if (item.is_directory() && holds_run(item.path())) runs.push_back(item.path());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

void check_comparison(const fs::path& directory, ResultFindings& findings) {
  const Json json = Json::parse(file_bytes(directory / "comparison.json"), nullptr, false);
  const std::string study = json.is_object() ? json.value("study", "STUDY") : "STUDY";
  const std::string command = shell_line({"exemplar", "compare", study, "--collect", directory.string()});
  if (!fs::exists(directory / k_checksums_name))
    findings.remarks.push_back(
        {directory.string(), "", "there is no checksums.csv: only its runs are checked"});
  for (const FileDamage& damage : find_damaged_files(directory))
    findings.damages.push_back(
        {directory.string(), "", fmt::format("{}: `{}` makes it again", damage.what, command)});
  for (const fs::path& run : runs_in(directory)) check_run(run, findings);
}

}  // namespace

ResultFindings check_results(const fs::path& directory) {
  ResultFindings findings;
  if (holds_run(directory)) {
    check_run(directory, findings);
  } else if (fs::is_regular_file(directory / "comparison.json") || !runs_in(directory).empty()) {
    check_comparison(directory, findings);
  } else {
    throw InputError(Problem{directory.string(), "", "is neither a run nor a comparison"});
  }
  return findings;
}

}  // namespace exemplar
