// Closed forms of the signed distance of the analytic shapes (see shape.h for their local frames).
#pragma once

#include "core/world/shape.h"

namespace exemplar {

SignedDistance plane_distance(const Vec3& p);
SignedDistance sphere_distance(double radius, const Vec3& p);
SignedDistance box_distance(const Vec3& size, const Vec3& p);
SignedDistance capsule_distance(double radius, double length, const Vec3& p);
SignedDistance cylinder_distance(double radius, double length, const Vec3& p);

}  // namespace exemplar
