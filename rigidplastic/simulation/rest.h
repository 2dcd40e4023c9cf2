// What lies still is held where it lies. Contact points of concave meshes come and go from tick to tick, so that bodies at rest
// creep and tremble (a folded plank by 0.7 mm/s and 50 mm/s). A body is at rest that has not left its place for half a second,
// by no more than a small share of its size and of the way that it would fall in that time, when something that does not move bears
// it and the same holds for everything that it touches or is joined with. What touched something that moves, in this tick or in
// the one before, has to prove it anew: it may have been struck, or have lost what bore it. Units: m, kg, s.
#pragma once

#include <utility>
#include <vector>

#include "core/world/rigid_state.h"

namespace exemplar::rigid {

// How long an object has been where it is.
struct RestClock {
  Vec3 position = Vec3::Zero();         // m, where it was when the clock started
  Quat orientation = Quat::Identity();  // as it was then
  double time = 0;                      // s

  static constexpr auto described() {
    return std::tuple(member("position", &RestClock::position),
                      member("orientation", &RestClock::orientation), member("time", &RestClock::time));
  }
};

// An object of the world as the clock sees it.
struct RestingObject {
  bool free = false;           // not fixed, held or prescribed
  bool driven = false;         // loads act on it in this tick: it does not rest
  double gyration = 0;         // m, root mean square distance of its mass from its centre
  RestClock* clock = nullptr;  // of a free object
  RigidState state;            // after the tick
};

// Objects that touch or are joined, in any order, once or several times.
using ObjectPairs = std::vector<std::pair<int, int>>;

// Lets the clocks of free objects go on by `dt`, or start anew. `pairs`: of this tick and of the one before. `gravity`: m/s².
void advance_clocks(std::vector<RestingObject>& objects, const ObjectPairs& pairs, double gravity, double dt);

// Which objects are at rest.
std::vector<bool> at_rest(const std::vector<RestingObject>& objects, const ObjectPairs& pairs);

}  // namespace exemplar::rigid
