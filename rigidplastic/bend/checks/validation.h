// Cases of bending with known answers, shared by `exemplar validate rigid-bend` and the tests.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::bend {

std::vector<ValidationCase> validation_cases();

}  // namespace exemplar::bend
