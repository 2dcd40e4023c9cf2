// Cases of denting with known answers, shared by `exemplar validate rigid-dent` and the tests.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::dent {

std::vector<ValidationCase> validation_cases();

}  // namespace exemplar::dent
