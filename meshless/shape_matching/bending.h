// How stiff the cells of a body are in bending beside how stiff they are in stretching: 1 for a solid. Measured on the body
// at rest, at set-up: it is bent a little along its longest extent, across its shortest one, and what matching answers is
// compared with what a solid of the same mass, s² and second moment would.
//
//   u      κ (−x y, x²/2, 0): the axes x, y along the longest and the shortest extent, from the centre of mass [m]
//   e      ½ Σ m_i u_i·(u_i − (g_i − x⁰_i)), over α/h²; g the goals [kg m²]
//   c      ½ (1 − β) s² κ² ∫ ρ y² dV, the same of a solid (stiffness.h)
//   factor e/c
//
// The field is given, not found, so that cells which could give way in some other manner (tetrahedra) count as stiffer than
// they are.
#pragma once

#include "core/mesh/mass_properties.h"
#include "meshless/shape_matching/cell_set.h"

namespace exemplar::shape_matching {

// `square_radius`: s² that the stiffness is planned with [m²]. 1 where there is nothing to bend.
double bending_factor(const CellModel& model, const MatchOptions& match, double square_radius,
                      const MassProperties& solid);

}  // namespace exemplar::shape_matching
