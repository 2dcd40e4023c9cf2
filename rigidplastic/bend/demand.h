// Which joints of a body an impact would bend: the moment that a closed joint had to hold in a rehearsed tick, from
// the motion that the tick gave to the part on one side of it (patkar2014 §4.2). Units: N m, N s.
//
// For the bones S on one side of the joint with pivot p, within one rigid cluster,
//   J = ΔL_S − Σ ((x − p) × j + k) − dt Σ m (c − p) × g,
// L_S their angular momentum about p, j the impulses of contacts and open joints on them, k the angular impulses of
// open joints; J/dt is the joint's moment.
#pragma once

#include "rigidplastic/bend/bending_body.h"

namespace exemplar::bend {

// An impulse on a body, of a contact or of an open joint.
struct Hit {
  int cluster = 0;
  int bone = 0;
  Vec3 point = Vec3::Zero();    // world
  Vec3 impulse = Vec3::Zero();  // on the body
  double speed = 0;             // closing, before the tick
  int other = 0;                // the object it came from
  int joint = -1;               // of the body, where it is no contact; whether on the joint's bone b
  bool on_b = false;
  Vec3 turning = Vec3::Zero();  // N m s, angular, of a joint about its pivot
  int vertex = -1;              // of the surface, where a load acts
};

struct RehearsedTick {
  std::vector<RigidState> before, after;  // of the body's clusters
  Vec3 gravity = Vec3::Zero();
  double dt = 0;
};

// Moment (N m, world) on joint `j`, which is closed. Infinite when both of its sides are connected otherwise.
Vec3 moment_on(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
               const RehearsedTick& tick);

// The same for a joint that is not there yet. Only for bodies without rings.
double share_of_strength(const BendingBody& body, const WeakPlace& place, const std::vector<Hit>& hits,
                         const RehearsedTick& tick);

// That moment over the one that the joint holds: above 1 it yields.
double share_of_strength(const BendingBody& body, std::size_t j, const std::vector<Hit>& hits,
                         const RehearsedTick& tick);

}  // namespace exemplar::bend
