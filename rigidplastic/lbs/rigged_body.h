// The rig of a body (core/scene/body_rig.h) and its examples for plastic flow, made once for all copies of the body.
#pragma once

#include <string>
#include <vector>

#include "core/scene/body_rig.h"
#include "rigidplastic/fracture/piece_surfaces.h"

namespace exemplar::lbs {

struct SharedRig {
  RiggedBody rig;                     // of the first copy; only the rest shape and the plastic examples
  Eigen::Isometry3d placement;        // where that one stands
  std::vector<std::string> examples;  // names, without the rest shape

  // Over the points of the pieces of another copy, where it stands.
  Skin placed(const Body& body, const rigid::PieceSurfaces& surfaces) const;
};

// Throws InputError when the body has no example for plastic flow.
SharedRig make_shared_rig(const Body& body);

}  // namespace exemplar::lbs
