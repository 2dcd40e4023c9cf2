// Volumes and procedural models are made once per content and kept on disk: in $EXEMPLAR_CACHE, else
// $XDG_CACHE_HOME/exemplar, else
// ~/.cache/exemplar; "off" turns it off. A damaged or unreadable entry is made anew.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

Volume cached_volume(const TriMesh& surface, const VolumeOptions& options);

// Where an entry of that name is kept; nothing when the cache is off.
std::optional<std::filesystem::path> cache_entry(const std::string& name);

// `description` says everything that `make` depends on.
TriMesh cached_surface(const std::string& description, const std::function<TriMesh()>& make);

}  // namespace exemplar
