// exemplar check: every problem of scenes and studies at once, and the JSON Schemas.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/study/study.h"
#include "core/base/errors.h"

namespace exemplar {

namespace {

bool is_study(const Json& document) {
  return document.is_object() && document.contains("scene") && !document.contains("bodies");
}

void check_scene_document(const Json& document, const std::string& path, const Registry& registry) {
  const SceneFile file = parse_scene(document, path, registry.descriptions());
  try {
    const Scene scene = make_scene(file.settings, file.directory);
    for (const Body& body : scene.bodies) {
      body.examples();
      if (!body.is_sheet()) body.volume_examples();
      body.pieces();
    }
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.file.empty()) problem.file = path;
    }
    throw InputError(problems);
  }
}

std::vector<Problem> problems_of(const std::string& path, const CheckArguments& arguments,
                                 const Registry& registry) {
  try {
    Json document = read_json_file(path);
    for (const std::string& assignment : arguments.assignments) apply_assignment(document, assignment);
    if (is_study(document)) {
      read_study(document, path, registry);
    } else {
      check_scene_document(document, path, registry);
    }
    return {};
  } catch (const InputError& error) {
    return error.problems();
  }
}

// What each method leaves out of a good scene.
void tell_not_modelled(const std::string& path, const Registry& registry, const Terminal& terminal) {
  const Json document = read_json_file(path);
  if (is_study(document)) return;
  const SceneFile file = parse_scene(document, path, registry.descriptions());
  const Scene scene = make_scene(file.settings, file.directory);
  for (const MethodInfo& method : registry.methods()) {
    for (const std::string& missing : not_modelled(scene, method.capabilities)) {
      terminal.note(fmt::format("  {} does not model {}", method.name, missing));
    }
  }
}

}  // namespace

int check_command(const CheckArguments& arguments, const Registry& registry, const Terminal& terminal) {
  if (arguments.schema || arguments.study_schema) {
    const Json schema = arguments.schema ? scene_schema(registry.descriptions()) : study_schema();
    terminal.say(schema.dump(2));
    return k_exit_done;
  }
  if (arguments.files.empty()) throw InputError("check needs at least one file");
  Json report = Json::array();
  bool all_good = true;
  for (const std::string& path : arguments.files) {
    const std::vector<Problem> problems = problems_of(path, arguments, registry);
    all_good = all_good && problems.empty();
    for (const Problem& problem : problems) {
      if (arguments.json) {
        report.push_back({{"file", problem.file}, {"path", problem.path}, {"message", problem.message}});
      } else {
        terminal.say(to_string(problem));
      }
    }
    if (problems.empty() && !arguments.json) {
      terminal.say(path + ": good");
      tell_not_modelled(path, registry, terminal);
    }
  }
  if (arguments.json) terminal.say(report.dump(2));
  return all_good ? k_exit_done : k_exit_bad_input;
}

}  // namespace exemplar
