#include "compare/study/capability_names.h"

#include <algorithm>
#include <utility>

namespace exemplar {

namespace {

const std::vector<std::pair<std::string, bool Capabilities::*>> k_capabilities{
    {"deformation", &Capabilities::deformation},
    {"elastic_examples", &Capabilities::elastic_examples},
    {"plastic_examples", &Capabilities::plastic_examples},
    {"weight_control", &Capabilities::weight_control},
    {"plasticity", &Capabilities::plasticity},
    {"fracture", &Capabilities::fracture},
    {"body_contact", &Capabilities::body_contact},
    {"self_contact", &Capabilities::self_contact},
    {"friction", &Capabilities::friction},
    {"restitution", &Capabilities::restitution},
    {"material_restitution", &Capabilities::material_restitution},
    {"open_surfaces", &Capabilities::open_surfaces},
    {"supports", &Capabilities::supports},
    {"loads", &Capabilities::loads}};

}  // namespace

std::vector<std::string> capability_names() {
  std::vector<std::string> names;
  for (const auto& [name, member] : k_capabilities) names.push_back(name);
  return names;
}

std::vector<std::string> lacking(const Capabilities& capabilities, const std::vector<std::string>& wanted) {
  std::vector<std::string> missing;
  for (const auto& [name, member] : k_capabilities) {
    if (capabilities.*member || std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    missing.push_back(name);
    std::replace(missing.back().begin(), missing.back().end(), '_', ' ');
  }
  return missing;
}

}  // namespace exemplar
