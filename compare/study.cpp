#include "compare/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "compare/cli/commands.h"
#include "core/base/errors.h"
#include "core/run/runner.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Methods that are described but not built yet: studies may name them already.
const std::vector<std::string> k_later_methods{"shell", "rigid-lbs", "rigid-dent", "rigid-bend"};

const std::vector<std::string> k_study_keys{"$schema", "title",     "lesson", "scene",
                                            "runs",    "reference", "sweep",  "metrics"};
const std::vector<std::string> k_run_keys{"name", "method", "set", "refine", "sweep"};
const std::vector<std::string> k_reference_keys{"name", "method", "set", "refine"};
const std::vector<std::string> k_surface_metrics{"surface_rms",         "surface_max",  "surface_rms_aligned",
                                                 "surface_max_aligned", "shape_change", "peak_memory"};

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// An entry of "runs" (or the reference) as it stands in the file.
struct Entry {
  std::string name, method, place;
  std::vector<Setting> set;
  std::vector<double> refine{1};
  std::vector<std::pair<std::string, std::vector<std::string>>> sweep;
  bool is_reference = false;
};

using Sweep = std::vector<std::pair<std::string, std::vector<std::string>>>;

class StudyReader {
 public:
  StudyReader(const Json& document, std::string path, const Registry& registry,
              const std::vector<std::string>& assignments)
      : m_document(document), m_registry(registry), m_assignments(assignments) {
    m_study.path = std::move(path);
    for (const std::string& assignment : assignments) {
      const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
      m_study.common.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
    }
  }

  Study read() {
    if (!m_document.is_object()) throw InputError(Problem{m_study.path, "", "expected an object {...}"});
    check_keys(m_document, k_study_keys, "");
    m_study.title = text(m_document, "title", "", false);
    m_study.lesson = text(m_document, "lesson", "", false);
    read_scene_name();
    const Sweep sweep = read_sweep(m_document, "");
    read_entries();
    read_reference();
    read_metrics();
    if (!m_left_out.empty()) {
      m_study.notes.push_back(
          fmt::format("left out, not in this build yet: {}", fmt::join(m_left_out, ", ")));
    }
    if (m_problems.empty()) plan(sweep);
    if (m_problems.empty()) check_scenes();
    if (!m_problems.empty()) throw InputError(m_problems);
    return std::move(m_study);
  }

 private:
  void problem(const std::string& place, const std::string& message) {
    m_problems.push_back({m_study.path, place, message});
  }

  static std::string join(const std::string& place, const std::string& key) {
    return place.empty() ? key : place + "." + key;
  }

  void check_keys(const Json& object, const std::vector<std::string>& known, const std::string& place) {
    for (const auto& [key, value] : object.items()) {
      if (!contains(known, key)) problem(join(place, key), "unknown key" + did_you_mean(key, known));
    }
  }

  std::string text(const Json& object, const std::string& key, const std::string& place, bool required) {
    if (!object.contains(key)) {
      if (required) problem(join(place, key), "is missing: expected a string");
      return "";
    }
    if (object[key].is_string()) return object[key].get<std::string>();
    problem(join(place, key), "expected a string, got " + object[key].dump());
    return "";
  }

  void read_scene_name() {
    const std::string name = text(m_document, "scene", "", true);
    if (name.empty()) return;
    m_study.scene = (fs::path(m_study.path).parent_path() / name).lexically_normal().string();
    if (!fs::is_regular_file(m_study.scene)) problem("scene", "there is no file " + m_study.scene);
  }

  Sweep read_sweep(const Json& object, const std::string& place) {
    Sweep sweep;
    if (!object.contains("sweep")) return sweep;
    const Json& json = object["sweep"];
    if (!json.is_object()) {
      problem(join(place, "sweep"), "expected an object {\"path\": [values]}");
      return sweep;
    }
    for (const auto& [key, values] : json.items()) {
      if (!values.is_array() || values.empty()) {
        problem(join(place, "sweep") + "." + key, "expected a list of at least one value");
        continue;
      }
      sweep.push_back({key, {}});
      for (const Json& value : values) sweep.back().second.push_back(value.dump());
    }
    return sweep;
  }

