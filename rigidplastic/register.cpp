// What this library adds to the program.
#include "core/run/registry.h"
#include "rigidplastic/lbs/checks/bench_bbw.h"
#include "rigidplastic/rigid/checks/validation.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar {

void register_rigidplastic(Registry& registry) {
  MethodInfo rigid;
  rigid.name = "rigid";
  rigid.summary = "rigid bodies (Bullet): the floor of cost";
  rigid.source = "jones2016 §3";
  rigid.scene = "barrels";
  rigid.validated_by = "free fall, momentum, sliding and rolling in closed form";
  rigid.capabilities.deformation = false;
  rigid.capabilities.body_contact = true;
  rigid.capabilities.friction = true;
  rigid.capabilities.restitution = true;
  rigid.capabilities.supports = true;
  rigid.capabilities.loads = true;
  rigid.settings = &description_of<RigidSettings>();
  rigid.make = [](const Scene& scene, const AnySettings& settings) {
    return make_rigid_method(scene, settings.as<RigidSettings>());
  };
  registry.add(std::move(rigid));
  for (const ValidationCase& validation : rigid_validation_cases()) registry.add(validation);
  registry.add(bbw_bench());
}

}  // namespace exemplar
