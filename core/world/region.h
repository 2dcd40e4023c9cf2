// Which nodes of a body something acts on: regions of space looked at in the body's start position (world
// coordinates at time zero, metres).
#pragma once

#include <vector>

#include "core/math/types.h"

namespace exemplar {

enum class RegionKind { all, box, sphere, cylinder, half_space, nearest };

struct Region {
  RegionKind kind = RegionKind::all;
  Vec3 centre = Vec3::Zero();    // box, sphere; middle of the cylinder; a point of the half space's border
  Vec3 size = Vec3::Ones();      // box: full side lengths, m
  Vec3 rotation = Vec3::Zero();  // box: rotation vector, rad
  double radius = 1;             // sphere, cylinder, m
  double hollow = 0;             // cylinder: radius of the bore, m; 0: none
  Vec3 axis = Vec3::UnitY();     // cylinder: from one end to the other, m
  Vec3 normal = Vec3::UnitY();   // half space: nodes with (x − centre)·normal ≥ 0 belong to it
  std::vector<Vec3> points;      // nearest: the node nearest to each
};

// Throws InputError for sizes that are not positive, a zero normal or an empty list of points.
void check_region(const Region& region);
bool contains(const Region& region, const Vec3& point);  // not for `nearest`, which depends on all nodes
// Ascending, without repetition. Borders belong to the region, with a tolerance of 1e-9 of the body's size:
// nodes meant to lie on a face do not drop out by rounding.
std::vector<int> select_nodes(const Region& region, const Points& positions);

}  // namespace exemplar
