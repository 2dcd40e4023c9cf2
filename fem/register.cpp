// What this library adds to the program.
#include "core/run/registry.h"
#include "fem/checks/bench.h"
#include "fem/checks/contact_cases.h"
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
  c.hardening = true;
  c.body_contact = true;
  c.self_contact = true;
  c.friction = true;
  c.supports = true;
  c.loads = true;
  c.pulls = true;
  return c;
}

void register_cases(Registry& registry) {
  registry.add(ValidationCase{"fem", "patch", false, fem::validate_patch});
  registry.add(ValidationCase{"fem", "patch-quadratic", false, fem::validate_quadratic_patch});
  registry.add(ValidationCase{"fem", "bending", false, fem::validate_bending});
  registry.add(ValidationCase{"fem", "manufactured", false, fem::validate_manufactured});
  registry.add(
      ValidationCase{"fem", "cantilever-calculix-quadratic", false, fem::validate_quadratic_calculix});
  registry.add(ValidationCase{"fem", "stress", false, fem::validate_stress});
  registry.add(ValidationCase{"fem", "motion", false, fem::validate_motion});
  registry.add(ValidationCase{"fem", "order", false, fem::validate_order});
  registry.add(ValidationCase{"fem", "dissipation", false, fem::validate_dissipation});
  registry.add(ValidationCase{"fem", "recovery", false, fem::validate_recovery});
  registry.add(ValidationCase{"fem", "cantilever-calculix", false, fem::validate_cantilever});
  registry.add(ValidationCase{"fem", "modes-calculix", false, fem::validate_modes});
  registry.add(ValidationCase{"fem", "plasticity-figure-4", false, fem::validate_figure_4});
  registry.add(ValidationCase{"fem", "plastic-bar", false, fem::validate_plastic_bar});
  registry.add(ValidationCase{"fem", "limit-load", false, fem::validate_limit_load});
  registry.add(ValidationCase{"fem", "taylor-rod", false, fem::validate_taylor_rod});
  registry.add(ValidationCase{"fem", "examples-drift", false, fem::validate_drift});
  registry.add(ValidationCase{"fem", "examples-twist", true, fem::validate_twist});
  registry.add(ValidationCase{"contact", "hertz", true, fem::validate_hertz});
  registry.add(ValidationCase{"contact", "stack-forces", false, fem::validate_stack_forces});
  registry.add(ValidationCase{"contact", "stick-and-slip", false, fem::validate_stick_and_slip});
  registry.add(ValidationCase{"contact", "head-on", false, fem::validate_head_on});
  registry.add(ValidationCase{"contact", "derivatives", false, fem::validate_contact_derivatives});
  registry.add(Bench{"contact", "search", fem::bench_contact_search});
  registry.add(Bench{"contact", "cloth", fem::bench_contact_cloth});
  registry.add(Bench{"contact", "growth", fem::bench_contact_growth});
  registry.add(Bench{"fem", "predecessor", fem::bench_predecessor});
  registry.add(Bench{"fem", "example-cost", fem::bench_example_cost});
  registry.add(Bench{"fem", "solver-overhead", fem::bench_solver_overhead});
  registry.add(Bench{"fem", "step-time", fem::bench_step_time});
  registry.add(Bench{"fem", "growth", fem::bench_growth});
  registry.add(Bench{"fem", "table-1", fem::bench_table_1});
}

}  // namespace

void register_fem(Registry& registry) {
  MethodInfo incompatible;
  incompatible.name = "fem";
  incompatible.summary =
      "implicit tetrahedral FEM with incompatible example shapes and example-projected plasticity";
  incompatible.source = "schumacher2012";
  incompatible.scene = "twisting-cuboid";
  incompatible.validated_by = "patch test, closed-form stress, CalculiX, momentum, Fig. 3 and 4";
  incompatible.capabilities = fem_capabilities();
  incompatible.settings = &description_of<fem::Settings>();
  incompatible.make = [](const Scene& scene, const AnySettings& settings) {
    return fem::make_method(scene, settings.as<fem::Settings>());
  };
  registry.add(std::move(incompatible));

  MethodInfo compatible;
  compatible.name = "fem-compatible";
  compatible.summary = "the same with compatible interpolated poses: the predecessor, as the baseline of fem";
  compatible.source = "schumacher2012 §4 (Martin et al. 2011)";
  compatible.scene = "twisting-cuboid";
  compatible.validated_by = "derivatives, agreement with fem on the twisting cuboid";
  compatible.capabilities = fem_capabilities();
  compatible.settings = &description_of<fem::CompatibleSettings>();
  compatible.make = [](const Scene& scene, const AnySettings& settings) {
    return fem::make_compatible_method(scene, settings.as<fem::CompatibleSettings>());
  };
  registry.add(std::move(compatible));
  register_cases(registry);
}

}  // namespace exemplar
