// A method on a scene written as JSON, made through a registry as the program makes it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/run/registry.h"
#include "core/scene/scene_file.h"

namespace exemplar::testing {

// What one library registers, made at its first use.
template <void (*add)(Registry&)>
const Registry& registry_of() {
  static const Registry registry = [] {
    Registry made;
    add(made);
    return made;
  }();
  return registry;
}

class MethodRun {
 public:
  // `registry` must outlive this. `assignments`: PATH=VALUE as of --set.
  MethodRun(const Registry& registry, const std::string& text, const std::vector<std::string>& assignments,
            const std::string& name)
      : m_registry(registry), m_name(name) {
    Json document = parse_json(text, "test");
    for (const std::string& assignment : assignments) apply_assignment(document, assignment);
    MethodDescriptions descriptions;
    for (const MethodInfo& info : m_registry.methods()) descriptions.emplace_back(info.name, info.settings);
    m_file = parse_scene(document, "test.json", descriptions);
    m_scene = std::make_unique<Scene>(make_scene(m_file.settings, ""));
    restart();
  }

  void restart() { m_method = m_registry.find(m_name)->make(*m_scene, m_file.method(m_name)); }
  // Saves, starts from nothing and loads.
  void resume() {
    StateReader reader(state());
    restart();
    m_method->load(reader);
  }
  StepReport advance(double until) {
    return m_method->advance(until, [] { return false; });
  }
  // Frames `first` to `last`; stops at the first that is not ok.
  StepReport frames(int first, int last) {
    StepReport sum;
    for (int frame = first; frame <= last && sum.status == Status::ok; ++frame) {
      const StepReport report = advance(m_scene->frame_time(frame));
      sum.steps += report.steps;
      sum.iterations += report.iterations;
      sum.status = report.status;
      sum.message = report.message;
    }
    return sum;
  }
  StateArrays state() const {
    StateWriter out;
    m_method->save(out);
    return out.arrays();
  }
  Points surface() const { return series("surface").points; }
  double extra(const std::string& name) const {
    for (const Metric& metric : m_method->diagnostics().extra) {
      if (metric.name == name) return metric.value;
    }
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
  const Scene& scene() const { return *m_scene; }
  Method& method() { return *m_method; }

 protected:
  Geometry series(const std::string& name) const {
    for (Geometry& geometry : m_method->fields()) {
      if (geometry.series == name) return geometry;
    }
    ADD_FAILURE() << "no series " << name;
    return {};
  }

 private:
  const Registry& m_registry;
  std::string m_name;
  SceneFile m_file;
  std::unique_ptr<Scene> m_scene;
  std::unique_ptr<Method> m_method;
};

}  // namespace exemplar::testing
