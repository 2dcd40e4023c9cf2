// Validation cases and benches of method `peridynamics`.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::peridynamics {

std::vector<ValidationCase> validation_cases();
std::vector<Bench> benches();

}  // namespace exemplar::peridynamics
