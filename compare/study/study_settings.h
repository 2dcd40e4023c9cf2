// A study file as it stands, described like a scene is:
//
//   {"title": …, "lesson": at most 90 words on what this shows, numbers as {fem.plastic_dissipation} (expression.h),
//    "claims": [{"claim": a sentence, "left": expression, "op": ">", "right": expression or number}],
//    "about": what of the scene a method must model to be ranked, as in ["plasticity"],
//    "scene": path relative to the study,
//    "runs": ["fem", {"name", "method", "set": {path: value}, "refine": n or [n, …], "sweep": {path: […]}}],
//    "sweep": {path: [values]},                    runs × values, but for runs with "fixed": true; each is compared with
//                                                  the reference at the same values, or with a fixed one
//    "reference": name of an entry or of one of its swept runs ("fem, yield_stress 2000000"), or {"method", "refine",
//                 "set", "fixed"}: a run of its own, finer than the others, or {"file"}: a certified one,
//    "metrics": ["surface_rms", …]}
//
// `refine` n makes the reference volumes of the bodies finer: grid × n, max_tet_volume / n³. A list of them,
// or a sweep inside a run, is a sweep of that method's resolution: the report draws work against precision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scene/settings.h"

namespace exemplar {

struct StudyRunSettings {
  std::string method;
  std::optional<std::string> name;  // none: the method's
  NamedValues set;
  std::vector<double> refine{1};
  NamedValues sweep;   // lists
  bool fixed = false;  // the study's sweep passes it by
};

// Without a method and a file it is the name of one of the runs.
struct StudyReferenceSettings {
  std::optional<std::string> name, method;
  std::optional<std::string> file;  // relative to the study: compare/reference/reference_file.h
  NamedValues set;
  double refine = 1;
  bool fixed = false;
};

// A sentence and the comparison that must hold for it.
struct StudyClaimSettings {
  std::string claim;
  std::string left, op;
  JsonText right;     // a number or an expression
  double within = 0;  // of "about": relative
};

struct StudySettings {
  std::string title, lesson;
  std::vector<StudyClaimSettings> claims;
  std::vector<std::string> about;
  std::string scene;
  std::vector<StudyRunSettings> runs;
  NamedValues sweep;                                // lists
  std::optional<StudyReferenceSettings> reference;  // none: the first run
  std::vector<std::string> metrics;
};

void describe(Describe<StudyRunSettings>& d);
void describe(Describe<StudyReferenceSettings>& d);
void describe(Describe<StudyClaimSettings>& d);
void describe(Describe<StudySettings>& d);

}  // namespace exemplar
