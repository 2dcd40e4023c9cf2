// Dents that keep the body's volume, the paper's open problem (patkar2014 §5): a rim is raised around the dent until
// the body has the volume that it had. Its profile is the difference of two envelopes of the dent, a wider one and the
// dent itself: zero at the deepest points, largest just outside the dent's flank.
#pragma once

#include "rigidplastic/dent/dent_map.h"

namespace exemplar::dent {

// Gives the map its rim so that `points` (a closed surface, before the dent) enclose the same volume after it, with
// the rim nowhere higher than the dent is deep. Returns the share of the dent's volume that could not be given back,
// 0 when all was: a target that ends within its dent has no place for a rim.
double keep_volume(DentMap& map, const Points& points, const Triangles& triangles, double width);

}  // namespace exemplar::dent
