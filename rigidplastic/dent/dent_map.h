// A dent map and its action on the target's points (patkar2014 §3).
//
// In the dent's frame (impact.h) a point (x, y, z) moves by
//   f(z) · (−2 sin θ D/(1 + exp(t x)), 0, cos θ D),   D = D(x, y),                                 (§3.3)
// D the map (metres along the velocity, largest value a: the dent distance), θ the angle of impact, t ≥ 0 the
// widening of sheared dents. With t = 0 points move along the velocity; the seed's text divides the whole x
// coordinate by 1 + exp(t x), which would not reduce to its own green curve at t = 0.
//
// f is the attenuation behind the plane (z > 0): the paper's 2/(1 + exp(k z/a)), or max(0, 1 − k z/a), k the
// steepness. A falloff no steeper than 1 − z/a keeps z + f(z) D increasing in z and cannot fold the body; that is
// k ≤ 2 and k ≤ 1. In front of the plane f is 1 (the logistic would grow to 2) down to z = −2a and falls to 0 at
// −4a: what the projectile touches lies at z ≥ −a, and farther in front are only other parts of a body that is not
// convex, which must stay. f rises with z there, so nothing folds.
#pragma once

#include <string>

#include "core/mesh/mesh.h"
#include "core/mesh/topology.h"
#include "rigidplastic/dent/impact.h"
#include "rigidplastic/dent/smoothing.h"

namespace exemplar::dent {

enum class FalloffKind { logistic, linear };

struct Falloff {
  FalloffKind kind = FalloffKind::logistic;
  double steepness = 1;  // k

  static constexpr auto described() {
    return std::tuple(member("kind", &Falloff::kind), member("steepness", &Falloff::steepness));
  }
};

double attenuation(const Falloff& falloff, double z, double distance);
// Whether the falloff is steeper than the bound under which no body can fold onto itself.
bool may_fold(const Falloff& falloff);

// How a profile becomes a map.
struct ProfileOptions {
  double width = 0;     // m, of the broadening Gaussians
  double spacing = 0;   // m, of the grid; made larger where the grid would have more cells than allowed
  int max_cells = 200;  // along either side
  Smoothing smoothing;
};

struct DentMap {
  DentFrame frame;
  double distance = 0;  // a, m
  double widening = 0;  // t, 1/m
  Falloff falloff;
  DepthGrid grid;  // D
  DepthGrid rim;   // raised against the dent so that volume is kept, m; empty: none

  // `share` of the dent, 0 … 1: dents that grow over several steps.
  Vec3 displacement(const Vec3& local, double share = 1) const;
  // Moves the points (same frame as the impact's) in place.
  void apply(Points& points, double share = 1) const { apply(points, share, 0, points.rows()); }
  // Only the rows from `begin` to before `end`.
  void apply(Points& points, double share, Eigen::Index begin, Eigen::Index end) const;

  static constexpr auto described() {
    return std::tuple(member("frame", &DentMap::frame), member("distance", &DentMap::distance),
                      member("widening", &DentMap::widening), member("falloff", &DentMap::falloff),
                      member("grid", &DentMap::grid), member("rim", &DentMap::rim));
  }
};

// What strikes: a surface and who is next to whom in it.
struct Projectile {
  const Points* points = nullptr;  // same frame as the impact's
  const Triangles* triangles = nullptr;
  const Adjacency* neighbours = nullptr;
};

// The projectile's imprint before broadening: how deep it goes, moved on by `distance` along its velocity, over the
// part of the collision plane in `footprint` (frame coordinates). No cells: nothing is struck.
DepthGrid imprint(const Projectile& projectile, const Impact& impact, const DentFrame& frame, double distance,
                  const Rectangle& footprint, const ProfileOptions& options);

// Broadened and smoothed, never shallower than the imprint, largest value `distance`.
DepthGrid finished_profile(DepthGrid imprint, double distance, const ProfileOptions& options);

// Where the target lies near the collision plane, in frame coordinates.
Rectangle target_footprint(const Points& target, const DentFrame& frame, double distance);

}  // namespace exemplar::dent
