// Scene files: JSON with comments → typed settings, every problem at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/scene/json.h"
#include "core/scene/scene_settings.h"

namespace exemplar {

// Which settings stand under "methods": name → description.
using MethodDescriptions = std::vector<std::pair<std::string, const Description*>>;

struct SceneFile {
  std::string path;
  std::string directory;
  SceneSettings settings;
  std::vector<std::pair<std::string, AnySettings>>
      methods;  // every known method, defaults where the file is silent

  const AnySettings& method(const std::string& name) const;
  std::string document;  // the JSON text after --set
};

// Reads, applies `assignments` (PATH=VALUE) and validates. Throws InputError with all problems.
SceneFile read_scene(const std::string& path, const std::vector<std::string>& assignments,
                     const MethodDescriptions& methods);
SceneFile parse_scene(Json document, const std::string& path, const MethodDescriptions& methods);

// Whether the setting at `path` (as of --set), or one that it is part of, is described as live.
bool is_live_setting(const std::string& path, const MethodDescriptions& methods);

Json scene_schema(const MethodDescriptions& methods);
// The settings after defaults, with one method's settings.
Json write_scene(const SceneFile& file, const std::string& method);

}  // namespace exemplar
