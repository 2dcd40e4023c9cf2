// Method shell on scenes written as JSON, made through the registry as the program makes it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/method_run.h"

namespace exemplar {

void register_shells(Registry& registry);

namespace testing {

inline const Registry& shell_registry() {
  static const Registry registry = [] {
    Registry made;
    register_shells(made);
    return made;
  }();
  return registry;
}

class ShellRun : public MethodRun {
 public:
  // `assignments`: PATH=VALUE as of --set.
  explicit ShellRun(const std::string& text, const std::vector<std::string>& assignments = {})
      : MethodRun(shell_registry(), text, assignments, "shell") {}

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

// The smallest distance of a sheet's mid-surface to an obstacle that stands still, sampled finely over every
// triangle: knows nothing of the pairs that contact is made of.
inline double sampled_gap(const ShellRun& run, std::size_t b, std::size_t obstacle) {
  const ObstacleBody& body = run.scene().obstacles[obstacle];
  const Points x = run.body_surface(b);
  const Triangles& triangles = run.scene().bodies[b].surface().triangles;
  const int n = 8;
  double smallest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; i + j <= n; ++j) {
        const Vec3 p =
            (i * x.row(triangles(t, 0)) + j * x.row(triangles(t, 1)) + (n - i - j) * x.row(triangles(t, 2)))
                .transpose() /
            n;
        smallest = std::min(smallest, body.distance(body.initial_state(), p).value);
      }
    }
  }
  return smallest;
}

}  // namespace testing
}  // namespace exemplar
