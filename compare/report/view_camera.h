// How the page's 3D views look at first: as the pictures do.
#pragma once

#include "compare/results/collect.h"

namespace exemplar {

// {"position", "target", "field_of_view" in degrees, "times", "paths": by run, how the camera goes along, m, "cut":
// {"point", "normal"} or null}; null without frames.
Json view_camera_json(const Comparison& comparison);

}  // namespace exemplar
