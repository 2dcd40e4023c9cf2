// Validation cases of solids, registered in register.cpp.
#pragma once

#include <vector>

#include "core/elastic/energies.h"
#include "core/run/validation.h"

namespace exemplar::fem {

const char* name_of(ElasticModel model);

std::vector<ValidationRecord> validate_patch(const ValidationContext& context);
std::vector<ValidationRecord> validate_stress(const ValidationContext& context);
std::vector<ValidationRecord> validate_motion(const ValidationContext& context);
std::vector<ValidationRecord> validate_recovery(const ValidationContext& context);
std::vector<ValidationRecord> validate_cantilever(const ValidationContext& context);
std::vector<ValidationRecord> validate_modes(const ValidationContext& context);
std::vector<ValidationRecord> validate_figure_4(const ValidationContext& context);
std::vector<ValidationRecord> validate_drift(const ValidationContext& context);
std::vector<ValidationRecord> validate_twist(const ValidationContext& context);

// quadratic_cases.cpp
std::vector<ValidationRecord> validate_quadratic_patch(const ValidationContext& context);
std::vector<ValidationRecord> validate_quadratic_calculix(const ValidationContext& context);
std::vector<ValidationRecord> validate_bending(const ValidationContext& context);
std::vector<ValidationRecord> validate_manufactured(const ValidationContext& context);

// plastic_cases.cpp
std::vector<ValidationRecord> validate_plastic_bar(const ValidationContext& context);
std::vector<ValidationRecord> validate_limit_load(const ValidationContext& context);
std::vector<ValidationRecord> validate_taylor_rod(const ValidationContext& context);

// validation_dynamics.cpp
std::vector<ValidationRecord> validate_order(const ValidationContext& context);
std::vector<ValidationRecord> validate_dissipation(const ValidationContext& context);

}  // namespace exemplar::fem
