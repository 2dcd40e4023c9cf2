// What this library adds to the program.
#include "core/run/registry.h"
#include "fem/fem_method.h"

namespace exemplar {

namespace {

Capabilities fem_capabilities() {
  Capabilities c;
  c.elastic_examples = true;
  c.plastic_examples = true;
  c.weight_control = true;
  c.plasticity = true;
  c.friction = true;
  c.supports = true;
  c.loads = true;
  return c;
}

}  // namespace

void register_fem(Registry& registry) {
  MethodInfo fem;
  fem.name = "fem";
  fem.summary = "implicit tetrahedral FEM with incompatible example shapes and example-projected plasticity";
  fem.source = "schumacher2012";
  fem.scene = "twisting-cuboid";
  fem.validated_by = "patch test, closed-form stress, CalculiX, momentum, Fig. 3 and 4";
  fem.capabilities = fem_capabilities();
  fem.settings = &description_of<FemSettings>();
  fem.make = [](const Scene& scene, const AnySettings& settings) {
    return make_fem_method(scene, settings.as<FemSettings>());
  };
  registry.add(std::move(fem));

  MethodInfo compatible;
  compatible.name = "fem-compatible";
  compatible.summary = "the same with compatible interpolated poses: the predecessor, as the baseline of fem";
  compatible.source = "schumacher2012 §4 (Martin et al. 2011)";
  compatible.scene = "twisting-cuboid";
  compatible.validated_by = "derivatives, agreement with fem on the twisting cuboid";
  compatible.capabilities = fem_capabilities();
  compatible.settings = &description_of<FemCompatibleSettings>();
  compatible.make = [](const Scene& scene, const AnySettings& settings) {
    return make_fem_compatible_method(scene, settings.as<FemCompatibleSettings>());
  };
  registry.add(std::move(compatible));
}

}  // namespace exemplar
