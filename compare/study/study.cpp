#include "compare/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compare/reference/reference_file.h"
#include "compare/study/capability_names.h"
#include "compare/study/study_settings.h"
#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/plain_text.h"
#include "core/run/runner.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// A slip in a sweep multiplies quickly: nine lists of ten values are 10⁹ runs.
constexpr double k_most_runs = 2000;
// File systems allow 255 bytes for a name, and whole paths are limited as well.
constexpr std::size_t k_longest_directory = 100;

constexpr int k_most_words = 90;  // of a lesson: what a reader takes in before looking

const std::vector<std::string> k_surface_metrics{"surface_rms",         "surface_max",  "surface_rms_aligned",
                                                 "surface_max_aligned", "shape_change", "peak_memory"};

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

using Sweep = std::vector<std::pair<std::string, std::vector<std::string>>>;  // path → values as JSON

// The values of each path one by one.
Sweep unpacked(const NamedValues& lists) {
  Sweep sweep;
  for (const auto& [path, list] : lists) {
    sweep.push_back({path, {}});
    for (const Json& value : Json::parse(list.text, nullptr, false))
      sweep.back().second.push_back(value.dump());
  }
  return sweep;
}

std::vector<Setting> settings_of(const NamedValues& values) {
  std::vector<Setting> settings;
  for (const auto& [path, value] : values) settings.push_back({path, value.text});
  return settings;
}

void refine_volume(const Json& volume, const std::string& place, double factor,
                   std::vector<Setting>& settings) {
  if (!volume.is_object()) return;
  if (volume.contains("grid") && volume["grid"].is_array()) {
    Json grid = volume["grid"];
    for (Json& cells : grid) {
      if (cells.is_number()) cells = std::max(1, static_cast<int>(std::lround(cells.get<double>() * factor)));
    }
    settings.push_back({place + "grid", grid.dump()});
  } else if (volume.contains("max_tet_volume") && volume["max_tet_volume"].is_number()) {
    const double finer = volume["max_tet_volume"].get<double>() / std::pow(factor, 3);
    settings.push_back({place + "max_tet_volume", fmt::format("{:.6g}", finer)});
  } else if (volume.contains("cage_cell") && volume["cage_cell"].is_number()) {
    settings.push_back(
        {place + "cage_cell", fmt::format("{:.6g}", volume["cage_cell"].get<double>() / factor)});
  }
}

// An entry of "runs", or the reference.
struct Entry {
  std::string name, method, place;
  std::vector<Setting> set;
  std::vector<double> refine{1};
  Sweep sweep;
  bool is_fixed = false;  // the study's sweep passes it by
  bool is_reference = false;
  std::string file = {};  // of a certified reference
};

// From the settings to the runs.
class StudyPlanner {
 public:
  // `problems`: those of the settings; what can be checked is checked in spite of them.
  StudyPlanner(const Registry& registry, const std::vector<std::string>& assignments,
               std::vector<Problem> problems)
      : m_registry(registry), m_assignments(assignments), m_problems(std::move(problems)) {
    for (const std::string& assignment : assignments) {
      const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
      m_study.common.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
    }
  }

  Study plan(const StudySettings& settings, const std::string& path) {
    m_study.path = path;
    m_study.title = settings.title;
    m_study.scene = (fs::path(path).parent_path() / settings.scene).lexically_normal().string();
    if (!settings.scene.empty() && !fs::is_regular_file(m_study.scene))
      problem("scene", "there is no file " + printable(m_study.scene));
    add_entries(settings.runs);
    choose_reference(settings.reference);
    check_metrics(settings.metrics);
    check_about(settings.about);
    check_number_of_runs(unpacked(settings.sweep));
    if (m_problems.empty()) multiply_out(unpacked(settings.sweep));
    if (m_problems.empty()) name_reference();
    if (m_problems.empty()) bind_lesson(settings);
    if (m_problems.empty()) tell_sweep(unpacked(settings.sweep));
    if (m_problems.empty()) check_scenes();
    if (!m_problems.empty()) throw InputError(m_problems);
    return std::move(m_study);
  }

 private:
  void problem(const std::string& place, const std::string& message) {
    m_problems.push_back({m_study.path, place, message});
  }

  bool known_method(const std::string& method, const std::string& place) {
    if (method.empty()) return false;
    if (m_registry.find(method)) return true;
    problem(place, fmt::format("unknown method '{}'{}; exemplar list methods names them", method,
                               did_you_mean(method, m_registry.method_names())));
    return false;
  }

