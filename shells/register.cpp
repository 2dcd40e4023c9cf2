// What this library adds to the program.
#include "core/run/registry.h"
#include "shells/method.h"

namespace exemplar {

namespace {

Capabilities shell_capabilities() {
  Capabilities c;
  c.elastic_examples = true;
  c.plastic_examples = true;
  c.weight_control = true;
  c.plasticity = true;
  c.friction = true;
  c.open_surfaces = true;
  c.supports = true;
  c.loads = true;
  return c;
}

}  // namespace

void register_shells(Registry& registry) {
  MethodInfo shell;
  shell.name = "shell";
  shell.summary = "discrete shells with incompatible example shapes and example-projected plasticity";
  shell.source = "schumacher2012";
  shell.scene = "drape";
  shell.validated_by = "constant curvature, heavy elastica, Sze et al. 2004, momentum";
  shell.capabilities = shell_capabilities();
  shell.settings = &description_of<shells::ShellSettings>();
  shell.make = [](const Scene& scene, const AnySettings& settings) {
    return shells::make_shell_method(scene, settings.as<shells::ShellSettings>());
  };
  registry.add(std::move(shell));
}

}  // namespace exemplar
