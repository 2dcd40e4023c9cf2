// The aeroplane: fuselage, swept wings and tail planes as rounded slabs, two engines under the wings.
#include <array>
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// A wing: a trapezium between s = 0 and s = span (s runs along the span) with round edges.
struct Wing {
  double span;
  double front_root, front_tip;  // m, x of the leading edge
  double back_root, back_tip;    // m, x of the trailing edge
  double half_root, half_tip;    // m, half thickness

  // x along the flow, s along the span, n normal to the wing.
  double operator()(double x, double s, double n) const {
    const double t = std::clamp(s / span, 0.0, 1.0);
    const double front_slope = (front_tip - front_root) / span;
    const double back_slope = (back_tip - back_root) / span;
    const double front = (x - front_root - front_slope * s) / std::hypot(1.0, front_slope);
    const double back = -(x - back_root - back_slope * s) / std::hypot(1.0, back_slope);
    const double half = mix(half_root, half_tip, t);
    const double outline =
        intersect(intersect(front, back, 0.1), std::max(s - span, -s - 1.0), 0.5 * half_tip + 0.2);
    return std::hypot(std::max(outline + half, 0.0), n) - half;
  }
};

// Reference: 12 m long, 12 m wing span, fuselage radius 0.75 m.
struct AeroplaneShape {
  double dent;  // m, depth of the windows; 0 when the mesh is too coarse for them

  double fuselage(const Vec3& p) const {
    double f = limb(p, {4.1, 0, 0}, {-1.5, 0, 0}, 0.75, 0.75);
    f = join(f, ellipsoid(p, {3.6, -0.04, 0}, {2.4, 0.71, 0.74}), 0.08);
    return join(f, limb(p, {-1.2, 0, 0}, {-5.65, 0.36, 0}, 0.75, 0.22), 0.1);
  }

  double windows(const Vec3& p) const {
    if (dent <= 0) return 0;
    double depth = 0;
    const double shift = std::abs(std::remainder(p.x() - 0.3, 0.75));
    if (p.x() > -2.32 && p.x() < 3.68) {  // the ends lie half way between windows, where the depth is 0
      const double r = std::hypot(shift / 0.17, (p.y() - 0.22) / 0.2);
      depth = ramp(1.25, 0.75, r) * ramp(0.3, 0.5, p.z());
    }
    const double screen = ramp(0.22, 0.30, p.y()) * ramp(0.56, 0.48, p.y()) * ramp(4.35, 4.5, p.x()) *
                          ramp(0.05, 0.11, p.z()) * ramp(5.6, 5.4, p.x());
    return dent * std::max(depth, screen);
  }

  double engine(const Vec3& p) const {
    double f = limb(p, {0.9, -0.80, 2.1}, {-0.9, -0.72, 2.1}, 0.44, 0.24);
    f = intersect(f, p.x() - 1.15, 0.14);
    f = cut(f, ellipsoid(p, {1.25, -0.80, 2.1}, {0.45, 0.25, 0.25}), 0.1);
    return join(f, box(p, {-0.5, -0.48, 2.1}, {0.95, 0.3, 0.12}, 0.1), 0.2);  // pylon
  }

  double operator()(const Vec3& at) const {
    static const Wing main{6.0, 1.55, -1.55, -1.25, -2.65, 0.21, 0.12};
    static const Wing tail{2.3, -4.45, -5.35, -5.75, -6.05, 0.12, 0.09};
    static const Wing fin{2.15, -3.9, -5.35, -5.75, -6.1, 0.13, 0.09};
    const Vec3 p(at.x(), at.y(), std::abs(at.z()));
    double f = fuselage(p) + windows(p);
    f = join(f, main(p.x(), p.z(), p.y() + 0.36 - 0.075 * p.z()), 0.22);
    f = join(f, tail(p.x(), p.z(), p.y() - 0.36 - 0.06 * p.z()), 0.12);
    f = join(f, fin(p.x(), p.y() - 0.3, p.z()), 0.14);
    return join(f, engine(p), 0.16);
  }
};

}  // namespace

TriMesh make_aeroplane(const AeroplaneParams& params) {
  require_positive("aeroplane", "length", params.length);
  require_range("aeroplane", "wing_span", params.wing_span, 0.7 * params.length, 1.4 * params.length);
  require_resolution("aeroplane", "resolution", params.resolution, 24, 160);
  const double edge = params.length / params.resolution;
  const double unit = params.length / 12;
  const Vec3 scale(unit, unit, params.wing_span / 12);
  const AeroplaneShape plane{0.06 * ramp(0.26, 0.16, edge / unit)};
  TriMesh mesh = mesh_model(plane, {{-6.6, -1.5, -6.4}, {6.4, 2.9, 6.4}, scale, edge, 0.11});
  fit_axis(mesh, 0, -0.5 * params.length, 0.5 * params.length);
  fit_axis(mesh, 2, -0.5 * params.wing_span, 0.5 * params.wing_span);
  return mesh;
}

}  // namespace exemplar
