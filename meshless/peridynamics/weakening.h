// Authored cracks: bonds that cross random walks are weakened, so that a plate breaks along chosen lines
// whatever strikes it (levine2014 §6 "Projectile force").
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/math/types.h"

namespace exemplar::peridynamics {

struct CrackPattern {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();  // the walks lie in planes perpendicular to it and cut through along it
  int count = 9;              // walks that start at the centre, spread evenly
  double length = 1;          // m
  double step = 0.01;         // m
  double wander = 0.35;       // rad, standard deviation of the turn at each step
  std::uint64_t seed = 1;
};

// Corner points of the walks in the plane (two coordinates).
std::vector<std::vector<Vec2>> crack_walks(const CrackPattern& pattern);

// Says whether the line between two points crosses a walk.
std::function<bool(const Vec3&, const Vec3&)> crosses_crack(const CrackPattern& pattern);

}  // namespace exemplar::peridynamics
