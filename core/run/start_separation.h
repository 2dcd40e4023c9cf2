// A start without overlap for methods whose contact needs one: scenes may put things in exact touch.
#pragma once

#include <vector>

#include "core/run/body_separation.h"
#include "core/world/obstacle.h"

namespace exemplar {

// Shifts a whole body so that the gap `gap` (m) is left between its surface (the points' radii included) and
// every obstacle, and says by how much; zero when there is room already. Throws InputError when the body starts
// deeper inside than `limit` or wedged between obstacles.
Vec3 separate_from_obstacles(PlacedBody& body, const std::vector<ObstacleBody>& obstacles, double gap,
                             double limit);

}  // namespace exemplar
