// What `rigid-lbs` adds to the program.
#include <utility>

#include "core/run/registry.h"
#include "rigidplastic/lbs/checks/bench.h"
#include "rigidplastic/lbs/checks/validation.h"
#include "rigidplastic/lbs/method.h"

namespace exemplar::lbs {

void add_method(Registry& registry) {
  MethodInfo info;
  info.name = "rigid-lbs";
  info.summary = "rigid bodies that take on example poses where they are hit";
  info.source = "jones2016";
  info.scene = "pachinko";
  info.validated_by = "barycentric weights, independence of λ and Δt, momentum, `rigid` in the limit β = ∞";
  info.capabilities.plastic_examples = true;
  info.capabilities.plasticity = true;
  info.capabilities.fracture = true;
  info.capabilities.body_contact = true;
  info.capabilities.friction = true;
  info.capabilities.restitution = info.capabilities.material_restitution = true;
  info.capabilities.open_surfaces = true;
  info.capabilities.supports = true;
  info.capabilities.loads = info.capabilities.pulls = true;
  info.settings = &description_of<Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return make_method(scene, settings.as<Settings>());
  };
  registry.add(std::move(info));
  for (const ValidationCase& validation : validation_cases()) registry.add(validation);
  for (const Bench& bench : benches()) registry.add(bench);
}

}  // namespace exemplar::lbs
