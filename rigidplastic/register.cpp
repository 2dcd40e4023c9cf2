// What this library adds to the program.
#include "core/run/registry.h"
#include "rigidplastic/bend/method.h"
#include "rigidplastic/dent/method.h"
#include "rigidplastic/lbs/checks/bench_bbw.h"
#include "rigidplastic/lbs/method.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar {

void register_rigidplastic(Registry& registry) {
  rigid::add_method(registry);
  lbs::add_method(registry);
  registry.add(bbw_bench());
  dent::add_method(registry);
  bend::add_method(registry);
}

}  // namespace exemplar
