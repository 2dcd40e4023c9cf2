// Settings of method `rigid-dent`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/scene/settings.h"
#include "rigidplastic/bullet/shapes.h"
#include "rigidplastic/dent/dent_map.h"

namespace exemplar::dent {

enum class MapKind { imprint, gaussian, crater };

// How a body is dented.
struct DentOptions {
  double threshold = 0.5;          // m/s
  std::optional<double> distance;  // m
  double factor = 1;
  double max_distance = 0.3;    // of the body's smallest extent
  double min_distance = 0.002;  // of the body's smallest extent
  MapKind map = MapKind::imprint;
  double broadening = 1;
  int heat_steps = 6, raise_steps = 6;
  int resolution = 100;
  double widening = 0;
  Falloff falloff;
  bool keep_volume = false;
};

struct Settings : DentOptions {
  double max_step = 0.004;  // s
  rigid::CollisionGeometry collision = rigid::CollisionGeometry::automatic;
  int solver_iterations = 30;
  double duration = 0;  // s
  bool move_projectile = false;
  std::optional<double> strength;  // Pa
};

inline void describe(Describe<Falloff>& d) {
  d.choice("kind", &Falloff::kind, {{"logistic", FalloffKind::logistic}, {"linear", FalloffKind::linear}},
           "2/(1 + exp(k z/a)), or max(0, 1 − k z/a), at the depth z behind a dent of distance a");
  d.field("steepness", &Falloff::steepness, "",
          "k; above 2 (logistic) or 1 (linear) thin bodies may fold onto themselves", positive());
}

template <class T>
void describe_dents(Describe<T>& d) {
  d.field("threshold", &DentOptions::threshold, "m/s", "impacts with a lower normal speed leave no dent",
          non_negative());
  d.field("distance", &DentOptions::distance, "m",
          "dent distance of every impact, instead of the one its energy gives", positive());
  d.field("factor", &DentOptions::factor, "", "factor on the dent distance", positive());
  d.field("max_distance", &DentOptions::max_distance, "",
          "largest dent distance, as a share of the body's smallest extent", positive());
  d.field("min_distance", &DentOptions::min_distance, "",
          "shallower dents are left out, as a share of the body's smallest extent", non_negative());
  d.field("broadening", &DentOptions::broadening, "",
          "width of the Gaussians that broaden an imprint, in dent distances", non_negative());
  d.field("heat_steps", &DentOptions::heat_steps, "", "smoothing steps after broadening", between(0, 1000));
  d.field("raise_steps", &DentOptions::raise_steps, "", "smoothing steps that only deepen", between(0, 1000));
  d.field("resolution", &DentOptions::resolution, "", "most cells along a side of a dent map",
          between(8, 2000));
  d.field("widening", &DentOptions::widening, "1/m",
          "t of sheared dents: how much of their width a glancing hit keeps", non_negative());
  d.field("falloff", &DentOptions::falloff, "", "how dents fade behind the struck face");
  d.field("keep_volume", &DentOptions::keep_volume, "", "raise a rim so that the body keeps its volume");
}

inline std::vector<std::pair<std::string, MapKind>> map_kinds() {
  return {{"imprint", MapKind::imprint}, {"gaussian", MapKind::gaussian}, {"crater", MapKind::crater}};
}
inline constexpr const char* k_map_doc =
    "dent map: the projectile's imprint, a Gaussian as wide as it, or a crater with ripples";

inline void describe(Describe<DentOptions>& d) {
  d.choice("map", &DentOptions::map, map_kinds(), k_map_doc);
  describe_dents(d);
}

inline void describe(Describe<Settings>& d) {
  d.field("max_step", &Settings::max_step, "s", "longest time step; fast bodies take shorter ones",
          positive());
  d.choice(
      "collision", &Settings::collision,
      {{"auto", rigid::CollisionGeometry::automatic},
       {"hull", rigid::CollisionGeometry::hull},
       {"mesh", rigid::CollisionGeometry::mesh}},
      "collision geometry: the convex hull, the triangles, or (auto) a ball or body of revolution where the "
      "triangles stand for one and are not dented, else the hull where it fits");
  d.field("solver_iterations", &Settings::solver_iterations, "", "iterations of Bullet's contact solver",
          between(1, 1000));
  d.choice("map", static_cast<MapKind Settings::*>(&DentOptions::map), map_kinds(), k_map_doc);
  describe_dents(d);
  d.field("duration", &Settings::duration, "s", "time over which a dent grows; 0: at once", non_negative());
  d.field(
      "move_projectile", &Settings::move_projectile, "",
      "put what struck into the dent it made; bodies then collide as triangles unless hulls are asked for");
  d.field("strength", &Settings::strength, "Pa",
          "stress at which the joints of a body in pieces break; none: the material's yield stress",
          positive());
}

}  // namespace exemplar::dent
