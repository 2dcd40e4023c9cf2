// Settings of method `rigid`.
#pragma once

#include "core/scene/settings.h"
#include "rigidplastic/bullet/bullet_shapes.h"

namespace exemplar {

struct RigidSettings {
  double max_step = 0.004;  // s
  CollisionGeometry collision = CollisionGeometry::automatic;
  int solver_iterations = 30;
};

inline void describe(Describe<RigidSettings>& d) {
  d.field("max_step", &RigidSettings::max_step, "s", "longest time step; fast bodies take shorter ones",
          positive());
  d.choice("collision", &RigidSettings::collision,
           {{"auto", CollisionGeometry::automatic},
            {"hull", CollisionGeometry::hull},
            {"mesh", CollisionGeometry::mesh}},
           "collision geometry: the convex hull, the triangles, or the hull where it fits");
  d.field("solver_iterations", &RigidSettings::solver_iterations, "", "iterations of Bullet's contact solver",
          between(1, 1000));
}

}  // namespace exemplar
