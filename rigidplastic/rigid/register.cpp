// What `rigid` adds to the program.
#include <utility>

#include "core/run/registry.h"
#include "rigidplastic/rigid/checks/validation.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar::rigid {

void add_method(Registry& registry) {
  MethodInfo info;
  info.name = "rigid";
  info.summary = "rigid bodies (Bullet): the cheapest baseline";
  info.source = "jones2016 §3";
  info.scene = "barrels";
  info.validated_by = "free fall, momentum, sliding and rolling in closed form";
  info.capabilities.deformation = false;
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
}

}  // namespace exemplar::rigid
