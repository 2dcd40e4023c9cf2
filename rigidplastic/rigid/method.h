// Method `rigid`: the rigid body simulator alone (Bullet), the cheapest baseline in every comparison (jones2016
// §3). Bodies keep their shape; mass, centre and inertia are exact. A body with a support follows it (a fixed
// one stands still) until the support lets go.
#pragma once

#include <memory>

#include "core/run/registry.h"
#include "core/scene/scene.h"
#include "rigidplastic/rigid/settings.h"

namespace exemplar::rigid {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);
// With its validation cases.
void add_method(Registry& registry);

}  // namespace exemplar::rigid
