// The car: a body and a cabin bounded by smoothly intersected faces, wheel arches cut out, wheels joined in.
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// Reference: 4.2 × 1.4 × 1.8 m, x forward, y up from the ground.
struct CarShape {
  double detail;  // m, rounding of small features: they are softened when the mesh is coarse
  double recess;  // m, depth of the windows; 0 without windows and mirrors, for coarse meshes

  // Signed distances to the cabin's four faces in side view.
  static double windscreen(const Vec3& p) { return 0.523 * (p.x() - 0.98) + 0.852 * (p.y() - 0.93); }
  static double rear_window(const Vec3& p) { return -0.588 * (p.x() + 1.58) + 0.809 * (p.y() - 0.98); }
  static double roof(const Vec3& p) { return p.y() - 1.40 + 0.035 * (p.x() + 0.3) * (p.x() + 0.3); }
  static double side(const Vec3& p) { return 0.95 * (std::abs(p.z()) - 0.80 + 0.33 * (p.y() - 0.9)); }

  double body(const Vec3& p) const {
    const double x = p.x();
    const double hood = mix(0.90, 0.74, ramp(0.6, 2.2, x)) + 0.05 * ramp(-0.9, -1.7, x);
    const double belly = std::pow((p.y() - 0.58) / 0.40, 2);
    const double half_width = 0.90 - 0.045 * belly - 0.13 * std::pow(std::abs(x) / 2.1, 4);
    const double ends = std::abs(x) - 2.10 + 0.12 * p.z() * p.z() + 0.06 * belly;
    double f = intersect(p.y() - hood, std::abs(p.z()) - half_width, 0.16);
    f = intersect(f, ends, 0.22);
    return intersect(f, 0.20 - p.y(), 0.08);
  }

  double cabin(const Vec3& p) const {
    double f = intersect(windscreen(p), rear_window(p), 0.1);
    f = intersect(f, roof(p), 0.14);
    f = intersect(f, side(p), 0.14);
    return intersect(f, 0.6 - p.y(), 0.1);
  }

  // Shallow recesses: two windows on each side with a post between, windscreen and rear window.
  double windows(const Vec3& p) const {
    const double depth = recess;
    const double k = detail;
    const double outline = intersect(intersect(windscreen(p) + 0.12, rear_window(p) + 0.12, 0.1),
                                     intersect(p.y() - 1.29, 0.97 - p.y(), 0.06), 0.06);
    const double post = 0.05 - std::abs(p.x() + 0.32);
    const double sides = intersect(intersect(outline, post, k), -side(p) - depth, k);
    const double across = std::abs(p.z()) - 0.70 + 0.33 * (p.y() - 0.9);
    // Frames measured along the panes, so that the recesses have square walls.
    const double up_front = -0.852 * (p.x() - 0.98) + 0.523 * (p.y() - 0.93);
    const double up_rear = 0.809 * (p.x() + 1.58) + 0.588 * (p.y() - 0.98);
    const double frame_front = intersect(across, std::abs(up_front - 0.36) - 0.26, 0.08);
    const double frame_rear = intersect(across, std::abs(up_rear - 0.27) - 0.19, 0.08);
    const double front = intersect(frame_front, -windscreen(p) - depth, k);
    const double rear = intersect(frame_rear, -rear_window(p) - depth, k);
    return std::min(sides, std::min(front, rear));
  }

  double operator()(const Vec3& at) const {
    const Vec3 p(at.x(), at.y(), std::abs(at.z()));
    double f = join(body(p), cabin(p), 0.10);
    if (recess > 0) f = cut(f, windows(p), detail);
    for (const double sign : {1.0, -1.0}) {
      f = join(f, box(p, {sign * 2.0, 0.40, 0}, {0.11, 0.09, 0.76}, 0.08), 0.03 + detail);
      f = cut(f, disc(p, {sign * 1.28, 0.33, 0.92}, 2, 0.42, 0.30, 0.06), 0.04);
      double wheel = disc(p, {sign * 1.28, 0.32, 0.69}, 2, 0.32, 0.20, 0.06);
      wheel = cut(wheel, disc(p, {sign * 1.28, 0.32, 0.93}, 2, 0.21, 0.08, 0.02), 0.03);
      wheel = join(wheel, ellipsoid(p, {sign * 1.28, 0.32, 0.84}, {0.08, 0.08, 0.04}), 0.03);
      f = join(f, wheel, 0.05);
    }
    const double lamp = ellipsoid(p, {1.94, 0.62, 0.60}, {0.13, 0.08, 0.15});
    f = join(f, lamp, 0.03);
    if (recess <= 0) return f;
    const double mirror = ellipsoid(p, {0.72, 0.98, 0.88}, {0.07, 0.06, 0.10});
    return join(f, mirror, 0.05);
  }
};

}  // namespace

TriMesh make_car(const CarParams& params) {
  require_positive("car", "length", params.length);
  require_range("car", "width", params.width, 0.3 * params.length, 0.6 * params.length);
  require_range("car", "height", params.height, 0.25 * params.length, 0.5 * params.length);
  require_resolution("car", "resolution", params.resolution, 12, 160);
  const double edge = params.length / params.resolution;
  const Vec3 scale(params.length / 4.2, params.height / 1.4, params.width / 1.8);
  const CarShape car{std::clamp(0.3 * edge / scale.minCoeff(), 0.02, 0.05),
                     0.035 * ramp(0.2, 0.14, edge / scale.minCoeff())};
  TriMesh mesh = mesh_model(car, {{-2.3, -0.1, -1.1}, {2.3, 1.55, 1.1}, scale, edge, 0.05});
  fit_axis(mesh, 0, -0.5 * params.length, 0.5 * params.length);
  fit_axis(mesh, 1, 0, params.height);
  fit_axis(mesh, 2, -0.5 * params.width, 0.5 * params.width);
  return mesh;
}

}  // namespace exemplar
