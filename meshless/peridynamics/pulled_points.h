// On which particles the points of a surface hang that a pull takes hold of: those within two spacings, with weights that
// give the point back from the particles' places exactly, and so from any linear motion of them, and whose squares add up to
// the least.
#pragma once

#include <span>

#include "core/mesh/point_map.h"
#include "core/world/pull.h"

namespace exemplar::peridynamics {

// One point for every vertex; vertices that no pull of this body needs hang on nothing.
PointMap pulled_vertices(std::span<const Pull> pulls, const std::string& body, const Points& vertices,
                         const Points& particles, double spacing);

}  // namespace exemplar::peridynamics
