// What this library adds to the program.
#include "core/run/registry.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar {

void register_rigidplastic(Registry& registry) {
  rigid::add_method(registry);
}

}  // namespace exemplar
