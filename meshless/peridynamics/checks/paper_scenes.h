// Table 2 of levine2014 on the shipped scenes: what 1000 steps take before, during and after the impact.
#pragma once

#include "core/run/validation.h"

namespace exemplar::peridynamics {

// Nine rows beside the paper's (seconds for 1000 iterations on a Tesla K20), with a share of its particles, or with
// all of them where the context is slow.
std::vector<BenchRecord> paper_scenes(const ValidationContext& context);

}  // namespace exemplar::peridynamics
