// A rig found from a pose (jones2016 §6 names rigs from arbitrary examples as an open problem): bones are fitted to
// the deformed surface, handles are added where the fit is worst, the weights are made anew, until the fit is good
// enough or the budget is spent.
#pragma once

#include <vector>

#include "core/rig/bone_fit.h"

namespace exemplar {

struct RefineOptions {
  double tolerance = 0;     // m, RMS distance that is good enough
  int max_handles = 0;      // no more than these; no refinement when the rig has as many already
  int handles_a_round = 0;  // 0: a quarter of those there are
};

struct RefinedFit {
  Rig rig;
  BoneFit fit;
  std::vector<int> handles;  // after every round
  std::vector<double> rms;   // m, after every round
};

// `rest` and `target`: the body's surface at rest and deformed, one row per carried point of `volume`.
RefinedFit fit_adding_handles(const Volume& volume, Rig rig, const Points& rest, const Points& target,
                              const RefineOptions& options);

}  // namespace exemplar
