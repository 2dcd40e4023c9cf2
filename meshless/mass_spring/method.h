// Method `mass-spring`: every body as a spring network (network.h) over its tet mesh, sheets over their own
// triangles; the common baseline of bugbear2009 §2.1.1 and levine2014 eq. 1. The surface hangs on the nodes;
// contact with obstacles is resolved at the surface (core/world/particle_contact.h). Broken springs are left
// out of the network; the surface is drawn whole, stretched across what broke.
#pragma once

#include <memory>

#include "core/run/method.h"
#include "core/run/registry.h"
#include "meshless/mass_spring/settings.h"

namespace exemplar::mass_spring {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);

void add_validation_cases(Registry& registry);

}  // namespace exemplar::mass_spring
