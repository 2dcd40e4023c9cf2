// Which triangles of a run's surfaces go through each other: the metric `crossings` of every method.
#pragma once

#include "core/output/fields.h"

namespace exemplar {

// Pairs of triangles of the written surface that cross, of one body or of two (crossing_pairs); k_unknown when it is
// not made of triangles. What moves as a whole does not come to cross itself, and is not looked at.
double surface_crossings(const Geometry& surface);

}  // namespace exemplar
