// What `rigid-dent` adds to the program.
#include <utility>

#include "core/run/registry.h"
#include "rigidplastic/dent/checks/bench.h"
#include "rigidplastic/dent/checks/validation.h"
#include "rigidplastic/dent/method.h"

namespace exemplar::dent {

void add_method(Registry& registry) {
  MethodInfo info;
  info.name = "rigid-dent";
  info.summary = "rigid bodies with dents of what strikes them (Bullet)";
  info.source = "patkar2014 §3";
  info.scene = "dent-sweep";
  info.validated_by =
      "brute-force envelope, closed-form depths, symmetry, momentum, exact self-intersection test";
  info.capabilities.plasticity = true;
  info.capabilities.fracture = true;
  info.capabilities.body_contact = true;
  info.capabilities.friction = true;
  info.capabilities.restitution = info.capabilities.material_restitution = true;
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

}  // namespace exemplar::dent
