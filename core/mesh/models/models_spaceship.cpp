// The spaceship: a flat hull with cockpit, swept wings with guns at their tips, two engines, two canted fins.
#include <algorithm>
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// Reference: 10 m long, 9 m wide.
struct SpaceshipShape {
  double hull(const Vec3& p) const {
    double f = limb(p, {4.3, -0.15, 0}, {0.5, 0, 0}, 0.34, 0.8);
    f = join(f, box(p, {-1.6, 0, 0}, {2.6, 0.75, 1.05}, 0.45), 0.5);
    const double cockpit = ellipsoid(p, {1.5, 0.62, 0}, {1.25, 0.62, 0.55});
    return join(f, cockpit, 0.15);
  }

  // A slab from the hull to the tip whose leading edge is swept back; thickness 0.5 m at the root, 0.36 m at the tip.
  double wing(const Vec3& p) const {
    const double t = std::clamp((p.z() - 0.8) / 3.4, 0.0, 1.0);
    const double front = (p.x() - mix(0.6, -1.7, t)) / 1.2, back = (mix(-3.9, -3.4, t) - p.x()) / 1.02;
    const double half = mix(0.25, 0.18, t);
    const double outline = intersect(intersect(front, back, 0.2), std::max(p.z() - 4.25, -p.z()), 0.3);
    return std::hypot(std::max(outline + half, 0.0), p.y() + 0.1 + 0.12 * t) - half;
  }

  double engine(const Vec3& p) const {
    const double pod = limb(p, {-1.9, 0.1, 1.35}, {-4.5, 0.1, 1.35}, 0.5, 0.56);
    const double end = intersect(pod, -4.75 - p.x(), 0.12);
    return cut(end, ellipsoid(p, {-4.9, 0.1, 1.35}, {0.6, 0.36, 0.36}), 0.1);
  }

  double fin(const Vec3& p) const {
    const Vec3 q(p.x(), p.y(), p.z() - 0.55 - 0.25 * (p.y() - 0.5));
    return box(q, {-3.7 - 0.3 * (p.y() - 0.5), 1.2, 0}, {0.75, 0.95, 0.19}, 0.17);
  }

  double operator()(const Vec3& at) const {
    const Vec3 p(at.x(), at.y(), std::abs(at.z()));
    double f = join(hull(p), wing(p), 0.3);
    f = join(f, engine(p), 0.2);
    f = join(f, fin(p), 0.15);
    return join(f, limb(p, {-0.6, -0.22, 4.2}, {-3.4, -0.22, 4.2}, 0.24, 0.28), 0.12);  // gun
  }
};

}  // namespace

TriMesh make_spaceship(const SpaceshipParams& params) {
  require_positive("spaceship", "length", params.length);
  require_range("spaceship", "width", params.width, 0.6 * params.length, 1.4 * params.length);
  require_resolution("spaceship", "resolution", params.resolution, 24, 160);
  const double edge = params.length / params.resolution;
  const double unit = params.length / 10;
  const Vec3 scale(unit, unit, params.width / 9);
  TriMesh mesh = mesh_model(SpaceshipShape{}, {{-5.6, -1.4, -5}, {5.2, 2.8, 5}, scale, edge, 0.12});
  fit_axis(mesh, 0, -0.5 * params.length, 0.5 * params.length);
  fit_axis(mesh, 2, -0.5 * params.width, 0.5 * params.width);
  return mesh;
}

}  // namespace exemplar
