// Volumes and procedural models are made once per content and kept on disk: in $EXEMPLAR_CACHE, else
// $XDG_CACHE_HOME/exemplar, else
// ~/.cache/exemplar; "off" turns it off. A damaged or unreadable entry is made anew.
#pragma once

#include <functional>
#include <string>

#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

Volume cached_volume(const TriMesh& surface, const VolumeOptions& options);

// `description` says everything that `make` depends on.
TriMesh cached_surface(const std::string& description, const std::function<TriMesh()>& make);

}  // namespace exemplar
