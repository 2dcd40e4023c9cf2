// From a scene's settings to the structs of core/world. Angles become radians, rotations rotation vectors.
#pragma once

#include <string>

#include "core/scene/scene_settings.h"
#include "core/world/controllers.h"
#include "core/world/loads.h"
#include "core/world/obstacle.h"
#include "core/world/pull.h"
#include "core/world/supports.h"

namespace exemplar {

Region make_region(const RegionSettings& settings);
Support make_support(const SupportSettings& settings, const std::string& body);
// Of a load that is no pull.
Load make_load(const LoadSettings& settings);
// Of a load that is one; `vertices`, `triangles`: the body's surface in its initial state. Throws InputError for triangles
// that the surface does not have.
Pull make_pull(const LoadSettings& settings, const std::string& body, const Points& vertices,
               const Triangles& triangles);
Controller make_controller(const ControllerSettings& settings, const std::string& body);
// `default_friction`: of an obstacle that says none, among obstacles. Mesh obstacles read their surface from `directory`.
Obstacle make_obstacle(const ObstacleSettings& settings, double default_friction,
                       const std::string& directory);

}  // namespace exemplar
