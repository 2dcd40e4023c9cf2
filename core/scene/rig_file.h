// Rig files: JSON, written by `exemplar rig`, read by scenes (`bodies[].rig.file`) and `exemplar pose`, and the
// form in which rigs are kept in the cache. Keys:
//
//   format      "exemplar rig 1"
//   mesh        {"vertices", "tets", "surface_vertices", "key"}: the volume the rig belongs to
//   handles     [{"name", "kind": point|bone|cage|automatic, "start": [x, y, z], "end": [x, y, z]}], metres, body
//               coordinates
//   fixed       vertices of the volume whose weights the handles prescribe
//   weights     {"start", "bone", "weight"}: compressed rows, one per vertex of the volume; rows sum to 1
//   objective, residual, iterations, converged, notes: how the weights were found (core/rig/bbw.h)
#pragma once

#include <string>

#include "core/rig/rig.h"

namespace exemplar {

std::string encode_rig(const Rig& rig, const Volume& volume);
// Throws InputError: not a rig, damaged, or of another mesh. `file` is for messages.
Rig decode_rig(const std::string& text, const std::string& file, const Volume& volume);

void write_rig(const std::string& path, const Rig& rig, const Volume& volume);
Rig read_rig(const std::string& path, const Volume& volume);
// What can be said without the volume: throws InputError if the file is not a rig.
void check_rig_file(const std::string& path);

// make_rig, once per content.
Rig cached_rig(const Volume& volume, const HandleRequest& request);

}  // namespace exemplar
