// The four rigid methods at their default settings, for tests of what they share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rigidplastic/bend/method.h"
#include "rigidplastic/dent/method.h"
#include "rigidplastic/lbs/method.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar::rigid {

using MakeMethod = std::function<std::unique_ptr<Method>(const Scene&)>;

inline std::vector<std::pair<std::string, MakeMethod>> rigid_methods() {
  return {{"rigid", [](const Scene& scene) { return make_method(scene, Settings{}); }},
          {"rigid-lbs", [](const Scene& scene) { return lbs::make_method(scene, lbs::Settings{}); }},
          {"rigid-dent", [](const Scene& scene) { return dent::make_method(scene, dent::Settings{}); }},
          {"rigid-bend", [](const Scene& scene) { return bend::make_method(scene, bend::Settings{}); }}};
}

}  // namespace exemplar::rigid
