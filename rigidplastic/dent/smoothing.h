// Smoothing of a broadened depth profile (patkar2014 §3.2): explicit heat steps, rescaling to the dent distance,
// and heat steps that may only deepen. Pure functions on a grid; nothing flows over its border.
#pragma once

#include "rigidplastic/dent/depth_grid.h"

namespace exemplar::dent {

struct Smoothing {
  int heat_steps = 6;   // round the sharp ridges of the envelope
  int raise_steps = 6;  // fill its creases
};

// One explicit step u + λ Δu with λ = 0.2 (stable below 0.25), Δ the five-point Laplacian in cells.
void heat_step(DepthGrid& grid);
// Heat steps, the largest depth brought back to what it was, then heat steps that never make a cell shallower.
void smooth(DepthGrid& grid, const Smoothing& smoothing);

}  // namespace exemplar::dent
