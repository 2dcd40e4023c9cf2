// Barrels of few triangles that can be crushed, and what strikes them.
#pragma once

#include "core/scene/scene.h"

namespace exemplar::lbs {

// With six bones and one example: crushed along an axis.
inline BodySettings soft_barrel(const Vec3& crushed_along) {
  BodySettings body;
  body.name = "barrel";
  body.surface.barrel = BarrelParams{};
  body.surface.barrel->resolution = 20;
  body.material.density = 100;
  body.material.young = 5e6;
  body.material.yield_stress = 3e4;
  RigSettings rig;
  rig.automatic = 6;
  body.rig = rig;
  ExampleSettings crushed;
  crushed.name = "crushed";
  crushed.stretch = StretchMap{crushed_along, 0.65, false};
  body.examples.push_back(crushed);
  return body;
}

inline RepeatSettings two_of_them(double spacing) {
  RepeatSettings repeat;
  repeat.count = IntVec3(2, 1, 1);
  repeat.spacing = Vec3(spacing, 0, 0);
  return repeat;
}

inline ObstacleSettings ground() {
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  return floor;
}

inline ObstacleSettings thrown_ball(double mass, const Vec3& position, const Vec3& velocity) {
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.12};
  ball.mass = mass;
  ball.position = position;
  ball.velocity = velocity;
  return ball;
}

}  // namespace exemplar::lbs
