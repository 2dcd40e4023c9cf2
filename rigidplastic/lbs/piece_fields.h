// What is written of a body: its input surface while it is whole, the surfaces of its pieces once it is broken.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/output/fields.h"
#include "rigidplastic/lbs/lbs_body.h"

namespace exemplar::lbs {

// Arrays of core/run/surface_fields.h and `velocity`.
Geometry whole_geometry(const LbsBody& body, int index, const rigid::Simulation& simulation);
Geometry piece_geometry(const LbsBody& body, int index, const std::vector<rigid::RigidBody>& rigid_bodies,
                        const std::vector<int>& components);

// `example_weight_<name>` for every name (0 where the body has no such example), `impulse`, and of the skinning weights
// the largest: `strongest_handle` (−1: the body has no rig) and `strongest_weight`. `by_piece`: the geometry is that of
// the pieces.
void add_weights(Geometry& geometry, const LbsBody& body, const std::set<std::string>& names, bool by_piece);

// Series "handles": where the bones' centres are, as points with `body` and `handle`. Each goes with the surface point
// that it is nearest to at rest.
Geometry handle_geometry(const std::vector<LbsBody>& bodies,
                         const std::vector<rigid::RigidBody>& rigid_bodies);

}  // namespace exemplar::lbs
