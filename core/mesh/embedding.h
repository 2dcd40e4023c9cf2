// Points carried by a tet mesh: each is a fixed affine combination of the corners of one tet. Points outside
// take the tet behind the nearest boundary triangle and are extrapolated (weights outside [0, 1], still
// summing to one).
#pragma once

#include "core/mesh/mesh.h"

namespace exemplar {

struct Embedding {
  Eigen::VectorXi tet;
  Eigen::Matrix<double, Eigen::Dynamic, 4, Eigen::RowMajor> weights;
};

// Barycentric coordinates of `point` in the tet abcd; not finite for tets without volume.
Vec4 tet_barycentric(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

Embedding embed(const Points& points, const TetMesh& mesh);

// Positions (or any field with three components at the nodes) at the embedded points; for repeated use make a
// PointMap (point_map.h).
Points apply(const Embedding& embedding, const Tets& tets, const Points& positions);

}  // namespace exemplar
