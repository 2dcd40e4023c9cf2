// A start without overlap for methods whose contact needs one: scenes may put things in exact touch.
#pragma once

#include <span>

#include "core/run/body_separation.h"
#include "core/scene/scene.h"

namespace exemplar {

// Shifts a whole body away from the scene's obstacles and, if bodies meet (`between`), from those that were placed before it,
// and says by how much: by a whole reach of contact, or by half of it where there is no more room. Throws InputError when it
// starts too deep, wedged, or pierced by an obstacle.
Vec3 make_room(PlacedBody& body, const Scene& scene, bool between, std::span<const PlacedBody> earlier);

}  // namespace exemplar
