// Names for the Eigen types used everywhere. Points are rows; lengths in metres.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace exemplar {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Mat3 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

// One point a row, stored row by row so that `points.data()` is x0 y0 z0 x1 y1 z1 …
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Edges = Eigen::Matrix<int, Eigen::Dynamic, 2, Eigen::RowMajor>;
using Triangles = Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Tets = Eigen::Matrix<int, Eigen::Dynamic, 4, Eigen::RowMajor>;

// The same numbers as one long vector of degrees of freedom, without a copy.
inline Eigen::Map<VecX> flat(Points& points) {
  return {points.data(), points.size()};
}
inline Eigen::Map<const VecX> flat(const Points& points) {
  return {points.data(), points.size()};
}

}  // namespace exemplar
