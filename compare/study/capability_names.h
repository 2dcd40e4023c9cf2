// Capabilities of methods by name, as studies and the report call them.
#pragma once

#include <string>
#include <vector>

#include "core/run/method.h"

namespace exemplar {

std::vector<std::string> capability_names();
// Those of `wanted` that a method lacks, in words: "plastic examples".
std::vector<std::string> lacking(const Capabilities& capabilities, const std::vector<std::string>& wanted);

}  // namespace exemplar
