// Method `shape-matching` (bugbear2009): every body of the scene as a shape-matched body (body.h), its
// surface embedded in the cells, contact with obstacles at the surface (core/world/particle_contact.h).
// Parameters that are not given come from the physical material (stiffness.h); what the material asks for and
// a step cannot carry is said in the notes.
#pragma once

#include <memory>

#include "core/run/method.h"
#include "core/run/registry.h"
#include "meshless/shape_matching/settings.h"

namespace exemplar::shape_matching {

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);

void add_validation_cases(Registry& registry);
void add_benches(Registry& registry);

}  // namespace exemplar::shape_matching
