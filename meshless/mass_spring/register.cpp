// What this library adds to the program.
#include "core/run/registry.h"
#include "meshless/mass_spring/method.h"

namespace exemplar {

void register_mass_spring(Registry& registry) {
  MethodInfo info;
  info.name = "mass-spring";
  info.summary = "the classic spring network with Verlet integration";
  info.source = "bugbear2009 §2.1.1, levine2014 eq. 1";
  info.scene = "plank";
  info.validated_by = "oscillator period, bar stiffness at three resolutions";
  info.capabilities.fracture = true;
  info.capabilities.body_contact = true;
  info.capabilities.friction = true;
  info.capabilities.restitution = true;
  info.capabilities.open_surfaces = true;
  info.capabilities.supports = true;
  info.capabilities.loads = true;
  info.capabilities.pulls = true;
  info.settings = &description_of<mass_spring::Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return mass_spring::make_method(scene, settings.as<mass_spring::Settings>());
  };
  registry.add(std::move(info));
  mass_spring::add_validation_cases(registry);
}

}  // namespace exemplar
