#include "compare/cli/comparison_folder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_ways = "--overwrite replaces it, or choose another directory (-o)";

// comparison.json when a comparison wrote it; null otherwise.
Json find_comparison(const fs::path& output) {
  const Json json = Json::parse(file_bytes(output / "comparison.json"), nullptr, false);
  const bool is_ours = json.is_object() && json.value("program", Json()) == "exemplar" &&
                       json.value("study", Json()).is_string() && json.value("scene", Json()).is_string();
  return is_ours ? json : Json();
}

// The same file, or one of that name where the earlier path leads nowhere: the program may run in another folder.
bool is_same_file(const fs::path& earlier, const fs::path& now) {
  if (fs::exists(earlier)) return fs::equivalent(earlier, now);
  return earlier.filename() == now.filename();
}

bool is_of(const Json& comparison, const Study& study) {
  return !comparison.is_null() && is_same_file(comparison["study"].get<std::string>(), study.path) &&
         is_same_file(comparison["scene"].get<std::string>(), study.scene);
}

void refuse_other_files(const fs::path& output) {
  for (const char* name : {"comparison.json", "comparison.csv", "report.html", "paraview.py",
                           "side_by_side.pvd", "side_by_side", "pictures", "checksums.csv"}) {
    if (fs::exists(fs::symlink_status(output / name)))
      throw InputError(
          Problem{(output / name).string(), "",
                  "is there already and no comparison of Exemplar made it: choose another directory (-o)"});
  }
}

bool is_whole(const fs::path& run, const RunRecord& record, int frames) {
  return record.status == RunStatus::done && record.frames >= frames && find_damaged_files(run).empty() &&
         !find_run_damage(run, record.frames);
}

// Without a record that can be read, the run itself looks whether it may go on.
Need need_of(const PlannedRun& plan, const Study& study, const fs::path& run,
             const CompareArguments& arguments, const Registry& registry, std::vector<Problem>& problems) {
  if (!holds_run(run)) return Need::everything;
  if (arguments.overwrite) return Need::replacement;
  const std::optional<RunRecord> earlier = find_run_record(run);
  if (!earlier) return Need::remainder;
  const SceneFile file = read_scene(study.scene, assignments_of(plan), registry.descriptions());
  if (earlier->content_key == content_key(file, plan.method)) {
    const int frames = arguments.frames >= 0 ? arguments.frames : frame_count(file.settings.time);
    return is_whole(run, *earlier, frames) ? Need::nothing : Need::remainder;
  }
  const bool is_own = earlier->method == plan.method && is_same_file(earlier->scene, study.scene);
  if (is_own && arguments.resume) return Need::replacement;
  problems.push_back(
      {run.string(), "",
       is_own ? fmt::format(
                    "its scene, its settings or a file that it reads has changed since it ran: --resume runs "
                    "what has changed anew, {}",
                    k_ways)
              : fmt::format("holds a run of {} with {}, not of this study: {}", earlier->scene,
                            earlier->method, k_ways)});
  return Need::nothing;
}

}  // namespace

std::vector<std::string> assignments_of(const PlannedRun& run) {
  std::vector<std::string> assignments;
  for (const Setting& setting : run.settings) assignments.push_back(setting.assignment());
  return assignments;
}

void check_folder(const fs::path& output, const Study& study, bool overwrite) {
  const Json earlier = find_comparison(output);
  if (earlier.is_null()) return refuse_other_files(output);
  if (is_of(earlier, study) || overwrite) return;
  throw InputError(
      Problem{output.string(), "",
              fmt::format("holds the comparison of {}: {}", earlier["study"].get<std::string>(), k_ways)});
}

void claim_folder(const fs::path& output, const Study& study) {
  if (is_of(find_comparison(output), study)) return;
  const Json claim{{"program", "exemplar"}, {"version", program_version()}, {"title", study.title},
                   {"study", study.path},   {"scene", study.scene},         {"runs", Json::array()}};
  write_file_atomically(output / "comparison.json",
                        claim.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<fs::file_time_type> record_time(const fs::path& run) {
  std::error_code none;
  const fs::file_time_type time = fs::last_write_time(run / "run.json", none);
  return none ? std::nullopt : std::optional(time);
}

std::vector<Need> needs_of(const Study& study, const fs::path& output, const CompareArguments& arguments,
                           const Registry& registry) {
  std::vector<Need> needs;
  std::vector<Problem> problems;
  for (const PlannedRun& run : study.runs)
    needs.push_back(need_of(run, study, output / run.directory, arguments, registry, problems));
  if (!problems.empty()) throw InputError(problems);
  return needs;
}

}  // namespace exemplar
