// How far a body goes along with each of its example poses, asked of the method that would simulate it: two parts of the body are
// moved as the pose moves them, without inertia, loads, obstacles or plastic flow, everything else follows, and the weights
// find their places. `exemplar pose --reach`.
//
// The parts are the two ends of the body along the axis along which the pose moves them most against each other; or, of poses
// that act in one place (a dent), a ball around the point that moves most and the far side of the body.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/registry.h"
#include "core/scene/scene_file.h"

namespace exemplar {

struct ExampleReach {
  std::string body, example;
  double share = 0;   // of the pose's displacement that the two parts take
  double ratio = 0;   // of the examples' stiffness to the conventional one, as the scene has it
  double weight = 0;  // of the example then
  std::optional<double>
      wins_at;  // the ratio from which on the weight is at least one half; none: not within a factor of 64
  std::string problem;      // why nothing was measured
  bool wins_below = false;  // it wins at a 64th of the scene's ratio too: the threshold is lower still
};

// All elastic examples of the scene's bodies. Throws InputError where the method has no weights of examples.
std::vector<ExampleReach> find_reach(const SceneFile& file, const Registry& registry,
                                     const std::string& method);

}  // namespace exemplar
