// From a scene's settings to the structs of core/world. Angles become radians, rotations rotation vectors.
#pragma once

#include <string>

#include "core/scene/scene_settings.h"
#include "core/world/controllers.h"
#include "core/world/loads.h"
#include "core/world/obstacle.h"
#include "core/world/supports.h"

namespace exemplar {

Region make_region(const RegionSettings& settings);
Support make_support(const SupportSettings& settings, const std::string& body);
Load make_load(const LoadSettings& settings);
Controller make_controller(const ControllerSettings& settings, const std::string& body);
// `default_friction`: of an obstacle that says none, among obstacles. Mesh obstacles read their surface from `directory`.
Obstacle make_obstacle(const ObstacleSettings& settings, double default_friction,
                       const std::string& directory);

}  // namespace exemplar
