// What `rigid-bend` adds to the program.
#include <utility>

#include "core/run/registry.h"
#include "rigidplastic/bend/checks/bench.h"
#include "rigidplastic/bend/checks/validation.h"
#include "rigidplastic/bend/method.h"

namespace exemplar::bend {

void add_method(Registry& registry) {
  MethodInfo info;
  info.name = "rigid-bend";
  info.summary = "rigid bodies that bend at the joints of a skeleton (Bullet)";
  info.source = "patkar2014 §4";
  info.scene = "folding-plank";
  info.validated_by = "closed-form oscillator, ½Iω² = M_p θ, plastic moments of sections, momentum";
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

}  // namespace exemplar::bend