  void add_entries(const std::vector<StudyRunSettings>& runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string place = fmt::format("runs[{}]", i);
      Entry entry{runs[i].name.value_or(runs[i].method),
                  runs[i].method,
                  place,
                  settings_of(runs[i].set),
                  runs[i].refine,
                  unpacked(runs[i].sweep),
                  runs[i].fixed};
      if (known_method(entry.method, place)) add_entry(std::move(entry));
    }
    if (m_entries.empty() && m_problems.empty()) problem("runs", "there is no run");
  }

  void add_entry(Entry entry) {
    const auto [other, is_new] = m_places.emplace(entry.name, entry.place);
    if (!is_new)
      problem(entry.place, fmt::format("the name '{}' is taken by {}; give one of them another \"name\"",
                                       entry.name, other->second));
    m_entries.push_back(std::move(entry));
  }

  void choose_reference(const std::optional<StudyReferenceSettings>& reference) {
    if (!reference) {
      if (!m_entries.empty()) m_entries.front().is_reference = true;
      return;
    }
    if (reference->file) return add_reference_file(*reference);
    if (!reference->method) {
      m_reference = reference->name.value_or("");
      return check_reference_name();
    }
    const std::string unnamed =
        fmt::format("reference ({}, refined {:g}×)", *reference->method, reference->refine);
    Entry entry{reference->name.value_or(unnamed),
                *reference->method,
                "reference",
                settings_of(reference->set),
                {reference->refine},
                {},
                reference->fixed,
                true};
    if (known_method(entry.method, "reference.method")) add_entry(std::move(entry));
  }

  void add_reference_file(const StudyReferenceSettings& reference) {
    Entry entry;
    entry.name = reference.name.value_or("certified reference");
    entry.place = "reference";
    entry.is_fixed = entry.is_reference = true;
    entry.file = (fs::path(m_study.path).parent_path() / *reference.file).lexically_normal().string();
    attempt("reference.file", [&] { entry.method = read_reference(entry.file).method; });
    if (known_method(entry.method, "reference.file")) add_entry(std::move(entry));
  }

  // At once, beside all other problems: an entry, or one of its runs by its longer name.
  void check_reference_name() {
    std::vector<std::string> names;
    for (const Entry& entry : m_entries) {
      if (m_reference == entry.name || m_reference.starts_with(entry.name + ", ")) return;
      names.push_back(entry.name);
    }
    if (!m_reference.empty())
      problem("reference",
              fmt::format("there is no run called '{}'{}", m_reference, did_you_mean(m_reference, names)));
  }

  // An entry: each of its runs for those with the same values of the sweep; or one run of a sweep: for all.
  void name_reference() {
    if (m_reference.empty()) return;
    std::vector<std::string> names;
    bool found = false;
    for (const bool by_series : {true, false}) {
      for (PlannedRun& run : m_study.runs) {
        if (found && !by_series) break;
        const std::string& name = by_series ? run.series : run.name;
        run.reference = run.reference || name == m_reference;
        if (name != m_reference) names.push_back(name);
        run.for_all = run.reference && !by_series;
        found = found || run.reference;
      }
    }
    if (!found)
      problem("reference",
              fmt::format("there is no run called '{}'{}", m_reference, did_you_mean(m_reference, names)));
  }

  // What is swept and what is not, in words.
  void tell_sweep(const Sweep& sweep) {
    if (sweep.empty()) return;
    std::string swept, fixed, paths;
    for (const Entry& entry : m_entries) {
      std::string& list = entry.is_fixed ? fixed : swept;
      list += (list.empty() ? "" : ", ") + entry.name;
    }
    for (const auto& [path, values] : sweep)
      paths += fmt::format("{}{} ({} values)", paths.empty() ? "" : " × ", path, values.size());
    m_study.notes.push_back(
        fmt::format("swept over {}: {}{}", paths, swept, fixed.empty() ? "" : "; not swept: " + fixed));
    for (const PlannedRun& run : m_study.runs) {
      if (!run.reference) continue;
      m_study.notes.push_back(
          run.variation.empty() || run.for_all
              ? fmt::format("every run is measured against '{}'", run.name)
              : fmt::format("every run is measured against '{}' with the same values", run.series));
      return;
    }
  }

  // Methods have columns of their own, so only what looks like a slip is refused.
  void check_metrics(const std::vector<std::string>& metrics) {
    m_study.metrics = metrics;
    std::vector<std::string> known = k_surface_metrics;
    for (const Metrics& table : {metrics_of(FrameMetrics{}), timings_of(FrameMetrics{})}) {
      for (const Metric& metric : table) known.push_back(metric.name);
    }
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const std::string hint = contains(known, metrics[i]) ? "" : did_you_mean(metrics[i], known);
      if (!hint.empty()) problem(fmt::format("metrics[{}]", i), "unknown metric '" + metrics[i] + "'" + hint);
    }
  }

  void check_about(const std::vector<std::string>& about) {
    m_study.about = about;
    const std::vector<std::string> known = capability_names();
    for (std::size_t i = 0; i < about.size(); ++i) {
      if (!contains(known, about[i]))
        problem(fmt::format("about[{}]", i),
                fmt::format("unknown capability '{}'{}: expected one of {}", about[i],
                            did_you_mean(about[i], known), fmt::join(known, ", ")));
    }
  }

  // The lesson and the claims with the runs that they speak of.
  void bind_lesson(const StudySettings& settings) {
    std::vector<RunName> runs;
    for (const PlannedRun& run : m_study.runs) runs.push_back({run.name, run.directory});
    attempt("lesson", [&] { m_study.lesson = parse_bound_text(settings.lesson, runs); });
    if (const int words = m_study.lesson.words(); words > k_most_words)
      problem("lesson", fmt::format("has {} words: expected at most {}", words, k_most_words));
    for (std::size_t i = 0; i < settings.claims.size(); ++i) {
      const StudyClaimSettings& given = settings.claims[i];
      Claim claim;
      claim.place = fmt::format("claims[{}]", i);
      claim.op = given.op;
      claim.within = given.within;
      attempt(claim.place + ".claim", [&] { claim.text = parse_bound_text(given.claim, runs); });
      attempt(claim.place + ".left", [&] { claim.left = parse_expression(given.left, runs); });
      attempt(claim.place + ".right", [&] { claim.right = parse_expression(plain_text(given.right), runs); });
      m_study.claims.push_back(std::move(claim));
    }
  }

  template <class Work>
  void attempt(const std::string& place, const Work& work) {
    try {
      work();
    } catch (const InputError& error) {
      for (const Problem& found : error.problems()) problem(place, found.message);
    }
  }

  // A number or the text of an expression.
  static std::string plain_text(const JsonText& value) {
    const Json json = Json::parse(value.text, nullptr, false);
    return json.is_string() ? json.get<std::string>() : value.text;
  }

  static double size_of(const Sweep& sweep) {
    double size = 1;
    for (const auto& [path, values] : sweep) size *= static_cast<double>(values.size());
    return size;
  }

  void check_number_of_runs(const Sweep& sweep) {
    double runs = 0;
    for (const Entry& entry : m_entries)
      runs += (entry.is_fixed ? 1 : size_of(sweep)) * static_cast<double>(entry.refine.size()) *
              size_of(entry.sweep);
    if (runs > k_most_runs)
      problem("sweep",
              fmt::format("this would plan {:.6g} runs; at most {:g} are allowed", runs, k_most_runs));
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

  void multiply_out(const Sweep& sweep) {
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
      for (const std::vector<Setting>& variation : combinations(entry.is_fixed ? Sweep{} : sweep)) {
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
    run.capabilities = m_registry.get(entry.method).capabilities;
    run.place = entry.place;
    run.refine = refine;
    run.file = entry.file;
    run.reference = entry.is_reference;
    run.for_all = !entry.file.empty();
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
    const std::vector<Setting> finer = finer_volumes(scene, run.refine);
    run.settings.insert(run.settings.end(), finer.begin(), finer.end());
    if (finer.empty()) {
      problem(run.place + ".refine",
              "the scene's bodies need \"volume\": {\"grid\"}, {\"max_tet_volume\"} or {\"cage_cell\"} to be "
              "refined");
    }
  }

  // Letters, digits, dots and dashes of the name; of a long one its beginning and a mark of the whole.
  std::string unused_directory(const std::string& name) {
    std::string base;
    for (const char c : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
      if (plain) base += c;
      if (!plain && !base.empty() && base.back() != '-') base += '-';
    }
    while (!base.empty() && base.back() == '-') base.pop_back();
    if (base.empty() || base[0] == '.') base = "run" + base;
    if (base.size() > k_longest_directory) {
      Hasher hash;
      hash.add_text(name);
      base = base.substr(0, k_longest_directory - 9) + "-" + hash.text().substr(0, 8);
    }
    std::string unused = base;
    for (int i = 2; !m_directories.insert(unused).second; ++i) unused = fmt::format("{}-{}", base, i);
    return unused;
  }

  // The scene alone first; then as each run changes it, where only new problems are reported.
  void check_scenes() {
    const std::size_t before = m_problems.size();
    check_scene(m_assignments, "");
    if (m_problems.size() > before) return;
    for (const PlannedRun& run : m_study.runs) {
      if (!run.file.empty()) continue;
      std::vector<std::string> assignments;
      for (const Setting& setting : run.settings) assignments.push_back(setting.assignment());
      check_scene(assignments, run.place);
    }
  }

  void check_scene(const std::vector<std::string>& assignments, const std::string& place) {
    try {
      const SceneFile file = read_scene(m_study.scene, assignments, m_registry.descriptions());
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

  const Registry& m_registry;
  const std::vector<std::string>& m_assignments;
  Study m_study;
  std::vector<Entry> m_entries;
  std::map<std::string, std::string> m_places;  // name of an entry → where it stands first
  std::string m_reference;                      // a name that the study gives; empty: the entries say it
  std::set<std::string> m_directories;
  std::vector<Problem> m_problems;
};

}  // namespace

Study read_study(Json document, const std::string& path, const Registry& registry,
                 const std::vector<std::string>& assignments) {
  StudySettings settings;
  std::vector<Problem> problems;
  take_schema_key(document, problems);
  read_object(document, description_of<StudySettings>(), &settings, "", problems);
  for (Problem& problem : problems) problem.file = path;
  return StudyPlanner(registry, assignments, std::move(problems)).plan(settings, path);
}

std::vector<Setting> finer_volumes(const Json& scene, double factor) {
  std::vector<Setting> settings;
  const Json bodies = scene.is_object() && scene.contains("bodies") ? scene["bodies"] : Json::array();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].is_object() && bodies[b].contains("volume"))
      refine_volume(bodies[b]["volume"], fmt::format("bodies[{}].volume.", b), factor, settings);
  }
  return settings;
}

