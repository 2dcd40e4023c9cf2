// Methods fem and fem-compatible on scenes written as JSON, made through the registry as the program makes
// them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "fem/scene_bodies.h"
#include "tests/support/method_run.h"

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

class FemRun : public MethodRun {
 public:
  // `assignments`: PATH=VALUE as of --set.
  explicit FemRun(const std::string& text, const std::vector<std::string>& assignments = {},
                  const std::string& name = "fem")
      : MethodRun(fem_registry(), text, assignments, name) {}

  // Nodes of all bodies.
  Points nodes() const { return series("tets").points; }
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
