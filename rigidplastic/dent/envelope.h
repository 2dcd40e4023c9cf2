// Broadening of a depth profile (patkar2014 §3.2): the upper envelope of equally wide Gaussians, one on every cell,
//
//   z(x) = max_i z_i exp(−c ‖x − x_i‖²),   c = 1/(2 w²),   w: width in metres.
//
// The paper finds the envelope as a convex hull, O(N log N). Taking logarithms makes it
//   log z(x) = max_i (log z_i − c ‖x − x_i‖²),
// a maximum of paraboloids of one shape: exactly the generalised distance transform of Felzenszwalb and
// Huttenlocher (2012), separable into one pass along the rows and one along the columns, each linear in the
// number of cells N. The O(N²) form is the oracle in the tests and the bench (checks/brute_force.h).
#pragma once

#include "rigidplastic/dent/depth_grid.h"

namespace exemplar::dent {

// Depths ≤ 0 carry no Gaussian. `width` 0 leaves the grid as it is.
void broaden(DepthGrid& grid, double width);

}  // namespace exemplar::dent
