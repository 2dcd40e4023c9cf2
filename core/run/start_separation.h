// A start without overlap for methods whose contact needs one: scenes may put things in exact touch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/run/body_separation.h"
#include "core/scene/scene.h"

namespace exemplar {

// The scene's obstacles, those that move freely shifted so that `reach` (m) is left to all others. Throws InputError when one is
// wedged between others.
std::vector<ObstacleBody> obstacles_with_room(const Scene& scene, double reach);

// What a body needs room from at the start.
struct StartRoom {
  const std::vector<ObstacleBody>& obstacles;  // those of obstacles_with_room
  const std::vector<std::string>& paths;       // their JSON paths
  bool between;                                // bodies meet each other
};

// Shifts a whole body away from the obstacles and, if bodies meet, from those that were placed before it, and says by how much:
// by a whole reach of contact, or by half of it where there is no more room. Throws InputError when it starts too deep, wedged,
// or pierced by an obstacle.
Vec3 make_room(PlacedBody& body, const StartRoom& room, std::span<const PlacedBody> earlier);

}  // namespace exemplar
