// exemplar check: every problem of scenes and studies at once, down to the set-up of every method; damage in the files of
// runs and comparisons; the JSON Schemas.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "compare/cli/check_results.h"
#include "compare/cli/commands.h"
#include "compare/study/study.h"
#include "core/base/errors.h"
#include "core/base/phase.h"
#include "core/scene/checks/start_check.h"

namespace exemplar {

namespace {

// What was found in one file.
struct Findings {
  std::vector<Problem> problems;
  std::vector<Problem> remarks;  // warnings and notes, with their place
};

void add_problem(std::vector<Problem>& list, Problem problem, const std::string& file,
                 const std::string& path) {
  if (problem.file.empty()) problem.file = file;
  if (problem.path.empty()) problem.path = path;
  const bool is_known = std::any_of(
      list.begin(), list.end(), [&](const Problem& other) { return to_string(other) == to_string(problem); });
  if (!is_known) list.push_back(std::move(problem));
}

// Does one part of the set-up; what is wrong with it does not hide what is wrong with the next.
template <class Work>
bool attempt(std::vector<Problem>& list, const std::string& file, const std::string& path, const Work& work) {
  try {
    work();
    return true;
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) add_problem(list, problem, file, path);
    return false;
  }
}

void check_bodies(const Scene& scene, const std::string& file, std::vector<Problem>& problems) {
  for (const Body& body : scene.bodies) {
    if (!body.is_sheet() && !attempt(problems, file, body.path() + ".volume", [&] { body.volume(); }))
      continue;
    attempt(problems, file, body.path() + ".examples", [&] {
      body.examples();
      if (!body.is_sheet()) body.volume_examples();
    });
    attempt(problems, file, body.path() + ".pieces", [&] { body.pieces(); });
  }
  if (!problems.empty()) return;
  for (const Problem& problem : start_problems(scene)) add_problem(problems, problem, file, "");
}

void add_notes(const Scene& scene, const std::string& file, Findings& findings) {
  Notes notes = scene_warnings(scene);
  for (const Body& body : scene.bodies) {
    const Notes own = body.notes();
    notes.insert(notes.end(), own.begin(), own.end());
  }
  for (const Note& note : notes)
    add_problem(findings.remarks,
                {file, "", note.severity == Severity::warning ? "warning: " + note.text : note.text}, file,
                "");
}

// The method with this scene, as far as its first step.
std::vector<Problem> method_problems(const SceneFile& file, const Scene& scene, const MethodInfo& method) {
  std::vector<Problem> problems;
  attempt(problems, file.path, "methods." + method.name, [&] {
    const Phase phase(method.name + ": setting up");
    method.make(scene, file.method(method.name));
  });
  return problems;
}

// One remark for each thing that is not modelled, with all methods that leave it out.
void note_gaps(const SceneFile& file, const std::map<std::string, std::vector<std::string>>& methods_by_gap,
               Findings& findings) {
  for (const auto& [gap, methods] : methods_by_gap) {
    const bool is_one = methods.size() == 1;
    const std::string names =
        is_one
            ? methods.front()
            : fmt::format("{} and {}", fmt::join(methods.begin(), methods.end() - 1, ", "), methods.back());
    findings.remarks.push_back(
        {file.path, "", fmt::format("{} {} not model {}", names, is_one ? "does" : "do", gap)});
  }
}

// Named methods must work; of all of them at least one.
void check_methods(const SceneFile& file, const Scene& scene, const CheckArguments& arguments,
                   const Registry& registry, Findings& findings) {
  bool one_works = false;
  std::vector<Problem> refusals;
  std::map<std::string, std::vector<std::string>> methods_by_gap;
  for (const MethodInfo& method : registry.methods()) {
    if (!arguments.method.empty() && method.name != arguments.method) continue;
    for (const std::string& gap : not_modelled(scene, method.capabilities))
      methods_by_gap[gap].push_back(method.name);
    if (arguments.fast) continue;
    const std::vector<Problem> problems = method_problems(file, scene, method);
    one_works = one_works || problems.empty();
    for (Problem problem : problems) {
      problem.message = fmt::format("{} cannot run it: {}", method.name, problem.message);
      refusals.push_back(problem);
    }
  }
  note_gaps(file, methods_by_gap, findings);
  if (arguments.fast) return;
  auto& list = arguments.method.empty() && one_works ? findings.remarks : findings.problems;
  list.insert(list.end(), refusals.begin(), refusals.end());
}

Findings check_scene(const SceneFile& file, const CheckArguments& arguments, const Registry& registry) {
  Findings findings;
  std::optional<Scene> scene;
  if (!attempt(findings.problems, file.path, "", [&] { scene = make_scene(file.settings, file.directory); }))
    return findings;
  check_bodies(*scene, file.path, findings.problems);
  if (!findings.problems.empty()) return findings;
  check_methods(file, *scene, arguments, registry, findings);
  add_notes(*scene, file.path, findings);
  return findings;
}

// Every run with its own settings and method; its problems stand at its place in the study.
Findings check_study(const Json& document, const std::string& path, const CheckArguments& arguments,
                     const Registry& registry) {
  Findings findings;
  const Study study = read_study(document, path, registry, {});
  if (arguments.fast) return findings;
  for (const PlannedRun& run : study.runs) {
    CheckArguments own = arguments;
    own.method = run.method;
    std::vector<std::string> assignments;
    for (const Setting& setting : run.settings) assignments.push_back(setting.assignment());
    const SceneFile file = read_scene(study.scene, assignments, registry.descriptions());
    for (const Problem& problem : check_scene(file, own, registry).problems)
      add_problem(findings.problems,
                  {path, run.place, fmt::format("{}: {}: {}", run.name, problem.path, problem.message)}, path,
                  "");
  }
  return findings;
}

Findings check_file(const std::string& path, const CheckArguments& arguments, const Registry& registry) {
  const Phase phase("checking " + path);
  try {
    if (std::filesystem::is_directory(path)) {
      ResultFindings results = check_results(path);
      return {std::move(results.damages), std::move(results.remarks)};
    }
    Json document = read_json_file(path);
    for (const std::string& assignment : arguments.assignments) apply_assignment(document, assignment);
    if (is_study(document)) return check_study(document, path, arguments, registry);
    return check_scene(parse_scene(document, path, registry.descriptions()), arguments, registry);
  } catch (const InputError& error) {
    Findings findings;
    for (const Problem& problem : error.problems()) add_problem(findings.problems, problem, path, "");
    return findings;
  }
}

void add_json(Json& report, const std::vector<Problem>& list, const char* severity) {
  for (const Problem& problem : list)
    report.push_back({{"file", problem.file},
                      {"path", problem.path},
                      {"message", problem.message},
                      {"severity", severity}});
}

// Remarks that differ in numbers only, as those on the copies of a repeated body, are one with a count.
std::vector<std::string> grouped(const std::vector<Problem>& remarks) {
  std::vector<std::string> texts;
  std::map<std::string, std::pair<std::size_t, int>> seen;  // without digits → where it stands, how many more
  for (const Problem& remark : remarks) {
    const std::string text = to_string(remark);
    std::string key = text;
    std::erase_if(key, [](char c) { return c >= '0' && c <= '9'; });
    const auto [at, is_new] = seen.try_emplace(std::move(key), texts.size(), 0);
    if (is_new) {
      texts.push_back(text);
    } else {
      ++at->second.second;
    }
  }
  for (const auto& [key, place] : seen) {
    if (place.second > 0) texts[place.first] += fmt::format(" (and {} more like it)", place.second);
  }
  return texts;
}

void tell(const Findings& findings, const std::string& path, const Terminal& terminal) {
  for (const Problem& problem : findings.problems) terminal.say(to_string(problem));
  if (findings.problems.empty()) terminal.say(path + ": good");
  for (const std::string& remark : grouped(findings.remarks)) terminal.note(remark);
}

}  // namespace

int check_command(const CheckArguments& arguments, const Registry& registry, const Terminal& terminal) {
  if (arguments.schema || arguments.study_schema) {
    const Json schema = arguments.schema ? scene_schema(registry.descriptions()) : study_schema();
    terminal.say(schema.dump(2));
    return k_exit_done;
  }
  if (arguments.files.empty()) throw InputError("check needs at least one file");
  if (!arguments.method.empty()) registry.get(arguments.method);
  Json report = Json::array();
  bool all_good = true;
  for (const std::string& path : arguments.files) {
    std::optional<PhaseTeller> teller(std::in_place, terminal);
    const Findings findings = check_file(path, arguments, registry);
    teller.reset();
    all_good = all_good && findings.problems.empty();
    add_json(report, findings.problems, "error");
    add_json(report, findings.remarks, "note");
    if (!arguments.json) tell(findings, path, terminal);
  }
  if (arguments.json) terminal.say(report.dump(2, ' ', false, Json::error_handler_t::replace));
  return all_good ? k_exit_done : k_exit_bad_input;
}

}  // namespace exemplar
