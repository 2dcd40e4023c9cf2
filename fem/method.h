// Methods `fem` and `fem-compatible`: a scene's bodies as tetrahedral solids with examples and plasticity
// (schumacher2012), stepped by the implicit solver with contact against all obstacles.
#pragma once

#include <memory>

#include "core/run/method.h"
#include "core/scene/scene.h"
#include "fem/settings.h"

namespace exemplar::fem {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);
std::unique_ptr<Method> make_compatible_method(const Scene& scene, const CompatibleSettings& settings);

}  // namespace exemplar::fem
