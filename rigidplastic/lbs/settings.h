// Settings of method `rigid-lbs`. Letters are those of jones2016.
#pragma once

#include <optional>

#include "core/scene/settings.h"
#include "rigidplastic/bullet/shapes.h"
#include "rigidplastic/lbs/weight_change.h"

namespace exemplar::lbs {

struct Settings {
  double max_step = 0.004;  // s
  rigid::CollisionGeometry collision = rigid::CollisionGeometry::round_or_mesh;
  int solver_iterations = 30;
  std::optional<double> alpha, beta, gamma;  // none: from material, size and a dry run
  double lambda = 0.8;
  double mu = 2;
  double nu = 5;
  double reference_time = 0.004;  // s
  Projection projection = Projection::normalised;
  bool paper = false;
  std::optional<double> strength;  // Pa
};

inline void describe(Describe<Settings>& d) {
  d.field("max_step", &Settings::max_step, "s", "longest time step; fast bodies take shorter ones",
          positive());
  d.choice("collision", &Settings::collision,
           {{"round", rigid::CollisionGeometry::round_or_mesh},
            {"auto", rigid::CollisionGeometry::automatic},
            {"hull", rigid::CollisionGeometry::hull},
            {"mesh", rigid::CollisionGeometry::mesh}},
           "collision geometry: the triangles (mesh), a ball or body of revolution where they stand for one "
           "and have not deformed yet (round), or also the convex hull where it fits at the start (auto)");
  d.field("solver_iterations", &Settings::solver_iterations, "", "iterations of Bullet's contact solver",
          between(1, 1000));
  d.field(
      "alpha", &Settings::alpha, "1/m",
      "example weight per metre of asked displacement (eq. 8); none: chosen so that the largest impact of a "
      "dry run does the plastic work that the material allows",
      non_negative());
  d.field("beta", &Settings::beta, "N s",
          "impulse below which nothing deforms (eq. 4); none: from the yield stress", non_negative());
  d.field("gamma", &Settings::gamma, "m",
          "how far along the surface a dent reaches (eq. 11); none: from the size", positive());
  d.field("lambda", &Settings::lambda, "",
          "share of a deformation that is still to come after reference_time (eq. 13)",
          Range{0, 1, false, true});
  d.field("mu", &Settings::mu, "1/s", "how fast restitution comes back after a deformation (eq. 15)",
          non_negative());
  d.field("nu", &Settings::nu, "", "how much a deformation in progress takes off restitution (eq. 15)",
          non_negative());
  d.field("reference_time", &Settings::reference_time, "s",
          "stands for the time step in eq. 4 and 13, so that results do not depend on it", positive());
  d.choice("projection", &Settings::projection,
           {{"normalised", Projection::normalised},
            {"pseudo_inverse", Projection::pseudo_inverse},
            {"gradient", Projection::gradient},
            {"constrained", Projection::constrained}},
           "from asked displacement to example weights: eq. 8, 9, 10, or least squares on the simplex");
  d.field(
      "paper", &Settings::paper, "",
      "the literal formulas: time step in eq. 4 and 13, every contact point for itself, clamp and rescale");
  d.field("strength", &Settings::strength, "Pa",
          "stress at which the joints of a body in pieces break; none: the material's yield stress",
          positive());
}

}  // namespace exemplar::lbs
