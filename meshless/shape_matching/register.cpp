// What this library adds to the program.
#include "core/run/registry.h"
#include "meshless/shape_matching/method.h"

namespace exemplar {

void register_shape_matching(Registry& registry) {
  MethodInfo info;
  info.name = "shape-matching";
  info.summary = "meshless shape matching in overlapping cells, plasticity with rotation";
  info.source = "bugbear2009";
  info.scene = "stacked-cubes";
  info.validated_by = "exact rigid, linear and quadratic motions; momentum; material stiffness of a bar";
  info.capabilities.plasticity = true;
  info.capabilities.body_contact = true;
  info.capabilities.friction = true;
  info.capabilities.restitution = true;
  info.capabilities.supports = true;
  info.capabilities.loads = true;
  info.capabilities.pulls = true;
  info.settings = &description_of<shape_matching::Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return shape_matching::make_method(scene, settings.as<shape_matching::Settings>());
  };
  registry.add(std::move(info));
  shape_matching::add_validation_cases(registry);
  shape_matching::add_benches(registry);
}

}  // namespace exemplar
