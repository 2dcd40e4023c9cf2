#include "compare/stage/camera.h"

#include <algorithm>
#include <cmath>

namespace exemplar::stage {

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

Camera Camera::moved(const Vec3& by) const {
  Camera other = *this;
  other.position += by;
  other.target += by;
  return other;
}

Camera Camera::zoomed(double factor) const {
  Camera other = *this;
  other.view_angle = 2 * std::atan(std::tan(view_angle / 2) / factor);
  return other;
}

Vec3 project(const Camera& camera, const Vec3& point, double aspect) {
  const Vec3 from = point - camera.position, back = camera.backward(), right = camera.right();
  const double depth = -from.dot(back), slope = std::tan(camera.view_angle / 2);
  return {from.dot(right) / (depth * slope * aspect), from.dot(back.cross(right)) / (depth * slope), depth};
}

namespace {

// Directions of a picture. Looking along `up` itself needs another upright direction.
struct Axes {
  Axes(const Vec3& direction, const Vec3& upwards) : backward(direction.normalized()) {
    const bool parallel = backward.cross(upwards).norm() < 1e-6 * upwards.norm();
    const Vec3 upright = parallel ? backward.unitOrthogonal() : upwards;
    right = upright.cross(backward).normalized();
    up = backward.cross(right);
  }
  Vec3 backward, right, up;
};

std::vector<Vec3> finite_points(const std::vector<Vec3>& points) {
  std::vector<Vec3> finite;
  for (const Vec3& point : points) {
    if (point.allFinite()) finite.push_back(point);
  }
  if (finite.empty()) finite.push_back(Vec3::Zero());
  return finite;
}

}  // namespace

Camera fit_camera(const std::vector<Vec3>& points, const Vec3& direction, const Vec3& up, double aspect,
                  double margin, double view_angle) {
  const Axes axes(direction, up);
  const std::vector<Vec3> finite = finite_points(points);
  Box box;
  for (const Vec3& point : finite) box.include(point);
  const double slope = std::tan(view_angle / 2) * (1 - 2 * margin);
  const AxisFit horizontal = fit_axis(finite, axes.right, axes.backward, slope * aspect);
  const AxisFit vertical = fit_axis(finite, axes.up, axes.backward, slope);
  const double nearest = box.centre().dot(axes.backward) + std::max(1e-6, 0.6 * box.diagonal());
  const double distance = std::max({horizontal.distance, vertical.distance, nearest});
  Camera camera;
  camera.view_angle = view_angle;
  camera.up = axes.up;
  camera.position = horizontal.centre * axes.right + vertical.centre * axes.up + distance * axes.backward;
  camera.target = camera.position - (distance - box.centre().dot(axes.backward)) * axes.backward;
  return camera;
}

Camera fit_around(const Vec3& target, const std::vector<Vec3>& points, const Vec3& direction, const Vec3& up,
                  double aspect, double margin, double view_angle) {
  const Axes axes(direction, up);
  const double slope = std::tan(view_angle / 2) * (1 - 2 * margin);
  double distance = 1e-6;
  for (const Vec3& point : finite_points(points)) {
    const Vec3 from = point - target;
    const double depth = from.dot(axes.backward);
    distance = std::max({distance, depth + std::abs(from.dot(axes.right)) / (slope * aspect),
                         depth + std::abs(from.dot(axes.up)) / slope});
  }
  Camera camera;
  camera.view_angle = view_angle;
  camera.up = axes.up;
  camera.target = target;
  camera.position = target + distance * axes.backward;
  return camera;
}

Camera camera_at(const Vec3& position, const Vec3& target, const Vec3& up, double view_angle) {
  Camera camera;
  camera.position = position;
  camera.target = target;
  camera.up = Axes(position - target, up).up;
  camera.view_angle = view_angle;
  return camera;
}

}  // namespace exemplar::stage
