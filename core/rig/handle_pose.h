// Poses by moved handles (jones2016 §4): the user moves some handles, all rotations are found automatically by
// minimising an as-rigid-as-possible energy over the shapes the rig can take (fast automatic skinning
// transformations, Jacobson et al. 2012):
//
//     E = Σ_tets V ‖F − R‖² ,   F: deformation gradient of the skinned tet, R = polar(F)
//
// Local step: R of every tet. Global step: the best rigid bones for these R, an exact small problem (bone_fit.h).
// Jacobson et al. let bones shear; ours stay rigid (position and quaternion), as eq. 3 of jones2016 wants them.
#pragma once

#include <optional>
#include <vector>

#include "core/rig/rig.h"

namespace exemplar {

struct HandleMotion {
  int handle = 0;
  Vec3 translation = Vec3::Zero();  // of the handle's centre [m]
  std::optional<Quat> rotation;     // none: found
};

struct HandlePose {
  BonePose pose;
  double energy = 0;  // J/(Pa): m³
  int iterations = 0;
};

// Handles without a motion stay where they are, or (`others_free`) go where the energy wants them.
HandlePose pose_by_handles(const TetMesh& mesh, const Rig& rig, const std::vector<HandleMotion>& motions,
                           bool others_free = false);

}  // namespace exemplar
