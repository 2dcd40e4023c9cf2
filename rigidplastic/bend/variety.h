// How many different bends a crowd of equal bodies shows (patkar2014 Fig. 13).
#pragma once

#include <span>

#include "rigidplastic/bend/bending_body.h"

namespace exemplar::bend {

// Bodies that are bent somewhere by more than `angle` (rad), counting those as one whose joints are as many and turned
// alike within `angle`.
int different_bends(std::span<const BendingBody> bodies, double angle);

}  // namespace exemplar::bend
