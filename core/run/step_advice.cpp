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

std::string advice_to_follow(int steps_per_frame) {
  return fmt::format("time.steps_per_frame \"auto\" ({} now)", steps_per_frame);
}

std::string advice_for_accuracy(double accuracy) {
  constexpr double k_much_smaller = 16;
  return fmt::format("a smaller time.accuracy, such as {:.2g} ({:g} now)", accuracy / k_much_smaller,
                     accuracy);
}

std::string advice_for_more(int steps_per_frame) {
  return fmt::format("more time.steps_per_frame ({} now)", steps_per_frame);
}

std::string advice_for_smaller_steps(const RunRecord& record) {
  const Json settings = Json::parse(record.settings.text, nullptr, false);
  if (!settings.is_object() || !settings.contains("time")) return "smaller time steps";
  const Json& time = settings["time"];
  const Json steps = time.value("steps_per_frame", Json());
  const bool may_follow = follows_accuracy(settings, record.method);
  if (steps.is_number())
    return may_follow ? advice_to_follow(steps.get<int>()) : advice_for_more(steps.get<int>());
  if (may_follow) return advice_for_accuracy(time.value("accuracy", TimeSettings().accuracy));
  Scene scene;
  scene.time.fps = time.value("fps", scene.time.fps);
  return advice_for_more(scene.least_steps_per_frame());
}

}  // namespace exemplar
