// Benches of denting: the paper's Table 1 (dent-map), and denting on top of the rigid solver (rain).
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::dent {

std::vector<Bench> benches();

}  // namespace exemplar::dent
