// Surfaces of revolution about the y axis, built from rings with their own numbers of vertices, so that edges
// stay about equally long where the radius changes.
#pragma once

#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

struct Ring {
  double radius = 0;  // m; 0 only for a pole, which has count 1
  double y = 0;       // m
  int count = 1;      // vertices around
};

// A point of the profile in the (radius, y) half plane.
struct ProfilePoint {
  double radius = 0;
  double y = 0;
};

// Appends points on the straight line from the profile's last point to `end`, about `spacing` apart, at least
// one.
void append_line(std::vector<ProfilePoint>& profile, const ProfilePoint& end, double spacing);

// Rings whose edges are about `edge` long; points with radius 0 become poles.
std::vector<Ring> rings_of(const std::vector<ProfilePoint>& profile, double edge);

// Connects consecutive rings (and the last with the first if `closed`). The outside is to the right of the
// direction in which the profile is passed, seen with the radius to the right and y up: a solid's profile
// goes from its lower pole over the mantle to its upper pole. Every second ring is turned by half an edge.
// Which triangles connect two rings depends only on their counts and turns, so an inner wall with the counts
// of the outer one is exactly parallel to it.
TriMesh revolve(const std::vector<Ring>& rings, bool closed);

}  // namespace exemplar
