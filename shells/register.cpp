// What this library adds to the program.
#include "core/run/registry.h"
#include "shells/checks/bench.h"
#include "shells/checks/validation.h"
#include "shells/method.h"

namespace exemplar {

namespace {

Capabilities shell_capabilities() {
  Capabilities c;
  c.elastic_examples = true;
  c.plastic_examples = true;
  c.weight_control = true;
  c.plasticity = true;
  c.body_contact = true;
  c.self_contact = true;
  c.friction = true;
  c.open_surfaces = true;
  c.supports = true;
  c.loads = true;
  c.pulls = true;
  return c;
}

void register_cases(Registry& registry) {
  registry.add(ValidationCase{"shell", "constant-curvature", false, shells::validate_constant_curvature});
  registry.add(ValidationCase{"shell", "finite-bending", false, shells::validate_finite_bending});
  registry.add(ValidationCase{"shell", "patch", false, shells::validate_patch});
  registry.add(ValidationCase{"shell", "half-cylinder", false, shells::validate_half_cylinder});
  registry.add(ValidationCase{"shell", "heavy-elastica", false, shells::validate_elastica});
  registry.add(ValidationCase{"shell", "curved-membrane", false, shells::validate_curved_membrane});
  registry.add(ValidationCase{"shell", "tip-shear", false, shells::validate_tip_shear});
  registry.add(ValidationCase{"shell", "slit-ring", false, shells::validate_slit_ring});
  registry.add(ValidationCase{"shell", "lateral-buckling", false, shells::validate_buckling});
  registry.add(ValidationCase{"shell", "scordelis-lo", false, shells::validate_scordelis_lo});
  registry.add(ValidationCase{"shell", "hinged-roof", false, shells::validate_hinged_roof});
  registry.add(ValidationCase{"shell", "pullout", true, shells::validate_pullout});
  registry.add(ValidationCase{"shell", "pinched-cylinder", true, shells::validate_pinched_cylinder});
  registry.add(ValidationCase{"shell", "pinched-hemisphere", false, shells::validate_hemisphere});
  registry.add(ValidationCase{"shell", "motion", false, shells::validate_motion});
  registry.add(ValidationCase{"shell", "plastic-bending", false, shells::validate_plasticity});
  registry.add(Bench{"shell", "step-time", shells::bench_step_time});
  registry.add(Bench{"shell", "example-cost", shells::bench_example_cost});
  registry.add(Bench{"shell", "solver-overhead", shells::bench_solver_overhead});
  registry.add(Bench{"shell", "linear-solver", shells::bench_linear_solver});
  registry.add(Bench{"shell", "table-1", shells::bench_table_1});
}

}  // namespace

void register_shells(Registry& registry) {
  MethodInfo shell;
  shell.name = "shell";
  shell.summary = "discrete shells with incompatible example shapes and example-projected plasticity";
  shell.source = "schumacher2012 §4.1.2, §5.2";
  shell.scene = "drape";
  shell.validated_by = "constant curvature, heavy elastica, Sze et al. 2004, buckling, momentum";
  shell.capabilities = shell_capabilities();
  shell.settings = &description_of<shells::ShellSettings>();
  shell.make = [](const Scene& scene, const AnySettings& settings) {
    return shells::make_shell_method(scene, settings.as<shells::ShellSettings>());
  };
  registry.add(std::move(shell));
  register_cases(registry);
}

}  // namespace exemplar
