// Boxes and a floor, what the tests of the rigid simulation are made of.
#pragma once

#include <string>

#include "core/scene/scene_settings.h"

namespace exemplar::rigid {

inline BodySettings box_body(const std::string& name, const Vec3& size, const Vec3& position) {
  BodySettings body;
  body.name = name;
  body.surface.box = BoxParams{size, {2, 2, 2}};
  body.position = position;
  return body;
}

inline ObstacleSettings floor_with(double friction) {
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  floor.friction = friction;
  return floor;
}

}  // namespace exemplar::rigid
