// Which joints of a body an impact would bend: the moment that a closed joint had to hold in a rehearsed tick, from
// the motion that the tick gave to the part on one side of it (patkar2014 §4.2). Units: N m, N s.
//
// For the bones S on one side of the joint with pivot p, within one rigid cluster,
//   J = ΔL_S − Σ (x − p) × j − dt Σ m (c − p) × g,
// L_S their angular momentum about p, j the contact impulses on them; J/dt is the joint's moment.
#pragma once

#include "rigidplastic/bend/bending_body.h"

namespace exemplar::bend {

// A contact impulse on a body.
struct Hit {
  int cluster = 0;
  int bone = 0;
  Vec3 point = Vec3::Zero();    // world
  Vec3 impulse = Vec3::Zero();  // on the body
  double speed = 0;             // closing, before the tick
  int other = 0;                // the object it came from
};

struct RehearsedTick {
  std::vector<RigidState> before, after;  // of the body's clusters
  Vec3 gravity = Vec3::Zero();
  double dt = 0;
};

// Moment (N m, world) on joint `j`, which is closed. Infinite when both of its sides are connected otherwise.
Vec3 moment_on(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
               const RehearsedTick& tick);

// Whether that moment is more than the joint holds.
bool would_yield(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
                 const RehearsedTick& tick);

}  // namespace exemplar::bend
