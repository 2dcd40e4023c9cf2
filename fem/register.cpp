// What this library adds to the program.
#include "core/run/registry.h"
#include "fem/checks/bench.h"
#include "fem/checks/validation.h"
#include "fem/method.h"

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

void register_cases(Registry& registry) {
  registry.add(ValidationCase{"fem", "patch", false, validate_patch});
  registry.add(ValidationCase{"fem", "motion", false, validate_motion});
  registry.add(ValidationCase{"fem", "order", false, validate_order});
  registry.add(ValidationCase{"fem", "dissipation", false, validate_dissipation});
  registry.add(ValidationCase{"fem", "recovery", false, validate_recovery});
  registry.add(ValidationCase{"fem", "cantilever-calculix", false, validate_cantilever});
  registry.add(ValidationCase{"fem", "modes-calculix", false, validate_modes});
  registry.add(ValidationCase{"fem", "plasticity-figure-4", false, validate_figure_4});
  registry.add(ValidationCase{"fem", "examples-drift", false, validate_drift});
  registry.add(ValidationCase{"fem", "examples-twist", true, validate_twist});
  registry.add(Bench{"fem", "predecessor", bench_predecessor});
  registry.add(Bench{"fem", "example-cost", bench_example_cost});
  registry.add(Bench{"fem", "solver-overhead", bench_solver_overhead});
  registry.add(Bench{"fem", "step-time", bench_step_time});
  registry.add(Bench{"fem", "growth", bench_growth});
  registry.add(Bench{"fem", "table-1", bench_table_1});
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
  register_cases(registry);
}

}  // namespace exemplar
