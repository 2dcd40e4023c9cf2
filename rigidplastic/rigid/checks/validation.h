// Closed-form cases of rigid motion through method `rigid`, shared by `exemplar validate rigid` and the
// tests.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::rigid {

std::vector<ValidationCase> validation_cases();

}  // namespace exemplar::rigid
