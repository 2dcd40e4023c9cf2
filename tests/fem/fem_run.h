// Methods fem and fem-compatible on scenes written as JSON, made through the registry as the program makes
// them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/run/registry.h"
#include "core/scene/scene_file.h"
#include "fem/scene_bodies.h"

namespace exemplar {

void register_fem(Registry& registry);

namespace testing {

inline const Registry& fem_registry() {
  static const Registry registry = [] {
    Registry made;
    register_fem(made);
    return made;
  }();
  return registry;
}

class FemRun {
 public:
  // `assignments`: PATH=VALUE as of --set.
  explicit FemRun(const std::string& text, const std::vector<std::string>& assignments = {},
                  const std::string& name = "fem")
      : m_name(name) {
    Json document = parse_json(text, "test");
    for (const std::string& assignment : assignments) apply_assignment(document, assignment);
    MethodDescriptions descriptions;
    for (const MethodInfo& info : fem_registry().methods())
      descriptions.emplace_back(info.name, info.settings);
    m_file = parse_scene(document, "test.json", descriptions);
    m_scene = std::make_unique<Scene>(make_scene(m_file.settings, ""));
    restart();
  }

  void restart() { m_method = fem_registry().find(m_name)->make(*m_scene, m_file.method(m_name)); }
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
  // Nodes of all bodies.
  Points nodes() const { return series("tets").points; }
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

 private:
  Geometry series(const std::string& name) const {
    for (Geometry& geometry : m_method->fields()) {
      if (geometry.series == name) return geometry;
    }
    ADD_FAILURE() << "no series " << name;
    return {};
  }

  std::string m_name;
  SceneFile m_file;
  std::unique_ptr<Scene> m_scene;
  std::unique_ptr<Method> m_method;
};

// The smallest distance of the first body's boundary to an obstacle in some state, sampled finely over every
// triangle: knows nothing of the pairs that contact is made of.
inline double sampled_gap(const FemRun& run, std::size_t obstacle, const ObstacleState& state) {
  const ObstacleBody& body = run.scene().obstacles[obstacle];
  const Points x = run.nodes();
  const Triangles triangles = fem::boundary_triangles(run.scene().bodies[0].volume().mesh);
  const int n = 12;
  double smallest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; i + j <= n; ++j) {
        const Vec3 p =
            (i * x.row(triangles(t, 0)) + j * x.row(triangles(t, 1)) + (n - i - j) * x.row(triangles(t, 2)))
                .transpose() /
            n;
        smallest = std::min(smallest, body.distance(state, p).value);
      }
    }
  }
  return smallest;
}

}  // namespace testing
}  // namespace exemplar
