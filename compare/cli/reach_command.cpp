// exemplar pose --reach: which example poses of a scene a body takes up, and at which stiffness of the examples.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/results/example_reach.h"
#include "compare/study/study.h"
#include "core/base/errors.h"

namespace exemplar {

namespace {

std::string wins_text(const ExampleReach& reach) {
  if (!reach.wins_at) return "never";
  return fmt::format("{}{:.3g}", reach.wins_below ? "below " : "", *reach.wins_at);
}

Json json_of(const ExampleReach& reach) {
  Json all = {{"body", reach.body}, {"example", reach.example}};
  if (!reach.problem.empty()) {
    all["problem"] = reach.problem;
    return all;
  }
  all["share"] = reach.share;
  all["ratio"] = reach.ratio;
  all["weight"] = reach.weight;
  all["wins_at"] = reach.wins_at ? Json(*reach.wins_at) : Json();
  all["wins_below_that_too"] = reach.wins_below;
  return all;
}

void say_reaches(const std::vector<ExampleReach>& reaches, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{
      {"body", "example", "taken there by", "stiffness ratio", "weight", "wins from ratio"}};
  for (const ExampleReach& reach : reaches) {
    if (reach.problem.empty()) {
      rows.push_back({reach.body, reach.example, fmt::format("{:.0f} %", 100 * reach.share),
                      fmt::format("{:.3g}", reach.ratio), fmt::format("{:.2f}", reach.weight),
                      wins_text(reach)});
    } else {
      rows.push_back({reach.body, reach.example, reach.problem, "", "", ""});
    }
  }
  terminal.say(format_table(rows));
}

}  // namespace

int reach_command(const PoseArguments& arguments, const Registry& registry, const Terminal& terminal) {
  const std::string path = scene_file(arguments.input);
  if (is_study(read_json_file(path))) throw InputError(Problem{path, "", "is a study: name its scene"});
  const SceneFile file = read_scene(path, arguments.assignments, registry.descriptions());
  const std::vector<ExampleReach> reaches = find_reach(file, registry, arguments.method);
  if (reaches.empty()) throw InputError(Problem{path, "bodies", "has no elastic examples"});
  if (arguments.json) {
    Json all = Json::array();
    for (const ExampleReach& reach : reaches) all.push_back(json_of(reach));
    terminal.say(all.dump(2));
    return k_exit_done;
  }
  say_reaches(reaches, terminal);
  terminal.note(
      "two parts of the body were moved as the pose moves them, slowly, without loads or plastic flow; the "
      "stiffness "
      "ratio is examples.stiffness over internal_stiffness, and a pose wins with a weight of one half");
  return k_exit_done;
}

}  // namespace exemplar
