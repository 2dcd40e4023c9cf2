// `exemplar bench rigid-lbs`: time in deformation over time in Bullet beside the paper's Table 2, growth with
// the number of bodies, cost per frame (Fig. 11) as a plot.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::lbs {

std::vector<Bench> benches();

}  // namespace exemplar::lbs
