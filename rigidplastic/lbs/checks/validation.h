// Cases of `exemplar validate rigid-lbs`, shared with the tests.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::lbs {

std::vector<ValidationCase> validation_cases();

}  // namespace exemplar::lbs
