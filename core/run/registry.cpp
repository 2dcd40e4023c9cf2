#include "core/run/registry.h"

#include <algorithm>

#include "core/base/errors.h"

namespace exemplar {

const MethodInfo* Registry::find(const std::string& name) const {
  for (const MethodInfo& method : m_methods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

const MethodInfo& Registry::get(const std::string& name) const {
  if (const MethodInfo* method = find(name)) return *method;
  throw InputError("unknown method '" + name + "'" + did_you_mean(name, method_names()) +
                   "; exemplar list methods names them");
}

MethodDescriptions Registry::descriptions() const {
  MethodDescriptions all;
  for (const MethodInfo& method : m_methods) all.emplace_back(method.name, method.settings);
  return all;
}

std::vector<std::string> Registry::method_names() const {
  std::vector<std::string> names;
  for (const MethodInfo& method : m_methods) names.push_back(method.name);
  return names;
}

namespace {

template <class Predicate>
bool any_body(const Scene& scene, const Predicate& predicate) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(), predicate);
}

bool has_examples(const Scene& scene, ExampleUse other_use) {
  return any_body(scene, [&](const Body& body) {
    const auto& examples = body.settings().examples;
    return std::any_of(examples.begin(), examples.end(),
                       [&](const ExampleSettings& e) { return e.use != other_use; });
  });
}

}  // namespace

std::vector<std::string> not_modelled(const Scene& scene, const Capabilities& can) {
  std::vector<std::string> missing;
  auto say = [&](bool present, bool modelled, const char* what) {
    if (present && !modelled) missing.emplace_back(what);
  };
  const bool yields = any_body(scene, [](const Body& b) { return b.material().yield_stress.has_value(); });
  const bool breaks = any_body(scene, [](const Body& b) { return b.material().fracture_energy.has_value(); });
  const bool friction = std::any_of(scene.obstacles.begin(), scene.obstacles.end(),
                                    [](const ObstacleBody& o) { return o.description().friction > 0; });
  const bool bounce = std::any_of(scene.obstacles.begin(), scene.obstacles.end(),
                                  [](const ObstacleBody& o) { return o.description().restitution > 0; });
  const bool bouncy = any_body(scene, [](const Body& b) { return b.material().restitution > 0; });
  say(true, can.deformation, "deformation: bodies stay rigid");
  say(has_examples(scene, ExampleUse::plastic), can.elastic_examples,
      "elastic examples: example poses have no effect");
  say(has_examples(scene, ExampleUse::elastic) && yields, can.plastic_examples,
      "plastic examples: the poses do not guide plastic flow");
  say(any_body(scene, [](const Body& b) { return !b.controllers().empty(); }), can.weight_control,
      "weight controllers: example weights are not set explicitly");
  say(yields, can.plasticity, "plasticity: the yield stress has no effect");
  say(breaks, can.fracture, "fracture: the body cannot break");
  say(scene.bodies.size() > 1, can.body_contact, "contact between bodies: they pass through each other");
  say(can.deformation, can.self_contact, "self-contact: a body may pass through itself");
  say(friction, can.friction, "friction: contact is frictionless");
  say(bounce, can.restitution, "restitution of obstacles: the coefficient has no effect");
  say(bouncy, can.material_restitution,
      "restitution of materials: how a body bounces follows from its elasticity alone");
  say(any_body(scene, [](const Body& b) { return b.is_sheet(); }), can.open_surfaces,
      "sheets as such: they are simulated as extruded solids");
  say(any_body(scene, [](const Body& b) { return !b.supports().empty(); }), can.supports,
      "supports: fixed and moved regions are free");
  say(!scene.loads.empty(), can.loads, "loads: forces of the scene have no effect");
  say(!scene.pulls.empty(), can.pulls, "pulls: nothing holds on to the surface");
  return missing;
}

}  // namespace exemplar
