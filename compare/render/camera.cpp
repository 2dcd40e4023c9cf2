#include "compare/render/camera.h"

#include <algorithm>
#include <cmath>

namespace exemplar::render {

void Box::include(const Vec3& point) {
  if (!point.allFinite()) return;
  low = low.cwiseMin(point);
  high = high.cwiseMax(point);
}

void Box::include(const Box& box) {
  if (box.empty()) return;
  include(box.low);
  include(box.high);
}

namespace {

// Along one axis of the picture: |x_i - centre| ≤ slope · (distance - z_i) for all points, where z_i is
// measured towards the camera from the origin and `distance` is the camera's.
struct AxisFit {
  double centre = 0;
  double distance = 0;
};

AxisFit fit_axis(const std::vector<Vec3>& points, const Vec3& axis, const Vec3& backward, double slope) {
  double high = -std::numeric_limits<double>::infinity(), low = high;
  for (const Vec3& point : points) {
    const double x = point.dot(axis), z = point.dot(backward);
    high = std::max(high, x + slope * z);
    low = std::max(low, -x + slope * z);
  }
  return {(high - low) / 2, (high + low) / (2 * slope)};
}

}  // namespace

Camera fit_camera(const std::vector<Vec3>& points, const Vec3& direction, const Vec3& up, double aspect,
                  double margin) {
  Camera camera;
  const Vec3 backward = direction.normalized();
  // Looking along `up` itself needs another upright direction.
  const bool parallel = backward.cross(up).norm() < 1e-6 * up.norm();
  const Vec3 upright = parallel ? backward.unitOrthogonal() : up;
  const Vec3 right = upright.cross(backward).normalized();
  camera.up = backward.cross(right);
  Box box;
  std::vector<Vec3> finite;
  for (const Vec3& point : points) {
    if (point.allFinite()) finite.push_back(point);
  }
  if (finite.empty()) finite.push_back(Vec3::Zero());
  for (const Vec3& point : finite) box.include(point);
  const double slope = std::tan(camera.view_angle / 2) * (1 - 2 * margin);
  const AxisFit horizontal = fit_axis(finite, right, backward, slope * aspect);
  const AxisFit vertical = fit_axis(finite, camera.up, backward, slope);
  const double nearest = box.centre().dot(backward) + std::max(1e-6, 0.6 * box.diagonal());
  const double distance = std::max({horizontal.distance, vertical.distance, nearest});
  camera.position = horizontal.centre * right + vertical.centre * camera.up + distance * backward;
  camera.target = camera.position - (distance - box.centre().dot(backward)) * backward;
  return camera;
}

}  // namespace exemplar::render
