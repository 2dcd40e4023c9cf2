// Method shell on scenes written as JSON, made through the registry as the program makes it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/method_run.h"
#include "tests/support/sampled_gap.h"

namespace exemplar {

void register_shells(Registry& registry);

namespace testing {

class ShellRun : public MethodRun {
 public:
  // `assignments`: PATH=VALUE as of --set.
  explicit ShellRun(const std::string& text, const std::vector<std::string>& assignments = {})
      : MethodRun(registry_of<register_shells>(), text, assignments, "shell") {}

  FieldArray array(const std::string& name) const {
    for (const FieldArray& array : series("surface").arrays) {
      if (array.name == name) return array;
    }
    ADD_FAILURE() << "no array " << name;
    return {};
  }
  // Vertices of one body.
  Points body_surface(std::size_t b) const {
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < b; ++i) first += scene().bodies[i].surface().vertices.rows();
    return surface().middleRows(first, scene().bodies[b].surface().vertices.rows());
  }
  // Root mean square of the mass points' speeds, m/s.
  double rms_speed() {
    const Diagnostics d = method().diagnostics();
    return std::sqrt(2 * d.kinetic_energy / d.mass);
  }
};

inline std::string shipped_scene(const std::string& name) {
  std::ifstream in(std::string(EXEMPLAR_SOURCE_DIR) + "/data/scenes/" + name + ".json");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of a sheet's mid-surface to an obstacle that stands still.
inline double sampled_gap(const ShellRun& run, std::size_t b, std::size_t obstacle) {
  const ObstacleBody& body = run.scene().obstacles[obstacle];
  return sampled_gap(run.body_surface(b), run.scene().bodies[b].surface().triangles, body,
                     body.initial_state(), 8);
}

}  // namespace testing
}  // namespace exemplar
