// Method `rigid-lbs`: rigid bodies that deform plastically towards example poses where they are hit (jones2016).
// Bullet moves them; after every tick the contact impulses change the example weights of the vertices around
// the place of impact, the body is skinned again, re-centred without a jump of momentum, and restitution is
// lowered while it deforms (eq. 15). Bodies may be cut into pieces that part when their joints are overloaded.
#pragma once

#include <memory>

#include "core/run/registry.h"
#include "core/scene/scene.h"
#include "rigidplastic/lbs/settings.h"

namespace exemplar::lbs {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);
// With its validation cases and benches.
void add_method(Registry& registry);

}  // namespace exemplar::lbs
