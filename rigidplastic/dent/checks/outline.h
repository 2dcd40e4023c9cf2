// Cases that measure the shape of dents on the surface that a run leaves: the projectile's outline, and the shear of
// glancing hits (patkar2014 Fig. 5, 8, 9).
#pragma once

#include "core/run/validation.h"

namespace exemplar::dent {

std::vector<ValidationRecord> outline(const ValidationContext&);
std::vector<ValidationRecord> shear(const ValidationContext&);

}  // namespace exemplar::dent
