// A study: one scene, the runs to compare on it, what to sweep, the reference and the metrics to show first
// (study_settings.h), with sweeps multiplied out to ordinary runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/study/expression.h"
#include "core/run/registry.h"
#include "core/scene/json.h"

namespace exemplar {

// A JSON path of the scene and the value to set there, as JSON text.
struct Setting {
  std::string path, value;
  std::string assignment() const { return path + "=" + value; }
};

// One ordinary `exemplar run`.
struct PlannedRun {
  std::string name;    // unique in the study
  std::string series;  // the name of the study's entry: runs of a sweep share it
  std::string method;
  Capabilities capabilities;        // of the method
  std::string directory;            // name of the folder, unique in the study
  std::vector<Setting> settings;    // everything that differs from the scene, in the order of application
  std::vector<Setting> variation;   // the part of `settings` that the study's sweep sets
  std::vector<Setting> resolution;  // the part of `settings` that sweeps this method's resolution
  double refine = 1;
  bool reference = false;
  bool for_all = false;  // a reference for every run, whatever its values of the study's sweep
  std::string file;      // a certified reference that stands for a run; empty: it is run
  std::string place;     // JSON path of the entry in the study, e.g. runs[2]
};

// A sentence of the study and what must hold for it.
struct Claim {
  BoundText text;
  Expression left, right;
  std::string op;     // < <= > >= == about
  double within = 0;  // of "about": |left − right| ≤ within · |right|
  std::string place;  // JSON path, e.g. claims[2]
};

struct Study {
  std::string path, title;
  BoundText lesson;
  std::vector<Claim> claims;
  std::vector<std::string> about;  // capabilities that a method needs to be ranked
  std::string scene;               // path as the program opens it
  std::string scene_title;
  std::vector<PlannedRun> runs;  // sweeps multiplied out, in the order of the file, own reference last
  std::vector<std::string> metrics;
  std::vector<Setting> common;     // set in every run (--set)
  std::vector<std::string> notes;  // what the reader should know of the plan
};

// Throws InputError with every problem of the study, of the scene it names and of the scene as each run
// changes it. `assignments` (PATH=VALUE) apply to every run first.
Study read_study(Json document, const std::string& path, const Registry& registry,
                 const std::vector<std::string>& assignments = {});

// What makes the volumes of a scene's bodies finer: grid × factor, max_tet_volume / factor³. Empty when none can be.
std::vector<Setting> finer_volumes(const Json& scene, double factor);

// A study rather than a scene, by its keys.
bool is_study(const Json& document);

Json study_schema();
Json to_json(const std::vector<Setting>& settings);  // {path: value}

// Only the runs whose name, directory, series or method is in `wanted`, and a reference of its own; a
// registered method that the study does not name is added. Several may stand in one text with commas between,
// also names that hold commas themselves. Throws InputError for a name that is none of these.
void select_runs(Study& study, const std::vector<std::string>& wanted, const Registry& registry);

// The run that `run` is measured against: the reference with the same values of the study's sweep; nullptr
// when there is none.
const PlannedRun* reference_of(const Study& study, const PlannedRun& run);

}  // namespace exemplar
