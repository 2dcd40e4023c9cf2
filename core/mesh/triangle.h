// Geometry of one triangle: nearest point, ray hit, solid angle. Barycentric coordinates belong to corners a,
// b, c.
#pragma once

#include <optional>

#include "core/math/types.h"

namespace exemplar {

// Barycentric coordinates of the point of the triangle nearest to `point`, with exact zeros on edges and
// corners, so that the feature (face, edge, corner) can be told from them. Degenerate triangles are treated
// as their edges.
Vec3 nearest_on_triangle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c);

// Where origin + t·direction, t ≥ 0, meets the triangle from either side.
struct TriangleHit {
  double t;
  Vec3 barycentric;
};
std::optional<TriangleHit> ray_triangle(const Vec3& origin, const Vec3& direction, const Vec3& a,
                                        const Vec3& b, const Vec3& c);

// Signed solid angle seen from `point` (Van Oosterom and Strackee 1983), positive when the triangle's back is
// seen: the sum over a closed outwards surface is 4π inside and 0 outside.
double solid_angle(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace exemplar