  std::vector<Setting> read_set(const Json& object, const std::string& place) {
    std::vector<Setting> set;
    if (!object.contains("set")) return set;
    if (!object["set"].is_object()) {
      problem(join(place, "set"), "expected an object {\"path\": value}");
      return set;
    }
    for (const auto& [key, value] : object["set"].items()) set.push_back({key, value.dump()});
    return set;
  }

  std::vector<double> read_refine(const Json& object, const std::string& place, bool list_allowed) {
    if (!object.contains("refine")) return {1};
    const Json& json = object["refine"];
    const Json list = json.is_array() && list_allowed ? json : Json::array({json});
    std::vector<double> values;
    for (const Json& value : list) {
      if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= 16) {
        values.push_back(value.get<double>());
      } else {
        problem(join(place, "refine"), fmt::format("expected a number in (0, 16]{}, got {}",
                                                   list_allowed ? " or a list of them" : "", json.dump()));
        return {1};
      }
    }
    if (values.empty()) problem(join(place, "refine"), "expected at least one number");
    return values;
  }

  // False: the method comes later, and the entry is left out with a note.
  bool known_method(const std::string& method, const std::string& name, const std::string& place) {
    if (method.empty()) return false;
    if (m_registry.find(method)) return true;
    if (contains(k_later_methods, method)) {
      m_left_out.push_back(name);
    } else {
      problem(place, fmt::format("unknown method '{}'{}; exemplar list methods names them", method,
                                 did_you_mean(method, m_registry.method_names())));
    }
    return false;
  }

  void read_entries() {
    if (!m_document.contains("runs") || !m_document["runs"].is_array() || m_document["runs"].empty()) {
      problem("runs", "expected a list of methods or {\"name\", \"method\", \"set\"}");
      return;
    }
    for (std::size_t i = 0; i < m_document["runs"].size(); ++i) {
      read_entry(m_document["runs"][i], fmt::format("runs[{}]", i));
    }
    if (m_entries.empty() && m_problems.empty()) problem("runs", "no run is left that this build knows");
  }

  void read_entry(const Json& json, const std::string& place) {
    Entry entry;
    entry.place = place;
    if (json.is_string()) {
      entry.name = entry.method = json.get<std::string>();
      if (known_method(entry.method, entry.name, place)) add_entry(std::move(entry));
      return;
    }
    if (!json.is_object()) return problem(place, "expected a method's name or an object, got " + json.dump());
    check_keys(json, k_run_keys, place);
    entry.method = text(json, "method", place, true);
    entry.name = json.contains("name") ? text(json, "name", place, true) : entry.method;
    entry.set = read_set(json, place);
    entry.refine = read_refine(json, place, true);
    entry.sweep = read_sweep(json, place);
    if (known_method(entry.method, entry.name, join(place, "method"))) add_entry(std::move(entry));
  }

  void add_entry(Entry entry) {
    for (const Entry& other : m_entries) {
      if (other.name != entry.name) continue;
      problem(entry.place, fmt::format("the name '{}' is taken by {}; give one of them another \"name\"",
                                       entry.name, other.place));
    }
    m_entries.push_back(std::move(entry));
  }

  void read_reference() {
    if (!m_document.contains("reference")) {
      if (!m_entries.empty()) m_entries.front().is_reference = true;
      return;
    }
    const Json& json = m_document["reference"];
    if (json.is_string()) return name_reference(json.get<std::string>());
    if (!json.is_object())
      return problem("reference", "expected a run's name or {\"method\", \"refine\", \"set\"}");
    check_keys(json, k_reference_keys, "reference");
    Entry entry;
    entry.place = "reference";
    entry.is_reference = true;
    entry.method = text(json, "method", "reference", true);
    entry.set = read_set(json, "reference");
    entry.refine = read_refine(json, "reference", false);
    entry.name = json.contains("name") ? text(json, "name", "reference", true)
                                       : fmt::format("reference ({}, refined {:g}×)", entry.method,
                                                     entry.refine.empty() ? 1 : entry.refine[0]);
    if (known_method(entry.method, entry.name, "reference.method")) {
      add_entry(std::move(entry));
    } else if (!m_entries.empty()) {
      m_entries.front().is_reference = true;
    }
  }

  void name_reference(const std::string& name) {
    std::vector<std::string> names;
    for (Entry& entry : m_entries) {
      entry.is_reference = entry.name == name;
      if (entry.is_reference) return;
      names.push_back(entry.name);
    }
    if (contains(m_left_out, name) && !m_entries.empty()) {
      m_entries.front().is_reference = true;
      m_study.notes.push_back(
          fmt::format("the reference is '{}' instead of '{}'", m_entries.front().name, name));
      return;
    }
    problem("reference", fmt::format("there is no run called '{}'{}", name, did_you_mean(name, names)));
  }

  void read_metrics() {
    if (!m_document.contains("metrics")) return;
    const Json& json = m_document["metrics"];
    if (!json.is_array()) return problem("metrics", "expected a list of names");
    std::vector<std::string> known = k_surface_metrics;
    for (const Metric& metric : metrics_of(FrameMetrics{})) known.push_back(metric.name);
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string place = fmt::format("metrics[{}]", i);
      if (!json[i].is_string()) {
        problem(place, "expected a string, got " + json[i].dump());
        continue;
      }
      // Methods have columns of their own, so only what looks like a slip is refused.
      const std::string name = json[i].get<std::string>();
      const std::string hint = contains(known, name) ? "" : did_you_mean(name, known);
      if (!hint.empty()) problem(place, "unknown metric '" + name + "'" + hint);
      m_study.metrics.push_back(name);
    }
  }

  // Every combination of a sweep's values, the last path varying fastest.
  static std::vector<std::vector<Setting>> combinations(const Sweep& sweep) {
    std::vector<std::vector<Setting>> all{{}};
    for (const auto& [path, values] : sweep) {
      std::vector<std::vector<Setting>> longer;
      for (const std::vector<Setting>& prefix : all) {
        for (const std::string& value : values) {
          longer.push_back(prefix);
          longer.back().push_back({path, value});
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  // bodies[0].material.yield_stress=2e6 → "yield_stress 2000000".
  static std::string short_text(const Setting& setting) {
    std::string value = setting.value;
    if (value.ends_with(".0")) value.resize(value.size() - 2);
    return setting.path.substr(setting.path.rfind('.') + 1) + " " + value;
  }

  void plan(const Sweep& sweep) {
    Json scene;
    try {
      scene = read_json_file(m_study.scene);
      for (const std::string& assignment : m_assignments) apply_assignment(scene, assignment);
    } catch (const InputError& error) {
      m_problems.insert(m_problems.end(), error.problems().begin(), error.problems().end());
      return;
    }
    m_study.scene_title = scene.is_object() && scene.contains("title") && scene["title"].is_string()
                              ? scene["title"].get<std::string>()
                              : "";
    if (m_study.title.empty()) m_study.title = m_study.scene_title;
    for (const Entry& entry : m_entries) {
      for (const std::vector<Setting>& variation : combinations(sweep)) {
        for (const double refine : entry.refine) {
          for (const std::vector<Setting>& resolution : combinations(entry.sweep)) {
            add_run(entry, variation, refine, resolution, scene);
          }
        }
      }
    }
  }

  void add_run(const Entry& entry, const std::vector<Setting>& variation, double refine,
               const std::vector<Setting>& resolution, const Json& scene) {
    PlannedRun run;
    run.series = run.name = entry.name;
    run.method = entry.method;
    run.place = entry.place;
    run.refine = refine;
    run.reference = entry.is_reference;
    run.settings = m_study.common;
    run.settings.insert(run.settings.end(), entry.set.begin(), entry.set.end());
    run.variation = variation;
    run.resolution = resolution;
    for (const auto* part : {&variation, &resolution}) {
      for (const Setting& setting : *part) {
        run.settings.push_back(setting);
        run.name += ", " + short_text(setting);
      }
    }
    if (entry.refine.size() > 1) {
      run.name += fmt::format(", refine {:g}", refine);
      run.resolution.push_back({"refine", fmt::format("{:g}", refine)});
    }
    if (refine != 1) add_refinement(run, scene);
    run.directory = unused_directory(run.name);
    m_study.runs.push_back(std::move(run));
  }

  // As assignments to each body's volume, so that the run stays an ordinary one.
  void add_refinement(PlannedRun& run, Json scene) {
    for (const Setting& setting : run.settings) apply_assignment(scene, setting.assignment());
    bool refined = false;
    const Json bodies = scene.is_object() && scene.contains("bodies") ? scene["bodies"] : Json::array();
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const Json volume =
          bodies[b].is_object() && bodies[b].contains("volume") ? bodies[b]["volume"] : Json();
      if (!volume.is_object()) continue;
      const std::string place = fmt::format("bodies[{}].volume.", b);
      if (volume.contains("grid") && volume["grid"].is_array()) {
        Json grid = volume["grid"];
        for (Json& cells : grid) {
          if (cells.is_number())
            cells = std::max(1, static_cast<int>(std::lround(cells.get<double>() * run.refine)));
        }
        run.settings.push_back({place + "grid", grid.dump()});
        refined = true;
      } else if (volume.contains("max_tet_volume") && volume["max_tet_volume"].is_number()) {
        const double finer = volume["max_tet_volume"].get<double>() / std::pow(run.refine, 3);
        run.settings.push_back({place + "max_tet_volume", fmt::format("{:.6g}", finer)});
        refined = true;
      }
    }
    if (!refined) {
      problem(join(run.place, "refine"),
              "the scene's bodies need \"volume\": {\"grid\"} or {\"max_tet_volume\"} to be refined");
    }
  }

  // Letters, digits, dots and dashes of the name.
  std::string unused_directory(const std::string& name) {
    std::string base;
    for (const char c : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
      if (plain) base += c;
      if (!plain && !base.empty() && base.back() != '-') base += '-';
    }
    while (!base.empty() && base.back() == '-') base.pop_back();
    if (base.empty() || base[0] == '.') base = "run" + base;
    std::string unused = base;
    for (int i = 2; !m_directories.insert(unused).second; ++i) unused = fmt::format("{}-{}", base, i);
    return unused;
  }

  // The scene alone first; then as each run changes it, where only new problems are told.
  void check_scenes() {
    const std::size_t before = m_problems.size();
    check_scene(m_assignments, "");
    if (m_problems.size() > before) return;
    for (const PlannedRun& run : m_study.runs) {
      std::vector<std::string> assignments;
      for (const Setting& setting : run.settings) assignments.push_back(setting.assignment());
      check_scene(assignments, run.place);
    }
  }

  void check_scene(const std::vector<std::string>& assignments, const std::string& place) {
    try {
      const SceneFile file = read_scene(m_study.scene, assignments, method_descriptions(m_registry));
      if (place.empty()) make_scene(file.settings, file.directory);
    } catch (const InputError& error) {
      for (Problem problem : error.problems()) {
        if (!place.empty()) {
          problem.message = fmt::format("{}: {}", problem.path, problem.message);
          problem.path = place;
          problem.file = m_study.path;
        } else if (problem.file.empty()) {
          problem.file = m_study.scene;
        }
        m_problems.push_back(problem);
      }
    }
  }

  const Json& m_document;
  const Registry& m_registry;
  const std::vector<std::string>& m_assignments;
  Study m_study;
  std::vector<Entry> m_entries;
  std::vector<std::string> m_left_out;
  std::set<std::string> m_directories;
  std::vector<Problem> m_problems;
};

Json text_schema(const char* doc) {
  return {{"type", "string"}, {"description", doc}};
}

Json values_schema(const char* doc, bool lists) {
  Json values = lists ? Json{{"type", "array"}, {"minItems", 1}} : Json(true);
  return {{"type", "object"}, {"description", doc}, {"additionalProperties", values}};
}

Json entry_schema(bool in_list) {
  const Json number{{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 16}};
  Json refine = number;
  if (in_list)
    refine = {{"anyOf", Json::array({number, Json{{"type", "array"}, {"items", number}, {"minItems", 1}}})}};
  refine["description"] = "finer volumes: grid × n, max_tet_volume / n³";
  Json properties{{"name", text_schema("unique name; default the method's")},
                  {"method", text_schema("see exemplar list methods")},
                  {"set", values_schema("settings of the scene for this run: path → value", false)},
                  {"refine", refine}};
  if (in_list) properties["sweep"] = values_schema("sweep of this method's resolution: path → values", true);
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"method"})},
          {"properties", properties}};
}

}  // namespace

