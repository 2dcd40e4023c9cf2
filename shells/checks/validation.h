// Validation cases of `shell`, registered in register.cpp.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::shells {

// validation_bending.cpp: energies of given shapes, in both models.
std::vector<ValidationRecord> validate_constant_curvature(const ValidationContext& context);
std::vector<ValidationRecord> validate_finite_bending(const ValidationContext& context);
std::vector<ValidationRecord> validate_patch(const ValidationContext& context);
std::vector<ValidationRecord> validate_half_cylinder(const ValidationContext& context);

// validation_strips.cpp: clamped strips and rings.
std::vector<ValidationRecord> validate_elastica(const ValidationContext& context);
std::vector<ValidationRecord> validate_curved_membrane(const ValidationContext& context);
std::vector<ValidationRecord> validate_tip_shear(const ValidationContext& context);
std::vector<ValidationRecord> validate_slit_ring(const ValidationContext& context);
std::vector<ValidationRecord> validate_buckling(const ValidationContext& context);

// validation_shells.cpp: curved shells.
std::vector<ValidationRecord> validate_scordelis_lo(const ValidationContext& context);
std::vector<ValidationRecord> validate_hinged_roof(const ValidationContext& context);
std::vector<ValidationRecord> validate_pullout(const ValidationContext& context);
std::vector<ValidationRecord> validate_pinched_cylinder(const ValidationContext& context);
std::vector<ValidationRecord> validate_hemisphere(const ValidationContext& context);

// validation_motion.cpp: momentum, free fall, plastic bending.
std::vector<ValidationRecord> validate_motion(const ValidationContext& context);
std::vector<ValidationRecord> validate_plasticity(const ValidationContext& context);

}  // namespace exemplar::shells
