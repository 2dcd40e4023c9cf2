// Example poses that a run never took up: which ones, the most likely reason, and what would change it. Said at the end of a
// run, from what it has written.
//
// d: displacements of a body's surface without its best rigid motion, p: those of the pose likewise. The agreement of a
// motion with a pose is d·p / (|d| |p|): 1 along the pose, 0 across it, −1 the other way.
#pragma once

#include <string>
#include <vector>

#include "core/base/note.h"
#include "core/output/metrics_file.h"
#include "core/scene/scene.h"

namespace exemplar {

// The largest weight of an example that counts as unused.
inline constexpr double k_unused_weight = 0.1;

// d·p / (|d| |p|); 0 where one of them is no more than rounding.
double agreement_with_pose(const Points& rest, const Points& now, const Points& pose);

// `surfaces`: of all bodies in scene order, at some moments of the run. `metrics`: its table, with a column
// weight_<body>_<example> of every example that the method can take up.
Notes example_notes(const Scene& scene, const std::string& method, const MetricsTable& metrics,
                    const std::vector<Points>& surfaces);

}  // namespace exemplar
