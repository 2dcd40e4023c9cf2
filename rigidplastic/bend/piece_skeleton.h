// The skeleton of a body that is cut beforehand: a bone in every piece, a joint at the middle of a cut. Of the cuts
// between pieces, the largest ones that make a tree get a joint: a ring of joints could not bend. Metres.
#pragma once

#include "core/scene/scene.h"
#include "rigidplastic/bend/skeleton.h"

namespace exemplar::bend {

Skeleton skeleton_of_pieces(const Body& body);

// The piece that a place in the body belongs to.
int piece_at(const Body& body, const Vec3& point);

}  // namespace exemplar::bend
