// Volumes and procedural models are made once per content and kept on disk: in $EXEMPLAR_CACHE, else
// $XDG_CACHE_HOME/exemplar, else
// ~/.cache/exemplar; "off" turns it off. Entries carry a checksum: a damaged or unreadable one is made anew. What a time
// limit decided is not kept.
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

// The contents of an entry; nothing when it is not there or damaged.
std::optional<std::string> read_cache_entry(const std::filesystem::path& path);
// A cache that cannot be written is no error.
void write_cache_entry(const std::filesystem::path& path, std::string contents);

// `description` says everything that `make` depends on.
TriMesh cached_surface(const std::string& description, const std::function<TriMesh()>& make);

}  // namespace exemplar
