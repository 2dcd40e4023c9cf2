// The rig of a scene's body, poses by its handles, and the bone transformations of its examples (jones2016
// §3.1, §4): made by handles where an example is given so, fitted with Ceres otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/note.h"
#include "core/rig/rig.h"
#include "core/scene/scene.h"

namespace exemplar {

inline constexpr int k_default_handles = 12;

// In body coordinates, from the file or cached by content. `volume` in body coordinates; problems start at
// `path`, e.g. bodies[0].rig.
Rig make_body_rig(const std::optional<RigSettings>& settings, const Volume& volume,
                  const std::string& directory, const std::string& path,
                  int default_handles = k_default_handles);

// The pose of all bones when some handles are moved. Problems have paths such as handles.move[1].
BonePose bones_of(const HandlePoseSettings& settings, const Rig& rig, const TetMesh& mesh);

// A body's rig and its examples as bone transformations, everything in the body's placement.
struct RiggedBody {
  Points centres;                  // of the bones
  SkinWeights surface, volume;     // of the vertices of Body::surface() and Body::volume()
  std::vector<BonePose> examples;  // rest first, then Body::examples() in order
  Notes notes;                     // how well poses were fitted, what was attached

  Skin surface_skin(const Body& body) const;
  Skin volume_skin(const Body& body) const;
};
RiggedBody rig_body(const Body& body, int default_handles = k_default_handles);

}  // namespace exemplar
