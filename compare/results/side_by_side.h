// side_by_side.pvd: every run in one data set (a .vtm a frame), moved apart so that nothing overlaps, with
// the integer cell array `method` (the run's place in the study); blocks are named "<run>" and "<run>,
// obstacles".
#pragma once

#include <vector>

#include "compare/results/collect.h"

namespace exemplar {

// Where each run stands: rows of at most six along the shorter horizontal side of the motion.
std::vector<Vec3> side_by_side_offsets(std::size_t runs, const Box& bounds);

// The part of a triangle surface inside the vertical shaft min.x..max.x, min.z..max.z (all heights): wide
// grounds are cut so that they end where the neighbour's begin.
Geometry cut_to_shaft(const Geometry& surface, const Box& box);

// The motion's box with room around it, in which a run is shown.
Box display_box(const Box& bounds);

// Returns what was written, relative to the comparison's folder.
std::vector<std::filesystem::path> write_side_by_side(const Comparison& comparison);

}  // namespace exemplar
