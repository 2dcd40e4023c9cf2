// Settings of method `rigid`.
#pragma once

#include "core/scene/settings.h"
#include "rigidplastic/bullet/shapes.h"

namespace exemplar::rigid {

struct Settings {
  double max_step = 0.004;  // s
  CollisionGeometry collision = CollisionGeometry::automatic;
  int solver_iterations = 30;
};

inline void describe(Describe<Settings>& d) {
  d.field("max_step", &Settings::max_step, "s", "longest time step; fast bodies take shorter ones",
          positive());
  d.choice(
      "collision", &Settings::collision,
      {{"auto", CollisionGeometry::automatic},
       {"hull", CollisionGeometry::hull},
       {"mesh", CollisionGeometry::mesh}},
      "collision geometry: the convex hull, the triangles, or (auto) a ball or body of revolution where the "
      "triangles stand for one, else the hull where it fits");
  d.field("solver_iterations", &Settings::solver_iterations, "", "iterations of Bullet's contact solver",
          between(1, 1000));
}

}  // namespace exemplar::rigid
