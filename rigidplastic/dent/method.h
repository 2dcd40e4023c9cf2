// Method `rigid-dent`: rigid bodies (Bullet) that keep dents of what strikes them (patkar2014 §3).
//
// Denting looks at the contact log after every tick and changes nothing of the collision itself: the speed before the
// tick gives the dent distance, the shape of what struck gives the dent map, the map moves the struck body's surface,
// and collision shape and mass properties follow. Two dentable bodies are dented with each other's shapes from before
// (Jacobi), so that equal bodies get equal dents. A body is dentable when its material has a yield stress or when the
// dent distance is given; obstacles only dent others.
#pragma once

#include <memory>

#include "core/run/registry.h"
#include "rigidplastic/dent/settings.h"

namespace exemplar::dent {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);
void add_method(Registry& registry);

}  // namespace exemplar::dent
