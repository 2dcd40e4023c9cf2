// Method `peridynamics`: bodies of a scene as bonded particles that break (levine2014).
#pragma once

#include <memory>

#include "core/run/method.h"
#include "core/scene/scene.h"
#include "meshless/peridynamics/settings.h"

namespace exemplar::peridynamics {

Capabilities capabilities();

// The scene must outlive the method.
std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);

}  // namespace exemplar::peridynamics
