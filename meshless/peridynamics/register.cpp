// What this library adds to the program.
#include "core/run/registry.h"
#include "meshless/peridynamics/checks/validation.h"
#include "meshless/peridynamics/method.h"

namespace exemplar {

void register_peridynamics(Registry& registry) {
  MethodInfo info;
  info.name = "peridynamics";
  info.summary = "bond-based peridynamic particles with brittle fracture";
  info.source = "levine2014";
  info.scene = "vase";
  info.validated_by = "exact lattice sums, LAMMPS peri/pmb particle by particle, conservation laws";
  info.capabilities = peridynamics::capabilities();
  info.settings = &description_of<peridynamics::Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return peridynamics::make_method(scene, settings.as<peridynamics::Settings>());
  };
  registry.add(std::move(info));
  for (ValidationCase& validation : peridynamics::validation_cases()) registry.add(std::move(validation));
  for (Bench& bench : peridynamics::benches()) registry.add(std::move(bench));
}

}  // namespace exemplar
