// What this library adds to the program.
#include "core/run/registry.h"
#include "rigidplastic/dent/checks/bench.h"
#include "rigidplastic/lbs/checks/bench_bbw.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar {

void register_rigidplastic(Registry& registry) {
  rigid::add_method(registry);
  for (const Bench& bench : dent::benches()) registry.add(bench);
  registry.add(bbw_bench());
}

}  // namespace exemplar