bool is_study(const Json& document) {
  return document.is_object() && document.contains("scene") && !document.contains("bodies");
}

Json study_schema() {
  Json schema = schema_of(description_of<StudySettings>());
  schema["properties"]["$schema"] = {{"type", "string"}};
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Exemplar study";
  return schema;
}

Json to_json(const std::vector<Setting>& settings) {
  Json json = Json::object();
  for (const Setting& setting : settings) {
    const Json value = Json::parse(setting.value, nullptr, false);
    json[setting.path] = value.is_discarded() ? Json(setting.value) : value;
  }
  return json;
}

namespace {

bool is_named(const PlannedRun& run, const std::string& name) {
  return name == run.name || name == run.directory || name == run.series || name == run.method;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "fem, yield_stress 2, rigid" → {"fem, yield_stress 2", "rigid"}: the longest names that there are.
std::vector<std::string> split_names(const Study& study, const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      std::size_t best = std::min(text.find(',', begin), text.size());
      for (std::size_t end = best; end <= text.size();
           end = end == text.size() ? end + 1 : std::min(text.find(',', end + 1), text.size())) {
        const std::string name = trimmed(text.substr(begin, end - begin));
        if (std::any_of(study.runs.begin(), study.runs.end(),
                        [&](const auto& run) { return is_named(run, name); }))
          best = end;
      }
      names.push_back(trimmed(text.substr(begin, best - begin)));
      begin = best + 1;
    }
  }
  return names;
}

}  // namespace

void select_runs(Study& study, const std::vector<std::string>& texts, const Registry& registry) {
  if (texts.empty()) return;
  const std::vector<std::string> wanted = split_names(study, texts);
  std::vector<PlannedRun> kept;
  std::set<std::string> found;
  for (const PlannedRun& run : study.runs) {
    bool keep = run.place == "reference";
    for (const std::string& name : wanted) {
      if (!is_named(run, name)) continue;
      found.insert(name);
      keep = true;
    }
    if (keep) kept.push_back(run);
  }
  for (const std::string& name : wanted) {
    if (found.count(name)) continue;
    PlannedRun run;
    run.capabilities = registry.get(name).capabilities;
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
    // One that is not swept stands for all values.
    const bool same =
        candidate.for_all ||
        std::all_of(candidate.variation.begin(), candidate.variation.end(), [&](const Setting& setting) {
          return std::any_of(run.variation.begin(), run.variation.end(),
                             [&](const Setting& own) { return own.assignment() == setting.assignment(); });
        });
    if (same && (!finest || candidate.refine >= finest->refine)) finest = &candidate;
  }
  return finest;
}

}  // namespace exemplar
