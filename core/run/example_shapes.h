// The example poses as surfaces, kept beside a run's frames: what exports show as morph targets and ParaView with
// "Warp By Vector".
#pragma once

#include "core/output/fields.h"
#include "core/scene/scene.h"

namespace exemplar {

constexpr std::size_t k_most_example_shapes = 32;  // of a scene with more bodies the first ones

// The bodies that have examples at rest, with one array of displacements (m) an example, named as the example's weight
// among the metrics: weight_<body>_<example>. Without points where there are none.
Geometry example_shapes(const Scene& scene);

}  // namespace exemplar
