// What lies still is held where it lies. Contact points of concave meshes come and go from tick to tick, so that bodies at rest
// creep and tremble (a folded plank by 0.7 mm/s and 50 mm/s). A body that has not left its place by more than a
// thousandth of its size for half a second is at rest when everything that it touches, or is joined with, is so too
// and something that does not move bears it. It moves on as soon as one of them does. Units: m, kg, s.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/world/rigid_state.h"

namespace exemplar::rigid {

// How long an object has been where it is.
struct RestClock {
  Vec3 position = Vec3::Zero();         // m, where it was when the clock started
  Quat orientation = Quat::Identity();  // as it was then
  double time = 0;                      // s
};

// Eight numbers a clock: position, orientation (x y z w), time.
inline constexpr std::size_t numbers_per_rest_clock = 8;
void append(std::vector<double>& numbers, const RestClock& clock);
RestClock rest_clock(std::span<const double> numbers);

// An object of the world as the clock sees it.
struct RestingObject {
  bool free = false;           // not fixed, held or prescribed
  bool driven = false;         // loads act on it: it never rests
  double gyration = 0;         // m, root mean square distance of its mass from its centre
  RestClock* clock = nullptr;  // of a free object
  RigidState state;            // after the tick
};

// Lets the clocks of free objects go on by `dt`; whether one of them has run for long enough to rest.
bool advance_clocks(std::vector<RestingObject>& objects, double dt);

// Objects that touch or are joined, in any order, once or several times.
using ObjectPairs = std::vector<std::pair<int, int>>;

// Which objects are at rest.
std::vector<bool> at_rest(const std::vector<RestingObject>& objects, ObjectPairs pairs);

}  // namespace exemplar::rigid
