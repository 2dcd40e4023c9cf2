// Validation of contact between deformable bodies, on solids (exemplar validate contact), registered in
// register.cpp.
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
// Forces and stiffness of every kind of pair between deformable features, degenerate ones among them.
std::vector<ValidationRecord> validate_contact_derivatives(const ValidationContext& context);

// Benches (exemplar bench contact): what the search costs while nothing touches, what an active pair costs
// and 20 layers of cloth; and how the cost of a step grows from 2 to 50 bodies.
std::vector<BenchRecord> bench_contact_search(const ValidationContext& context);
std::vector<BenchRecord> bench_contact_cloth(const ValidationContext& context);
std::vector<BenchRecord> bench_contact_growth(const ValidationContext& context);

}  // namespace exemplar::fem
