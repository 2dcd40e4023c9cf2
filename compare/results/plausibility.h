// Reasons to doubt a finished run, whatever its cost and distance: such a run is shown with them and is not
// ranked.
#pragma once

#include <string>
#include <vector>

#include "compare/results/run_data.h"
#include "core/output/fields.h"

namespace exemplar {

struct Doubt {
  std::string text;
  std::string cure;  // what to change, in the scene or the study
};

// `first`, `last`: the surface of the run's first and last frame.
std::vector<Doubt> find_doubts(const RunData& run, const Geometry& first, const Geometry& last);

}  // namespace exemplar
