// Benches of bending: skinning and sub-bodies on a mesh of the paper's size, and condensation on many bodies.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::bend {

std::vector<Bench> benches();

}  // namespace exemplar::bend
