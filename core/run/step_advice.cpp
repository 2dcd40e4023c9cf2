#include "core/run/step_advice.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/scene/files/json_file.h"
#include "core/scene/scene.h"

namespace exemplar {

namespace {

// The methods with an integrator to choose are those that follow the accuracy, where they have inertia.
bool follows_accuracy(const Json& settings, const std::string& method) {
  const Json methods = settings.value("methods", Json::object());
  if (!methods.contains(method) || !methods[method].contains("integrator")) return false;
  return methods[method].value("mode", std::string("dynamic")) == "dynamic";
}

}  // namespace

std::string advice_for_smaller_steps(const RunRecord& record) {
  const Json settings = Json::parse(record.settings.text, nullptr, false);
  if (!settings.is_object() || !settings.contains("time")) return "smaller time steps";
  const Json& time = settings["time"];
  const Json steps = time.value("steps_per_frame", Json());
  if (steps.is_number()) return fmt::format("more time.steps_per_frame ({} now)", steps.get<int>());
  if (follows_accuracy(settings, record.method))
    return fmt::format("a smaller time.accuracy ({:g} now)", time.value("accuracy", TimeSettings().accuracy));
  Scene scene;
  scene.time.fps = time.value("fps", scene.time.fps);
  return fmt::format("more time.steps_per_frame ({} now)", scene.least_steps_per_frame());
}

}  // namespace exemplar
