// Settings of method `rigid-bend`.
#pragma once

#include <optional>

#include "core/scene/settings.h"
#include "rigidplastic/bullet/shapes.h"
#include "rigidplastic/dent/settings.h"

namespace exemplar::bend {

struct ElasticSettings {
  double stiffness = 100;  // N m/rad
  double damping = 0;      // N m s
};

struct Settings {
  double max_step = 0.004;  // s
  rigid::CollisionGeometry collision = rigid::CollisionGeometry::automatic;
  int solver_iterations = 60;
  double threshold = 0.5;          // m/s
  std::optional<double> strength;  // N m
  double damping = 0;              // s
  bool dynamic = true;
  int most_bones = 32;
  bool condense = true;
  double settle_rate = 0.05;  // rad/s
  double settle_time = 0.03;  // s
  std::optional<ElasticSettings> elastic;
  std::optional<dent::DentOptions> dent;
  std::optional<double> break_stress;  // Pa
  std::optional<double> break_angle;   // °
};

inline void describe(Describe<ElasticSettings>& d) {
  d.field("stiffness", &ElasticSettings::stiffness, "N m/rad", "of the torsional spring in every joint",
          positive());
  d.field("damping", &ElasticSettings::damping, "N m s", "of the torsional spring in every joint",
          non_negative());
}

inline void describe(Describe<Settings>& d) {
  d.field("max_step", &Settings::max_step, "s", "longest time step; fast bodies take shorter ones",
          positive());
  d.choice("collision", &Settings::collision,
           {{"auto", rigid::CollisionGeometry::automatic},
            {"hull", rigid::CollisionGeometry::hull},
            {"mesh", rigid::CollisionGeometry::mesh}},
           "collision geometry of every part: its convex hull, its triangles, or (auto) a ball or body of "
           "revolution where the triangles stand for one, else the hull where it fits");
  d.field("solver_iterations", &Settings::solver_iterations, "",
          "iterations of Bullet's contact and joint solver", between(1, 1000));
  d.field("threshold", &Settings::threshold, "m/s", "impacts with a lower normal speed bend nothing",
          non_negative());
  d.field("strength", &Settings::strength, "N m",
          "moment at which every joint yields; none: yield stress times ∫|y|dA over its cross-section",
          positive());
  d.field("damping", &Settings::damping, "s",
          "a turning joint resists with strength · (1 + damping · angular rate)", non_negative());
  d.field("dynamic", &Settings::dynamic, "", "bones are split where they are hit");
  d.field("most_bones", &Settings::most_bones, "", "a body is not split into more bones than this",
          between(1, 1000));
  d.field("condense", &Settings::condense, "", "parts that do not bend are merged into one rigid body");
  d.field("settle_rate", &Settings::settle_rate, "rad/s", "slower joints count as standing still",
          positive());
  d.field("settle_time", &Settings::settle_time, "s",
          "a joint that stood still, or held, so long is merged again", positive());
  d.field("elastic", &Settings::elastic, "",
          "joints spring back up to their strength; none: they only yield");
  d.field("dent", &Settings::dent, "", "also dent what is struck; none: bending only");
  d.field(
      "break_stress", &Settings::break_stress, "Pa",
      "stress at which a joint between two pieces of a body that is cut beforehand breaks; none: three times "
      "the yield stress",
      positive());
  d.field("break_angle", &Settings::break_angle, "°",
          "a joint between two pieces that has turned so far breaks; none: it turns without end", positive());
}

}  // namespace exemplar::bend
