// Volumes are made once per content and kept on disk: in $EXEMPLAR_CACHE, else $XDG_CACHE_HOME/exemplar, else
// ~/.cache/exemplar; "off" turns it off. A damaged or unreadable entry is made anew.
#pragma once

#include "core/mesh/tetrahedralize.h"

namespace exemplar {

Volume cached_volume(const TriMesh& surface, const VolumeOptions& options);

}  // namespace exemplar
