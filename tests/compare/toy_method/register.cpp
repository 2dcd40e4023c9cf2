// What this library adds to the program.
#include <utility>

#include "core/run/registry.h"
#include "tests/compare/toy_method/method.h"

namespace exemplar {

void register_falling(Registry& registry) {
  MethodInfo info;
  info.name = "falling";
  info.summary = "bodies that fall and meet nothing";
  info.source = "Galilei 1638";
  info.scene = "barrels";
  info.validated_by = "free fall";
  info.capabilities.deformation = false;
  info.settings = &description_of<falling::Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return falling::make_method(scene, settings.as<falling::Settings>());
  };
  registry.add(std::move(info));
}

}  // namespace exemplar
