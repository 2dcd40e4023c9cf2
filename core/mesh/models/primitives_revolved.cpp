// The primitives that are surfaces of revolution: cylinder, capsule, torus, tube, barrel, vase.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/base/errors.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"
#include "core/mesh/models/revolution.h"

namespace exemplar {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double flattest =
    0.3;  // a ring of faces must be at least this part of an edge high to avoid slivers

// A length that gets a ring of faces of its own must not be much shorter than the edges.
void require_resolved(const std::string& name, const std::string& field, double value, double edge,
                      int resolution) {
  if (value >= flattest * edge) return;
  const int needed = static_cast<int>(std::ceil(resolution * flattest * edge / value));
  throw InputError(fmt::format("{}: {} = {:.6g} m is too thin for resolution {}: use at least {}", name,
                               field, value, resolution, needed));
}

// Appends an arc about `centre` from angle `from` to angle `to` (0: outwards, π/2: up), without its first
// point.
void append_arc(std::vector<ProfilePoint>& profile, const ProfilePoint& centre, double radius, double from,
                double to, double spacing) {
  const int parts = std::max(2, static_cast<int>(std::lround(std::abs(to - from) * radius / spacing)));
  for (int k = 1; k <= parts; ++k) {
    const double angle = from + (to - from) * k / parts;
    profile.push_back({centre.radius + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
}

// Body radius of the barrel at height y: bulged, with a rounded hoop around each centre.
struct BarrelBody {
  BarrelParams params;
  double hoop_half_width;
  std::array<double, 2> hoop_centres;

  double radius(double y) const {
    const double s = 2 * y / params.height - 1;
    double r = params.radius + params.bulge * (1 - s * s);
    for (const double centre : hoop_centres) {
      const double d = std::abs(y - centre) / hoop_half_width;
      if (d < 1) r += params.hoop * 0.5 * (1 + std::cos(pi * d));
    }
    return r;
  }

  // Appends the mantle up to `end_y`, about `spacing` apart.
  void append(std::vector<ProfilePoint>& profile, double end_y, double spacing) const {
    const double start_y = profile.back().y;
    const int parts = std::max(1, static_cast<int>(std::lround((end_y - start_y) / spacing)));
    for (int k = 1; k <= parts; ++k) {
      const double y = start_y + (end_y - start_y) * k / parts;
      profile.push_back({radius(y), y});
    }
  }
};

void check(const BarrelParams& params) {
  require_positive("barrel", "radius", params.radius);
  require_positive("barrel", "height", params.height);
  require_range("barrel", "height", params.height, params.radius, 20 * params.radius);
  require_range("barrel", "bulge", params.bulge, 0, 0.3 * params.height);
  require_range("barrel", "hoop", params.hoop, 0, 0.15 * params.radius);
  require_range("barrel", "recess", params.recess, 0, 0.2 * params.height);
  require_resolution("barrel", "resolution", params.resolution, 20);
}

// Outer radius of the vase at t = y / height: a smooth curve through foot, belly, neck and lip with level
// tangents at belly and neck.
double vase_radius(const VaseParams& p, double t) {
  const auto ease = [](double a, double b, double s) { return a + (b - a) * 0.5 * (1 - std::cos(pi * s)); };
  if (t < 0.4) return p.foot_radius + (p.belly_radius - p.foot_radius) * std::sin(0.5 * pi * t / 0.4);
  if (t < 0.8) return ease(p.belly_radius, p.neck_radius, (t - 0.4) / 0.4);
  const double s = (t - 0.8) / 0.2;
  return p.neck_radius + (p.lip_radius - p.neck_radius) * s * s;
}

ProfilePoint vase_inner(const VaseParams& p, double t) {
  const double step = 1e-5;
  const double level_mouth =
      1 - std::clamp((t - 0.85) / 0.15, 0.0, 1.0);  // the rim is flat, at the full height
  const double slope =
      level_mouth * (vase_radius(p, t + step) - vase_radius(p, t - step)) / (2 * step * p.height);
  const double norm = std::hypot(1.0, slope);
  return {vase_radius(p, t) - p.wall / norm, t * p.height + p.wall * slope / norm};
}

// Heights, as parts of the whole, at which the outer mantle has rings: about `edge` apart along the curve.
std::vector<double> vase_levels(const VaseParams& p, double edge) {
  const int fine = 2000;
  std::vector<double> length(fine + 1, 0.0);
  for (int k = 1; k <= fine; ++k) {
    const double dr =
        vase_radius(p, static_cast<double>(k) / fine) - vase_radius(p, static_cast<double>(k - 1) / fine);
    length[k] = length[k - 1] + std::hypot(dr, p.height / fine);
  }
  const int parts = std::max(4, static_cast<int>(std::lround(length[fine] / edge)));
  std::vector<double> levels;
  int k = 0;
  for (int i = 0; i <= parts; ++i) {
    while (k < fine && length[k] < length[fine] * i / parts) ++k;
    levels.push_back(static_cast<double>(k) / fine);
  }
  return levels;
}

void check(const VaseParams& p) {
  require_positive("vase", "height", p.height);
  require_positive("vase", "wall", p.wall);
  require_resolution("vase", "resolution", p.resolution, 16);
  const std::array<std::pair<const char*, double>, 4> radii = {{{"foot_radius", p.foot_radius},
                                                                {"belly_radius", p.belly_radius},
                                                                {"neck_radius", p.neck_radius},
                                                                {"lip_radius", p.lip_radius}}};
  for (const auto& [field, radius] : radii) {
    require_positive("vase", field, radius);
    require_range("vase", field, radius, 1.5 * p.wall, 2 * p.height);
  }
  require_range("vase", "wall", p.wall, 0, 0.2 * p.height);
  const double edge = 2 * pi * p.belly_radius / p.resolution;
  require_resolved("vase", "wall", p.wall, edge, p.resolution);
  for (const auto& [field, radius] : radii)
    require_resolved("vase", field, (radius - p.wall) / 3, edge, p.resolution);
}

// The inner wall from the mouth to the floor, with the ring counts of the outer wall, then the floor up to
// its pole.
void append_vase_inside(const VaseParams& p, const std::vector<double>& levels, double edge,
                        std::vector<Ring>& rings) {
  const double floor = 1.5 * p.wall;
  const std::size_t outer_first = rings.size() - levels.size();
  double last_y = rings.back().y + 1;
  ProfilePoint last;
  for (std::size_t k = levels.size(); k-- > 0;) {
    const ProfilePoint point = vase_inner(p, levels[k]);
    if (point.y >= last_y || point.radius <= 0.3 * p.wall)
      throw InputError("vase: wall is too thick for so strongly curved a shape");
    last_y = point.y;
    if (point.y < floor + 0.5 * edge) break;
    rings.push_back({point.radius, point.y, rings[outer_first + k].count});
    last = point;
  }
  double t = 0;
  while (t < 1 && vase_inner(p, t).y < floor) t += 1e-3;
  std::vector<ProfilePoint> bottom = {{vase_inner(p, t).radius, floor}};
  append_line(bottom, {0, floor}, edge);
  const std::vector<Ring> floor_rings = rings_of(bottom, edge);
  rings.insert(rings.end(), floor_rings.begin(), floor_rings.end());
}

}  // namespace

TriMesh make_cylinder(const CylinderParams& params) {
  require_positive("cylinder", "radius", params.radius);
  require_positive("cylinder", "height", params.height);
  require_resolution("cylinder", "resolution", params.resolution, 6);
  const double edge = 2 * pi * params.radius / params.resolution;
  require_triangles("cylinder", 2.0 * params.resolution * (params.height + 2 * params.radius) / edge);
  require_resolved("cylinder", "height", params.height, edge, params.resolution);
  const double half = 0.5 * params.height;
  std::vector<ProfilePoint> profile = {{0, -half}};
  append_line(profile, {params.radius, -half}, edge);
  append_line(profile, {params.radius, half}, edge);
  append_line(profile, {0, half}, edge);
  return revolve(rings_of(profile, edge), false);
}

TriMesh make_capsule(const CapsuleParams& params) {
  require_positive("capsule", "radius", params.radius);
  require_positive("capsule", "height", params.height);
  require_resolution("capsule", "resolution", params.resolution, 6);
  const double edge = 2 * pi * params.radius / params.resolution;
  require_triangles("capsule", 2.0 * params.resolution * (params.height + 2 * params.radius) / edge);
  const double straight = params.height - 2 * params.radius;
  if (straight < 0) throw InputError("capsule: height must be at least twice the radius");
  const double half = 0.5 * straight;
  std::vector<ProfilePoint> profile = {{0, -half - params.radius}};
  append_arc(profile, {0, -half}, params.radius, -0.5 * pi, 0, edge);
  // A straight part much shorter than an edge would make slivers; the ends are then pulled apart along one
  // band.
  const bool separate = straight >= flattest * edge;
  if (separate)
    append_line(profile, {params.radius, half}, edge);
  else
    profile.back().y = 0;
  append_arc(profile, {0, half}, params.radius, 0, 0.5 * pi, edge);
  profile.back().radius = 0;
  return revolve(rings_of(profile, edge), false);
}

TriMesh make_torus(const TorusParams& params) {
  require_positive("torus", "major_radius", params.major_radius);
  require_positive("torus", "minor_radius", params.minor_radius);
  require_range("torus", "minor_radius", params.minor_radius, 0, 0.9 * params.major_radius);
  require_resolution("torus", "resolution", params.resolution, 12);
  const double edge = 2 * pi * params.major_radius / params.resolution;
  require_triangles("torus", 2.0 * params.resolution * (2 * pi * params.minor_radius) / edge);
  require_resolved("torus", "minor_radius", params.minor_radius / 3, edge, params.resolution);
  require_resolved("torus", "major_radius - minor_radius", (params.major_radius - params.minor_radius) / 3,
                   edge, params.resolution);
  // An even number of rings, so that every second one can be turned by half an edge all the way round.
  const int parts = 2 * std::max(3, static_cast<int>(std::lround(pi * params.minor_radius / edge)));
  std::vector<ProfilePoint> profile;
  for (int k = 0; k < parts; ++k) {
    const double angle = 2 * pi * k / parts;
    profile.push_back(
        {params.major_radius + params.minor_radius * std::cos(angle), params.minor_radius * std::sin(angle)});
  }
  return revolve(rings_of(profile, edge), true);
}

TriMesh make_tube(const TubeParams& params) {
  require_positive("tube", "radius", params.radius);
  require_positive("tube", "wall", params.wall);
  require_positive("tube", "height", params.height);
  if (params.wall > 0.9 * params.radius) throw InputError("tube: wall must be at most 0.9 of the radius");
  require_resolution("tube", "resolution", params.resolution, 8);
  const double edge = 2 * pi * params.radius / params.resolution;
  require_triangles("tube", 2.0 * params.resolution * (2 * params.height + 2 * params.wall) / edge);
  require_resolved("tube", "wall", params.wall, edge, params.resolution);
  require_resolved("tube", "height", params.height, edge, params.resolution);
  const double half = 0.5 * params.height;
  const double inner = params.radius - params.wall;
  const int inner_count = std::max(5, static_cast<int>(std::lround(2 * pi * inner / edge)));
  // With different counts a thin wall could be cut by the coarse chords of the outer ring: then keep them
  // equal.
  const bool thin = params.wall < edge;
  std::vector<ProfilePoint> profile = {{params.radius, -half}};
  append_line(profile, {params.radius, half}, edge);
  append_line(profile, {inner, half}, edge);
  append_line(profile, {inner, -half}, edge);
  append_line(profile, {params.radius, -half}, edge);
  profile.pop_back();
  std::vector<Ring> rings = rings_of(profile, edge);
  for (Ring& ring : rings)
    if (ring.radius == inner) ring.count = thin ? params.resolution : inner_count;
  return revolve(rings, true);
}

TriMesh make_barrel(const BarrelParams& params) {
  check(params);
  const double edge = 2 * pi * params.radius / params.resolution;
  require_triangles("barrel",
                    2.0 * params.resolution * (params.height + 2 * params.radius + params.bulge) / edge);
  const double height = params.height;
  const double rim = 0.1 * params.radius;
  const BarrelBody body{params, 0.11 * params.radius, {0.34 * height, 0.66 * height}};
  const bool rims = params.recess > 0;
  if (rims) require_resolved("barrel", "recess", params.recess, edge, params.resolution);

  std::vector<ProfilePoint> profile = {{0, params.recess}};
  if (rims) {
    append_line(profile, {params.radius - 1.5 * rim, params.recess}, edge);
    append_line(profile, {params.radius - rim, 0}, edge);
  }
  append_line(profile, {params.radius, 0}, edge);
  if (params.hoop > 0)
    for (const double centre : body.hoop_centres) {
      body.append(profile, centre - body.hoop_half_width, edge);
      body.append(profile, centre, edge);
      body.append(profile, centre + body.hoop_half_width, edge);
    }
  body.append(profile, height, edge);
  if (rims) {
    append_line(profile, {params.radius - rim, height}, edge);
    append_line(profile, {params.radius - 1.5 * rim, height - params.recess}, edge);
  }
  append_line(profile, {0, height - params.recess}, edge);
  return revolve(rings_of(profile, edge), false);
}

TriMesh make_vase(const VaseParams& params) {
  check(params);
  const double edge = 2 * pi * params.belly_radius / params.resolution;
  require_triangles("vase", 4.0 * params.resolution * params.height / edge);
  const std::vector<double> levels = vase_levels(params, edge);
  std::vector<ProfilePoint> profile = {{0, 0}};
  append_line(profile, {params.foot_radius, 0}, edge);
  for (std::size_t k = 1; k < levels.size(); ++k)
    profile.push_back({vase_radius(params, levels[k]), levels[k] * params.height});
  std::vector<Ring> rings = rings_of(profile, edge);
  append_vase_inside(params, levels, edge, rings);
  return revolve(rings, false);
}

}  // namespace exemplar
