#include "core/scene/pose_maps.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/math/angles.h"

namespace exemplar {

namespace {

// Extent of the box along a unit direction.
double extent_along(const Bounds& bounds, const Vec3& direction) {
  return bounds.size().cwiseProduct(direction.cwiseAbs()).sum();
}

Vec3 map_point(const TwistMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 axis = map.axis.normalized();
  const Vec3 r = p - bounds.centre();
  const double s = r.dot(axis);
  const double length = std::max(extent_along(bounds, axis), 1e-300);
  const Vec3 turned = Eigen::AngleAxisd(map.angle * k_degree * s / length, axis) * (r - s * axis);
  return bounds.centre() + turned + map.axial_scale * s * axis;
}

Vec3 longest_side(const Bounds& bounds, const Vec3& axis) {
  Vec3 best = axis.unitOrthogonal();
  double length = -1;
  for (int k = 0; k < 3; ++k) {
    Vec3 side = Vec3::Unit(k);
    side -= side.dot(axis) * axis;
    if (side.norm() < 1e-6) continue;
    if (bounds.size()[k] > length) {
      length = bounds.size()[k];
      best = side.normalized();
    }
  }
  return best;
}

// Arc-length bend: u along the line, v across it in the plane of bending. Straight before and after the bent
// part.
Vec3 map_point(const BendMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 axis = map.axis.normalized();
  Vec3 along = map.along ? *map.along : longest_side(bounds, axis);
  along = (along - along.dot(axis) * axis).normalized();
  const Vec3 across = axis.cross(along);
  const Vec3 centre = map.hinge ? *map.hinge : bounds.centre();
  const double length = map.hinge ? map.hinge_length : std::max(extent_along(bounds, along), 1e-300);
  const Vec3 r = p - centre;
  const double u = r.dot(along), v = r.dot(across);
  const double inside = std::clamp(u, -length / 2, length / 2);
  const double angle = map.angle * k_degree * inside / length;
  const double curvature = map.angle * k_degree / length;
  // Centre line at arc length `inside`, then straight on by what is left, then across.
  const double x = std::abs(curvature) < 1e-12 ? inside : std::sin(angle) / curvature;
  const double y = std::abs(curvature) < 1e-12 ? 0.0 : (1 - std::cos(angle)) / curvature;
  const double rest = u - inside;
  const double c = std::cos(angle), s = std::sin(angle);
  return centre + (x + rest * c - v * s) * along + (y + rest * s + v * c) * across + r.dot(axis) * axis;
}

Vec3 map_point(const TaperMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 axis = map.axis.normalized();
  const Vec3 r = p - bounds.centre();
  const double s = r.dot(axis);
  const double t = s / std::max(extent_along(bounds, axis), 1e-300) + 0.5;
  const double scale = map.start + (map.end - map.start) * t;
  return bounds.centre() + s * axis + scale * (r - s * axis);
}

Vec3 map_point(const StretchMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 axis = map.axis.normalized();
  const Vec3 r = p - bounds.centre();
  const double s = r.dot(axis);
  const double side = map.keep_volume ? 1 / std::sqrt(map.factor) : 1.0;
  return bounds.centre() + map.factor * s * axis + side * (r - s * axis);
}

Vec3 map_point(const ShearMap& map, const Vec3& p, const Bounds& bounds) {
  const double height = (p - bounds.centre()).dot(map.normal.normalized());
  return p + map.amount * height * map.direction.normalized();
}

Vec3 map_point(const BulgeMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 axis = map.axis.normalized();
  const Vec3 centre = map.centre ? *map.centre : bounds.centre();
  const Vec3 r = p - centre;
  const double s = r.dot(axis);
  const double scale = 1 + map.amount * std::exp(-(s / map.width) * (s / map.width));
  return centre + s * axis + scale * (r - s * axis);
}

Vec3 map_point(const DentMap& map, const Vec3& p, const Bounds&) {
  const double t = (p - map.centre).norm() / map.radius;
  if (t >= 1) return p;
  const double fall = (1 - t * t) * (1 - t * t);
  return p + map.depth * fall * map.direction.normalized();
}

// How far the point at s goes along a wave of this steepest slope that is as long as its base was:
// ∫₀ˢ √(1 − slope² cos²(k t + phase)) dt by Simpson's rule.
double along_wave(double s, double slope, double k, double phase) {
  constexpr int n = 64;
  const auto run = [&](double t) {
    return std::sqrt(std::max(0.0, 1 - std::pow(slope * std::cos(k * t + phase), 2)));
  };
  double sum = run(0) + run(s);
  for (int i = 1; i < n; ++i) sum += (i % 2 == 1 ? 4 : 2) * run(s * i / n);
  return sum * s / (3 * n);
}

Vec3 map_point(const WaveMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 along = map.along.normalized(), from_centre = p - bounds.centre();
  const double s = from_centre.dot(along), k = 2 * std::numbers::pi / map.wavelength,
               phase = map.phase * k_degree;
  double amplitude = map.amplitude;
  if (map.grow) {
    const Vec3 axis = map.grow->normalized();
    const double half = 0.5 * extent_along(bounds, axis);
    amplitude *= half > 0 ? std::clamp(0.5 + 0.5 * from_centre.dot(axis) / half, 0.0, 1.0) : 1.0;
  }
  const double shorter = map.keep_length ? along_wave(s, amplitude * k, k, phase) - s : 0.0;
  return p + shorter * along + amplitude * std::sin(k * s + phase) * map.direction.normalized();
}
Vec3 map_point(const TranslateMap& map, const Vec3& p, const Bounds&) {
  return p + map.offset;
}

std::array<double, 4> cubic_basis(double t) {
  const double u = 1 - t;
  return {u * u * u / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6,
          t * t * t / 6};
}

// Control point k sits at fraction k/(resolution−1) of the box; one at u contributes by the uniform cubic
// B-spline.
double lattice_weight(int node, int resolution, double fraction) {
  const double u = std::clamp(fraction, 0.0, 1.0) * (resolution - 1);
  const int span = std::min(static_cast<int>(u), std::max(resolution - 2, 0));
  const int local = node - span + 1;
  if (local < 0 || local > 3) return 0;
  return cubic_basis(u - span)[static_cast<std::size_t>(local)];
}

Vec3 map_point(const LatticeMap& map, const Vec3& p, const Bounds& bounds) {
  const Vec3 fraction = (p - bounds.low).cwiseQuotient(bounds.size().cwiseMax(1e-300));
  Vec3 moved = p;
  for (const LatticeOffset& control : map.offsets) {
    double weight = 1;
    for (int k = 0; k < 3; ++k) weight *= lattice_weight(control.node[k], map.resolution[k], fraction[k]);
    moved += weight * control.offset;
  }
  return moved;
}

double region_weight(const MapRegion& region, const Vec3& p) {
  const Vec3 outside = (region.low - p).cwiseMax(p - region.high).cwiseMax(0.0);
  const double distance = outside.norm();
  if (distance == 0) return 1;
  if (distance >= region.falloff) return 0;
  const double t = distance / region.falloff;
  return 1 - t * t * (3 - 2 * t);
}

template <class Map>
void apply_one(const std::optional<Map>& map, const std::optional<MapRegion>& within, const Bounds& bounds,
               Points& points) {
  if (!map) return;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const Vec3 p = points.row(i);
    const double weight = within ? region_weight(*within, p) : 1.0;
    if (weight > 0) points.row(i) = p + weight * (map_point(*map, p, bounds) - p);
  }
}

}  // namespace

