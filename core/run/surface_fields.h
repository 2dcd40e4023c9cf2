// The written surface that all methods share: every body's input surface in scene order with its own
// vertices, and what the runner adds to it.
#pragma once

#include <vector>

#include "core/mesh/point_map.h"
#include "core/output/fields.h"
#include "core/scene/scene.h"

namespace exemplar {

// Series "surface": positions given per body (rows = vertices of Body::surface()). Arrays: body (cells and
// points), displacement, and material coordinates: original_triangle, original_barycentric, fragment (0).
Geometry surface_geometry(const Scene& scene, const std::vector<Points>& positions);

// The part of one body in it.
Geometry body_geometry(const Body& body, int index, const Points& positions);

// A scalar of the cells as one of the points: the mean over the cells around each; 0 where there are none.
VecX cell_values_at_points(const Geometry& cells, const FieldArray& array);
// A scalar of the nodes at the points that hang on them, as one column.
MatX scalar_at(const PointMap& points, const Eigen::Ref<const VecX>& nodes);

// Adds a point array with values given per body.
void add_point_array(Geometry& surface, const std::string& name, const std::vector<MatX>& per_body);

// Series "obstacles" with an integer cell array `obstacle`.
Geometry obstacle_geometry(const Scene& scene, const std::vector<std::pair<Vec3, Quat>>& poses);

// Volume of the written surface over that at rest, closed solids only; k_unknown when there is none or when
// it is in pieces.
double surface_volume_ratio(const Scene& scene, const Geometry& surface);

// Deepest of the surface's points inside any obstacle, m; 0 when none is inside.
double deepest_penetration(const Scene& scene, const std::vector<std::pair<Vec3, Quat>>& poses,
                           const Points& points);

}  // namespace exemplar
