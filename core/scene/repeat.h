// Copies of a body or obstacle on a grid, each a little off where the scene says so: how a scene gets hundreds of
// them. Units: m, degrees.
#pragma once

#include <vector>

#include "core/scene/settings.h"

namespace exemplar {

struct BodySettings;
struct ObstacleSettings;

struct RepeatSettings {
  IntVec3 count = IntVec3::Ones();  // along x, y and z
  Vec3 spacing = Vec3::Ones();      // m, from one copy to the next; may be negative
  Vec3 stagger = Vec3::Zero();      // m, added to every second layer along y
  Vec3 jitter = Vec3::Zero();       // m, every copy is displaced by up to this
  double turn = 0;                  // degrees, every copy is turned by up to this about an axis of its own
  int seed = 1;
};

void describe(Describe<RepeatSettings>& d);

// All copies, x fastest, named "name-1", "name-2", …; the thing itself where it says nothing about copies. Offsets
// depend on seed and index only. Keyframes of obstacles move with their copy.
std::vector<BodySettings> copies_of(const BodySettings& body);
std::vector<ObstacleSettings> copies_of(const ObstacleSettings& obstacle);

}  // namespace exemplar