Bounds bounds_of(const Points& points) {
  if (points.rows() == 0) return {};
  return {points.colwise().minCoeff(), points.colwise().maxCoeff()};
}

Points apply_map(const PoseMap& map, const Points& points, const Bounds& bounds) {
  Points moved = points;
  apply_one(map.twist, map.within, bounds, moved);
  apply_one(map.bend, map.within, bounds, moved);
  apply_one(map.taper, map.within, bounds, moved);
  apply_one(map.stretch, map.within, bounds, moved);
  apply_one(map.shear, map.within, bounds, moved);
  apply_one(map.bulge, map.within, bounds, moved);
  apply_one(map.dent, map.within, bounds, moved);
  apply_one(map.lattice, map.within, bounds, moved);
  apply_one(map.translate, map.within, bounds, moved);
  apply_one(map.wave, map.within, bounds, moved);
  return moved;
}

Points apply_maps(const std::vector<PoseMap>& maps, const Points& points, const Bounds& bounds) {
  Points moved = points;
  for (const PoseMap& map : maps) moved = apply_map(map, moved, bounds);
  return moved;
}

void describe(Describe<TwistMap>& d) {
  d.field("axis", &TwistMap::axis, "", "axis of the twist, through the box's centre").direction();
  d.field("angle", &TwistMap::angle, "deg", "angle between the two ends");
  d.field("axial_scale", &TwistMap::axial_scale, "", "scale along the axis", positive());
}

