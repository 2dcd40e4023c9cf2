// Method `rigid-bend`: rigid bodies (Bullet) that bend at the joints of a skeleton, which may be split where they are
// hit (patkar2014 §4).
//
// A body is one rigid body until something strikes it. A tick with an impact is first rehearsed: the motion it would
// give to the rigid body says which joints (or which place, when bones may be split) would have to hold more than
// their strength; those are opened, and the tick is taken again with the parts joined by yielding joints. Joints that
// stand still are closed again (condensation). The surface is always the parent's, skinned to its bones; parts get
// their collision shapes and masses from it.
#pragma once

#include <memory>

#include "core/run/registry.h"
#include "rigidplastic/bend/settings.h"

namespace exemplar::bend {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);
void add_method(Registry& registry);

}  // namespace exemplar::bend
