// Validation of contact between deformable bodies, on solids (exemplar validate contact), registered in register.cpp.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::fem {

// Two spheres pressed together: force against approach beside Hertz (1882).
std::vector<ValidationRecord> validate_hertz(const ValidationContext& context);
// Blocks on blocks: each interface carries the weight above it.
std::vector<ValidationRecord> validate_stack_forces(const ValidationContext& context);
// A block on a block that is tilted a little less and a little more than friction holds.
std::vector<ValidationRecord> validate_stick_and_slip(const ValidationContext& context);
// Two equal blocks fly into each other: momentum, symmetry, energy and where it went.
std::vector<ValidationRecord> validate_head_on(const ValidationContext& context);

}  // namespace exemplar::fem