void describe(Describe<BendMap>& d) {
  d.field("axis", &BendMap::axis, "", "axis about which the body bends").direction();
  d.field("along", &BendMap::along, "",
          "direction of the line that becomes an arc; default: the longest side")
      .direction();
  d.field("angle", &BendMap::angle, "deg", "angle between the two ends");
  d.field("hinge", &BendMap::hinge, "m", "bend about this point only, over hinge_length");
  d.field("hinge_length", &BendMap::hinge_length, "m", "length of the bent part when a hinge is given",
          positive());
}

void describe(Describe<TaperMap>& d) {
  d.field("axis", &TaperMap::axis, "", "axis along which the scale changes").direction();
  d.field("start", &TaperMap::start, "", "scale of cross-sections at the low end", positive());
  d.field("end", &TaperMap::end, "", "scale of cross-sections at the high end", positive());
}

void describe(Describe<StretchMap>& d) {
  d.field("axis", &StretchMap::axis, "", "direction of the stretch").direction();
  d.field("factor", &StretchMap::factor, "", "length over rest length", positive());
  d.field("keep_volume", &StretchMap::keep_volume, "", "shrink the sides so that the volume stays");
}

void describe(Describe<ShearMap>& d) {
  d.field("direction", &ShearMap::direction, "", "direction in which points move").direction();
  d.field("normal", &ShearMap::normal, "", "direction along which the movement grows").direction();
  d.field("amount", &ShearMap::amount, "", "tangent of the shear angle");
}

void describe(Describe<BulgeMap>& d) {
  d.field("axis", &BulgeMap::axis, "", "axis of the radial scale").direction();
  d.field("amount", &BulgeMap::amount, "", "growth of the radius at the centre (0.3: 30 %)",
          Range{-1, 100, true, false});
  d.field("width", &BulgeMap::width, "m", "half width along the axis", positive());
  d.field("centre", &BulgeMap::centre, "m", "centre of the bulge; default: the box's centre");
}

void describe(Describe<DentMap>& d) {
  d.field("centre", &DentMap::centre, "m", "middle of the dent").required();
  d.field("direction", &DentMap::direction, "", "direction of the dent").direction();
  d.field("depth", &DentMap::depth, "m", "displacement at the centre");
  d.field("radius", &DentMap::radius, "m", "distance at which it ends", positive());
}

void describe(Describe<LatticeOffset>& d) {
  d.field("node", &LatticeOffset::node, "", "control point, counted from 0", at_least(0)).required();
  d.field("offset", &LatticeOffset::offset, "m", "its displacement").required();
}

void describe(Describe<LatticeMap>& d) {
  d.field("resolution", &LatticeMap::resolution, "", "control points along each axis", between(2, 64));
  d.field("offsets", &LatticeMap::offsets, "", "displaced control points");
  d.check([](const LatticeMap& map, const ProblemSink& problem) {
    for (std::size_t i = 0; i < map.offsets.size(); ++i) {
      if ((map.offsets[i].node.array() >= map.resolution.array()).any()) {
        problem("offsets[" + std::to_string(i) + "].node", "is outside the lattice's resolution");
      }
    }
  });
}

void describe(Describe<WaveMap>& d) {
  d.field("direction", &WaveMap::direction, "", "direction in which points move").direction();
  d.field("along", &WaveMap::along, "", "direction along which the waves follow each other").direction();
  d.field("amplitude", &WaveMap::amplitude, "m", "height of a crest");
  d.field("wavelength", &WaveMap::wavelength, "m", "distance between two crests", positive());
  d.field("phase", &WaveMap::phase, "°", "shifts the waves");
  d.field("grow", &WaveMap::grow, "",
          "axis along which the waves rise from nothing; none: everywhere the same")
      .direction();
  d.field("keep_length", &WaveMap::keep_length, "", "shorten the body along the waves as wrinkling does");
}

void describe(Describe<TranslateMap>& d) {
  d.field("offset", &TranslateMap::offset, "m", "displacement").required();
}

void describe(Describe<MapRegion>& d) {
  d.field("low", &MapRegion::low, "m", "lower corner of the box").required();
  d.field("high", &MapRegion::high, "m", "upper corner of the box").required();
  d.field("falloff", &MapRegion::falloff, "m", "distance outside the box over which the map fades",
          non_negative());
}

void describe(Describe<PoseMap>& d) {
  describe_pose_map(d);
  d.exactly_one(pose_map_names());
}

std::vector<std::string> pose_map_names() {
  return {"twist", "bend", "taper", "stretch", "shear", "bulge", "dent", "lattice", "translate", "wave"};
}

}  // namespace exemplar
