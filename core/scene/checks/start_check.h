// What can be found out about a scene before anything is simulated, the same for every method: what starts inside what
// (refused), and numbers that look like a slip of units (warned of). Units: m, kg, s.
#pragma once

#include <vector>

#include "core/base/errors.h"
#include "core/base/note.h"
#include "core/scene/scene.h"

namespace exemplar {

// A body may start this far inside an obstacle, as a share of its diagonal: methods move it out. Deeper is a mistake of
// the scene, whatever the method would make of it.
inline constexpr double k_start_depth = 5e-3;

// Files and runs that bodies name and that are not there or cannot be what they are named for: folders, empty files, rigs
// that are none. Methods read what they need only, and a run of one that needs no examples passed over their names.
std::vector<Problem> file_problems(const Scene& scene);

// These, and bodies inside obstacles, obstacles inside bodies, and free obstacles inside each other.
std::vector<Problem> start_problems(const Scene& scene);

// Sizes, densities and stiffnesses that are likely millimetres, g/cm³ or MPa, bodies too soft for their own weight,
// supports and loads without effect.
Notes scene_warnings(const Scene& scene);

}  // namespace exemplar
