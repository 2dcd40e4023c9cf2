// Skinning weights of a body's surface and of its volume's pieces for a set of bones. Rows are ≥ 0 and sum to 1.
#pragma once

#include "core/scene/scene.h"
#include "rigidplastic/bend/skeleton.h"

namespace exemplar::bend {

struct BodyWeights {
  MatX surface;   // one row per vertex of the body's surface
  MatX elements;  // one row per tet of its volume; empty for a single bone
  MatX nodes;     // one row per vertex of its volume; empty for a single bone
};

// Throws InputError, with paths such as bones[0], for bones that end outside the body.
void check_bones(const Body& body, const std::vector<Bone>& bones);

// One bone: all ones. Several: bounded biharmonic weights on the volume (core/rig).
BodyWeights bone_weights(const Body& body, const std::vector<Bone>& bones);

}  // namespace exemplar::bend