Study read_study(const Json& document, const std::string& path, const Registry& registry,
                 const std::vector<std::string>& assignments) {
  return StudyReader(document, path, registry, assignments).read();
}

Json study_schema() {
  Json runs{{"type", "array"},
            {"minItems", 1},
            {"description", "methods, or methods with settings"},
            {"items", {{"anyOf", Json::array({text_schema("a method"), entry_schema(true)})}}}};
  Json reference{{"description", "what the runs are measured against: a run's name or a run of its own"},
                 {"anyOf", Json::array({text_schema("name of a run"), entry_schema(false)})}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Exemplar study"},
          {"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"scene", "runs"})},
          {"properties",
           {{"$schema", {{"type", "string"}}},
            {"title", text_schema("one line")},
            {"lesson", text_schema("one paragraph: what one learns from it")},
            {"scene", text_schema("scene file, relative to the study")},
            {"runs", runs},
            {"sweep", values_schema("every run with each of these values: path → values", true)},
            {"reference", reference},
            {"metrics",
             {{"type", "array"},
              {"items", {{"type", "string"}}},
              {"description", "metrics to show first, e.g. surface_rms, volume_ratio"}}}}}};
}

void select_runs(Study& study, const std::vector<std::string>& wanted, const Registry& registry) {
  if (wanted.empty()) return;
  std::vector<PlannedRun> kept;
  std::set<std::string> found;
  for (const PlannedRun& run : study.runs) {
    bool keep = run.place == "reference";
    for (const std::string& name : wanted) {
      if (name != run.name && name != run.series && name != run.method) continue;
      found.insert(name);
      keep = true;
    }
    if (keep) kept.push_back(run);
  }
  for (const std::string& name : wanted) {
    if (found.count(name)) continue;
    method_or_throw(registry, name);
    PlannedRun run;
    run.name = run.series = run.method = run.directory = run.place = name;
    run.settings = study.common;
    kept.push_back(run);
  }
  const bool has_reference =
      std::any_of(kept.begin(), kept.end(), [](const PlannedRun& r) { return r.reference; });
  if (!has_reference) {
    study.notes.push_back(fmt::format("the reference is '{}'", kept.front().name));
    for (PlannedRun& run : kept) run.reference = run.series == kept.front().series;
  }
  study.runs = std::move(kept);
}

const PlannedRun* reference_of(const Study& study, const PlannedRun& run) {
  const PlannedRun* finest = nullptr;
  for (const PlannedRun& candidate : study.runs) {
    if (!candidate.reference) continue;
    bool same = candidate.variation.size() == run.variation.size();
    for (std::size_t i = 0; same && i < run.variation.size(); ++i) {
      same = candidate.variation[i].value == run.variation[i].value;
    }
    if (same && (!finest || candidate.refine >= finest->refine)) finest = &candidate;
  }
  return finest;
}

}  // namespace exemplar
