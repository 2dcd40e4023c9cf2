// Overlaps of the pieces of one body. Hulls of pieces cut along tets reach into their neighbours from the start, by a few
// percent of their size, and cuts are jagged: where two pieces slide along one, Bullet finds their teeth deep in each
// other and pushes them apart at once, which lifted a breaking crane of 23 t by 0.25 m within two frames. Here a contact
// of the two stops them as any contact does, but counts only what is deeper than their first overlap, and that is mended
// slowly. Units: m.
#pragma once

#include "rigidplastic/bullet/world.h"

namespace exemplar::rigid {

// How deep two shapes reach into each other; 0 when they do not touch.
double overlap_of(const BulletShape& a, const RigidState& state_a, const BulletShape& b,
                  const RigidState& state_b);

}  // namespace exemplar::rigid
