// Methods fem and fem-compatible on scenes written as JSON, made through the registry as the program makes
// them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fem/scene_bodies.h"
#include "tests/support/method_run.h"
#include "tests/support/sampled_gap.h"

namespace exemplar {

void register_fem(Registry& registry);

namespace testing {

class FemRun : public MethodRun {
 public:
  // `assignments`: PATH=VALUE as of --set.
  explicit FemRun(const std::string& text, const std::vector<std::string>& assignments = {},
                  const std::string& name = "fem")
      : MethodRun(registry_of<register_fem>(), text, assignments, name) {}

  // Nodes of all bodies.
  Points nodes() const { return series("tets").points; }
};

// Of the first body's boundary to an obstacle in some state.
inline double sampled_gap(const FemRun& run, std::size_t obstacle, const ObstacleState& state) {
  return sampled_gap(run.nodes(), fem::boundary_triangles(run.scene().bodies[0].volume().mesh),
                     run.scene().obstacles[obstacle], state, 12);
}

}  // namespace testing
}  // namespace exemplar
