// The ship: a lofted hull with a deck well, hatches, deckhouse with bridge, funnel and foremast.
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// Reference: 30 m long, 7 m wide, keel on y = 0.
struct ShipShape {
  double detail;  // m, rounding of small features
  double thin;    // m, least radius of masts and booms, which grow when the mesh is coarse

  static double deck(double x) { return 4.3 + 1.9 * std::pow(ramp(2, 17, x), 1.5) + 0.5 * ramp(-9, -16, x); }

  // Half the hull's width; negative ahead of the raked stem, so that both sides meet there.
  static double half_width(double x, double y) {
    const double stem = 12.3 + 0.45 * y;
    const double fore = std::max((x - 2.0) / (stem - 2.0), 0.0);
    const double aft = std::max((-x - 9.0) / 6.0, 0.0);
    const double fine =
        mix(0.35, 0.0, ramp(0, 4.5, y)) * ramp(-7, -15, x);  // narrow under water at the stern
    return 3.5 * (1 - std::pow(fore, 2.2)) * (1 - 0.16 * aft * aft) * (1 - fine);
  }

  double hull(const Vec3& p) const {
    const double side = 0.85 * (std::hypot(p.z(), 0.3) - 0.1 - half_width(p.x(), p.y()));
    double f = intersect(side, -p.y(), 2.0);
    f = intersect(f, p.y() - deck(p.x()), 0.25);
    f = intersect(f, -15 - p.x() + 0.25 * ramp(4, 0, p.y()) * 4, 0.9);
    // The well leaves a bulwark along both sides, a raised forecastle and a raised poop.
    const double inside = 0.85 * (p.z() + 0.65 - half_width(p.x(), p.y()));
    double well = intersect(inside, deck(p.x()) - 1.0 - p.y(), 0.3);
    well = intersect(well, intersect(p.x() - 9.0, -5.8 - p.x(), 0.4), 0.4);
    return cut(f, well, 0.25);
  }

  double house(const Vec3& p) const {
    double f = box(p, {-9.9, 5.3, 0}, {2.9, 1.9, 2.55}, 0.3);
    f = join(f, box(p, {-9.5, 7.7, 0}, {2.0, 1.1, 2.1}, 0.3), 0.15);
    double bridge = box(p, {-8.9, 9.4, 0}, {1.35, 0.95, 3.0}, 0.3);
    // The windows' band around the bridge.
    const double band =
        intersect(std::abs(p.y() - 9.6) - 0.26, -box(p, {-8.9, 9.4, 0}, {1.18, 2.0, 2.83}, 0.2), detail);
    bridge = cut(bridge, band, detail);
    f = join(f, bridge, 0.12);
    const double funnel = disc(p, {-11.7, 9.2, 0}, 1, 1.0, 2.0, 0.25);
    const double mouth = ellipsoid(p, {-11.7, 11.4, 0}, {0.55, 0.6, 0.55});
    return join(f, cut(funnel, mouth, 0.2), 0.2);
  }

  double mast(const Vec3& p) const {
    double f = limb(p, {10.4, 4.5, 0}, {10.4, 11.4, 0}, std::max(0.36, thin), std::max(0.25, thin));
    if (thin > 0.4) return f;  // too coarse for the rest
    const double r = std::max(0.25, thin);
    f = join(f, limb(p, {10.4, 9.6, -1.2}, {10.4, 9.6, 1.2}, r, r), 0.12);
    f = join(f, limb(p, {-9.0, 10.2, 0}, {-9.0, 12.4, 0}, std::max(0.3, thin), r), 0.2);
    f = join(f, limb(p, {13.0, 5.6, 0}, {13.4, 6.8, 0}, r, r), 0.2);
    // Derrick boom over the hatches.
    return join(f, limb(p, {10.4, 6.6, 0}, {3.4, 8.6, 0}, std::max(0.28, thin), r), 0.15);
  }

  double operator()(const Vec3& at) const {
    const Vec3 p(at.x(), at.y(), std::abs(at.z()));
    double f = hull(p);
    for (const double x : {-3.6, 0.9, 5.4}) f = join(f, box(p, {x, 4.0, 0}, {1.75, 1.05, 1.75}, 0.18), 0.12);
    f = join(f, house(p), 0.15);
    return join(f, mast(p), 0.25);
  }
};

}  // namespace

TriMesh make_ship(const ShipParams& params) {
  require_positive("ship", "length", params.length);
  require_range("ship", "beam", params.beam, 0.15 * params.length, 0.4 * params.length);
  require_resolution("ship", "resolution", params.resolution, 30, 160);
  const double edge = params.length / params.resolution;
  const double unit = params.length / 30;
  const Vec3 scale(unit, unit, params.beam / 7);
  const ShipShape ship{std::clamp(0.3 * edge / unit, 0.08, 0.3), 0.5 * edge / unit};
  TriMesh mesh = mesh_model(ship, {{-16, -0.6, -4}, {16.5, 13.2, 4}, scale, edge, 0.3});
  fit_axis(mesh, 0, -0.5 * params.length, 0.5 * params.length);
  fit_axis(mesh, 2, -0.5 * params.beam, 0.5 * params.beam);
  mesh.vertices.col(1).array() -= mesh.vertices.col(1).minCoeff();
  return mesh;
}

}  // namespace exemplar
