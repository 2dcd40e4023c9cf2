#include "compare/study/study_settings.h"

#include "core/scene/json.h"

namespace exemplar {

namespace {

constexpr Range k_refinements{0, 16, true, false};

void check_paths(const std::string& key, const NamedValues& values, const ProblemSink& problem) {
  for (const auto& [path, value] : values) {
    try {
      check_path(path);
    } catch (const InputError& error) {
      problem(key + "." + path, error.problems().front().message);
    }
  }
}

void check_sweep(const NamedValues& sweep, const ProblemSink& problem) {
  check_paths("sweep", sweep, problem);
  for (const auto& [path, values] : sweep) {
    if (!values.text.starts_with("[") || values.text == "[]")
      problem("sweep." + path, "expected a list of at least one value");
  }
}

}  // namespace

void describe(Describe<StudyRunSettings>& d) {
  d.field("name", &StudyRunSettings::name, "", "unique name; none: the method's");
  d.field("method", &StudyRunSettings::method, "", "see exemplar list methods").required();
  d.field("set", &StudyRunSettings::set, "", "settings of the scene for this run: path → value");
  d.field("refine", &StudyRunSettings::refine, "", "finer volumes: grid × n, max_tet_volume / n³",
          k_refinements)
      .or_single();
  d.field("sweep", &StudyRunSettings::sweep, "", "sweep of this method's resolution: path → values");
  d.field("fixed", &StudyRunSettings::fixed, "", "leave this run out of the study's sweep");
  d.shorthand("method");
  d.check([](const StudyRunSettings& run, const ProblemSink& problem) {
    check_paths("set", run.set, problem);
    check_sweep(run.sweep, problem);
    if (run.refine.empty()) problem("refine", "expected at least one number");
  });
}

void describe(Describe<StudyReferenceSettings>& d) {
  d.field("name", &StudyReferenceSettings::name, "", "name of a run, or of this one");
  d.field("method", &StudyReferenceSettings::method, "", "given: a run of its own with this method");
  d.field("file", &StudyReferenceSettings::file, "", "given: a certified reference, relative to the study")
      .path();
  d.at_most_one({"file", "method"});
  d.field("set", &StudyReferenceSettings::set, "", "settings of the scene for this run: path → value");
  d.field("refine", &StudyReferenceSettings::refine, "", "finer volumes: grid × n, max_tet_volume / n³",
          k_refinements);
  d.field("fixed", &StudyReferenceSettings::fixed, "",
          "one reference for all values of the study's sweep, instead of one for each");
  d.shorthand("name");
  d.check([](const StudyReferenceSettings& reference, const ProblemSink& problem) {
    check_paths("set", reference.set, problem);
    if (!reference.name && !reference.method && !reference.file)
      problem("method", "is missing: expected a string");
    if (!reference.method && (!reference.set.empty() || reference.refine != 1))
      problem("method", "is missing: a run with settings of its own needs one");
  });
}

void describe(Describe<StudyClaimSettings>& d) {
  d.field("claim", &StudyClaimSettings::claim, "", "one sentence; numbers in it as in the lesson").required();
  d.field("left", &StudyClaimSettings::left, "", "expression, as in fem.wall_time / rigid.wall_time")
      .required();
  d.field("op", &StudyClaimSettings::op, "", "how both sides must stand to each other")
      .one_of({"<", "<=", ">", ">=", "==", "about"})
      .required();
  d.field("right", &StudyClaimSettings::right, "", "number or expression").required();
  d.field("within", &StudyClaimSettings::within, "",
          "of \"about\": largest difference as a share of the right side", non_negative());
  d.check([](const StudyClaimSettings& claim, const ProblemSink& problem) {
    if ((claim.op == "about") != (claim.within > 0))
      problem("within", "\"about\" needs a share above 0 and nothing else does");
  });
}

void describe(Describe<StudySettings>& d) {
  d.field("title", &StudySettings::title, "", "one line; none: the scene's");
  d.field("lesson", &StudySettings::lesson, "",
          "what this shows, in at most 90 words; numbers are bound to results, as in {fem.surface_rms:mm}");
  d.field("claims", &StudySettings::claims, "", "sentences that are checked against the results");
  d.field(
      "about", &StudySettings::about, "",
      "what a method must model to be ranked: keys of its capabilities, e.g. plasticity, plastic_examples");
  d.field("scene", &StudySettings::scene, "", "scene file, relative to the study").path().required();
  d.field("runs", &StudySettings::runs, "", "methods, or methods with settings").required();
  d.field("sweep", &StudySettings::sweep, "",
          "every run except fixed ones, with each of these values: path → values");
  d.field("reference", &StudySettings::reference, "",
          "what the runs are measured against: a run's name (of an entry: at the same values of the sweep; "
          "of one swept run, "
          "as in \"fem, young 2000000\": that one) or a run of its own; none: the first run");
  d.field("metrics", &StudySettings::metrics, "", "metrics to show first, e.g. surface_rms, volume_ratio");
  d.check([](const StudySettings& study, const ProblemSink& problem) {
    check_sweep(study.sweep, problem);
    if (study.runs.empty()) problem("runs", "expected at least one run");
  });
}

}  // namespace exemplar
