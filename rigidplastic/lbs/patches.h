// Contact patches: the impulses of a body pair summed over points that lie close together, so that the same
// impact deforms as much whether Bullet gives it one contact point or four (eq. 4 of jones2016 subtracts its
// threshold from every point). Units: N s, m.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rigidplastic/bullet/world.h"

namespace exemplar::lbs {

struct Patch {
  int a = 0, b = 0;                                     // objects, a < b
  Vec3 impulse = Vec3::Zero();                          // N s, world, on a; b gets the opposite
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  // world, means weighted by the impulses
};

// `contacts` sorted by pair, as the log is. Points of a pair belong together when a chain of points leads from
// one to the other with links no longer than `reach(a, b)`; negative: every point for itself.
std::vector<Patch> contact_patches(std::span<const rigid::Contact> contacts,
                                   const std::function<double(int a, int b)>& reach);

}  // namespace exemplar::lbs
