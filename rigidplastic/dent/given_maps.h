// Dent maps that do not come from a projectile's shape: analytic and procedural ones, and grids of numbers that
// somebody drew (patkar2014 §3.1). Depths in metres, the largest one at the centre of the plane.
#pragma once

#include <span>

#include "rigidplastic/dent/depth_grid.h"

namespace exemplar::dent {

// a exp(−2 r²/R²): a thirteenth of the depth is left at the radius R.
DepthGrid gaussian_map(double distance, double radius, double spacing);

// A bowl with ripples that die out towards three radii: a (1 − (r/R)²)² within R, below it a tenth of the depth in
// rings.
DepthGrid crater_map(double distance, double radius, double spacing);

// `columns` × `rows` numbers, row after row, any unit: scaled so that the largest is `distance`, stretched over a
// square of side 2 `radius`. The numbers were checked when the scene was read.
DepthGrid drawn_map(std::span<const double> values, int columns, int rows, double distance, double radius);

}  // namespace exemplar::dent
