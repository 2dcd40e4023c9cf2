// The crane: portal on four legs, tower, machine house, cabin, counterweight, lattice jib, rope and hook.
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// Reference: jib tip at x = 10 m, y = 14 m.
struct CraneShape {
  double detail;  // m, rounding of small features
  double thin;    // m, least radius of bars and rope, which grow when the mesh is coarse

  // p with z ≥ 0.
  double portal(const Vec3& p) const {
    double f = box(p, {0, 4.5, 0}, {1.7, 0.4, 1.7}, 0.15);
    for (const double x : {-1.0, 1.0}) {
      f = join(f, limb(p, {x * 2.3, 0.5, 2.0}, {x * 1.3, 4.4, 1.3}, 0.34, 0.34), 0.2);
      f = join(f, box(p, {x * 2.4, 0.34, 2.05}, {0.65, 0.34, 0.42}, 0.15), 0.15);
    }
    return join(f, limb(p, {-2.0, 1.9, 1.76}, {2.0, 1.9, 1.76}, 0.24, 0.24), 0.15);
  }

  double upper(const Vec3& p, double z) const {
    double f = disc(p, {0, 5.2, 0}, 1, 1.15, 0.5, 0.1);
    f = join(f, box(p, {0, 6.0, 0}, {0.9, 1.2, 0.9}, 0.2), 0.15);
    double house = box(p, {-1.1, 7.9, 0}, {2.0, 1.05, 1.25}, 0.2);
    house = join(house, box(p, {-3.5, 7.6, 0}, {0.7, 0.95, 1.05}, 0.15), 0.1);
    f = join(f, house, 0.15);
    // The driver's cabin hangs in front, on one side, with a window all around its front.
    const Vec3 side(p.x(), p.y(), z);
    double cabin = box(side, {1.35, 7.75, 0.62}, {0.85, 0.9, 0.62}, 0.18);
    const double pane = box(side, {1.95, 8.0, 0.62}, {0.5, 0.36, 1.5}, 0.1);
    const double core = box(side, {1.35, 7.75, 0.62}, {0.74, 2.0, 0.51}, 0.15);
    cabin = cut(cabin, intersect(pane, -core, detail), detail);
    return join(f, cabin, 0.12);
  }

  double jib(const Vec3& p) const {
    const Vec3 foot(0.2, 8.7, 0);
    const Vec3 tip(9.75, 13.75, 0);
    const Vec3 shoulder(1.15, 11.2, 0);
    const auto lower = [&](double t) { return Vec3(foot + t * (tip - foot)); };
    const auto upper_at = [&](double t) { return Vec3(shoulder + t * (tip - shoulder)); };
    const double r = std::max(0.23, thin);
    double f = limb(p, foot, tip, 0.32, 0.26);
    f = join(f, limb(p, shoulder, tip, r, r), 0.12);
    f = join(f, limb(p, shoulder, lower(0.08), r, r), 0.12);
    f = join(f, limb(p, shoulder, lower(0.28), r, r), 0.12);
    f = join(f, limb(p, lower(0.28), upper_at(0.27), r, r), 0.12);
    f = join(f, limb(p, upper_at(0.27), lower(0.52), r, r), 0.12);
    f = join(f, limb(p, lower(0.52), upper_at(0.52), r, r), 0.12);
    // The last, narrow gap is closed by a web.
    f = join(f, limb(p, 0.5 * (lower(0.72) + upper_at(0.72)), tip, 0.36, 0.26), 0.3);
    // Mast and stay that hold the jib from behind.
    const Vec3 top(-1.6, 12.0, 0);
    f = join(f, limb(p, {-2.2, 8.5, 0}, top, 0.3, 0.24), 0.15);
    return join(f, limb(p, top, shoulder, r, r), 0.12);
  }

  double hook(const Vec3& p) const {
    double f = limb(p, {9.75, 13.75, 0}, {9.75, 8.6, 0}, std::max(0.17, thin), std::max(0.17, thin));
    f = join(f, box(p, {9.75, 8.2, 0}, {0.42, 0.5, 0.32}, 0.15), 0.12);
    // Three quarters of a ring below the block.
    const Vec3 d = p - Vec3(9.75, 7.05, 0);
    const double ring = std::hypot(std::hypot(d.x(), d.y()) - 0.42, d.z()) - std::max(0.17, thin);
    const double open = intersect(0.12 - d.y(), d.x(), 0.1);  // the quarter above and to the left
    f = join(f, cut(ring, open, 0.1), 0.1);
    return join(f, limb(p, {9.75, 7.9, 0}, {9.75, 7.45, 0}, 0.2, 0.17), 0.12);
  }

  double operator()(const Vec3& at) const {
    const Vec3 p(at.x(), at.y(), std::abs(at.z()));
    double f = join(portal(p), upper(p, at.z()), 0.15);
    f = join(f, jib(p), 0.15);
    return join(f, hook(p), 0.12);
  }
};

}  // namespace

TriMesh make_crane(const CraneParams& params) {
  require_positive("crane", "height", params.height);
  require_range("crane", "reach", params.reach, 0.5 * params.height, params.height);
  require_resolution("crane", "resolution", params.resolution, 30, 160);
  const double edge = params.height / params.resolution;
  const double unit = params.height / 14;
  const Vec3 scale(params.reach / 10, unit, unit);
  const CraneShape crane{std::clamp(0.3 * edge / unit, 0.05, 0.15), 0.45 * edge / unit};
  TriMesh mesh = mesh_model(crane, {{-4.6, -0.4, -3}, {10.7, 14.5, 3}, scale, edge, 0.14});
  mesh.vertices.col(0) *= params.reach / mesh.vertices.col(0).maxCoeff();
  fit_axis(mesh, 1, 0, params.height);
  return mesh;
}

}  // namespace exemplar
