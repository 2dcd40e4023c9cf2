// Large flat obstacles drawn as a checkered ground around the motion, with the shadow of what stands on it.
#pragma once

#include <optional>
#include <vector>

#include "compare/render/image.h"
#include "compare/stage/camera.h"
#include "core/output/fields.h"

namespace exemplar::render {

using stage::Box;

// A rectangle: centre, unit axes in its plane, half lengths along them.
struct Rectangle {
  Vec3 centre = Vec3::Zero();
  Vec3 axis_u = Vec3::UnitX(), axis_v = Vec3::UnitZ();
  double half_u = 0, half_v = 0;

  Vec3 normal() const { return axis_u.cross(axis_v); }
};

// Triangles or polygons.
bool is_surface(const Geometry& geometry);

// Obstacles taken apart by their cell array `obstacle`: rectangles (one quad or two triangles), and all the
// rest.
struct ObstacleParts {
  std::vector<Rectangle> rectangles;
  Geometry rest;
};
ObstacleParts split_obstacles(const Geometry& obstacles);

// The part of `whole` near the motion, its normal turned to the motion's side.
Rectangle crop(const Rectangle& whole, const Box& motion);

// Edge of the squares of the ground (m): a round number that suits the motion.
double ground_tile_size(const Box& motion);

// A checker of squares of edge `tile` that is fixed in space, fading into the background at the rim of
// `shown` where that is not the rim of the obstacle itself, darkened where the triangles of `casters` shade
// it. `light`: towards the light.
Image ground_texture(const Rectangle& whole, const Rectangle& shown,
                     const std::vector<const Geometry*>& casters, const Vec3& light, double tile,
                     int resolution);

// 1, 2 or 5 times a power of ten, at most `length`.
double round_down_125(double length);

}  // namespace exemplar::render
