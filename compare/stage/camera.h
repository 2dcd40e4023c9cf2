// A perspective camera that just holds a set of points. Metres, radians.
#pragma once

#include <limits>
#include <vector>

#include "core/math/types.h"

namespace exemplar::stage {

struct Camera {
  Vec3 position = Vec3::UnitZ();
  Vec3 target = Vec3::Zero();
  Vec3 up = Vec3::UnitY();
  double view_angle = 0.42;  // vertical, whole

  Vec3 backward() const { return (position - target).normalized(); }
  Vec3 right() const { return up.cross(backward()).normalized(); }
  Camera moved(const Vec3& by) const;
  Camera zoomed(double factor) const;  // a narrower view from the same place
};

// Where a point is in the picture: −1 … 1 from left to right and from bottom to top, and its depth before the
// camera in metres (nothing that is not in front is in the picture).
Vec3 project(const Camera& camera, const Vec3& point, double aspect);

struct Box {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 high = -low;

  void include(const Vec3& point);  // points that are not finite are left out
  void include(const Box& box);
  bool empty() const { return !(low.array() <= high.array()).all(); }
  Vec3 centre() const { return 0.5 * (low + high); }
  double diagonal() const { return empty() ? 0 : (high - low).norm(); }
  bool contains(const Vec3& point) const {
    return (point.array() >= low.array()).all() && (point.array() <= high.array()).all();
  }
};

// The nearest camera in `direction` (from the scene to the camera) that shows all `points` with a margin (a
// fraction of the picture on each side); `aspect` is width over height. Exact: each side's constraint is
// linear in the position.
Camera fit_camera(const std::vector<Vec3>& points, const Vec3& direction, const Vec3& up, double aspect,
                  double margin = 0.06, double view_angle = 0.42);

// The same with `target` in the middle of the picture.
Camera fit_around(const Vec3& target, const std::vector<Vec3>& points, const Vec3& direction, const Vec3& up,
                  double aspect, double margin = 0.06, double view_angle = 0.42);

// From a place to a place, upright.
Camera camera_at(const Vec3& position, const Vec3& target, const Vec3& up, double view_angle = 0.42);

}  // namespace exemplar::stage
