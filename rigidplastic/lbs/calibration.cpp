#include "rigidplastic/lbs/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "rigidplastic/lbs/patches.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::lbs {

namespace {

constexpr double k_radius = 0.35;      // of the diagonal
constexpr double k_half_ball = 0.42;   // ½·(4π/3)·⅕: the falloff φ over half a ball, in units of γ³
constexpr double k_rest_impulses = 3;  // a body's weight over the reference time, times this, never yields
constexpr double k_least_strain = 0.02;  // examples that only turn parts of the body have next to none
constexpr double k_coarse_step = 0.008;  // s, of the dry run

Points example_points(const Skin& skin, int example) {
  ExampleWeights weights = ExampleWeights::Zero(skin.points(), skin.examples());
  weights.col(example).setOnes();
  return skin.positions(weights);
}

double volume_behind(const BodyFacts& facts, double gamma) {
  return std::min(facts.volume, k_half_ball * gamma * gamma * gamma);
}

// Bodies of one kind are copies of each other.
using Kind = std::tuple<double, double, double, double>;
Kind kind_of(const BodyFacts& f) {
  auto rounded = [](double v) { return std::round(v * 1e6) / 1e6; };
  return {rounded(f.mass), rounded(f.diagonal), f.material.young, f.material.yield_stress.value_or(0)};
}

double scaled_alpha(Projection projection, const Skin& skin, double alpha) {
  switch (projection) {
    case Projection::normalised:
      return alpha;
    case Projection::gradient:
      return alpha / example_displacement(skin);
    case Projection::pseudo_inverse:
    case Projection::constrained:
      return alpha * example_displacement(skin);
  }
  return alpha;
}

}  // namespace

BodyFacts facts_of(const Body& body, double gravity, const Skin& skin, const Edges& edges) {
  BodyFacts facts;
  const Points own = skin.rest() * body.placement().linear();  // turned back: the same for every copy
  facts.diagonal = (own.colwise().maxCoeff() - own.colwise().minCoeff()).norm();
  facts.mass = body.mass_properties().mass;
  facts.volume = body.rest_volume();
  facts.strain = std::max(k_least_strain, example_strain(skin, edges));
  facts.gravity = gravity;
  facts.material = body.material();
  return facts;
}

double chosen_gamma(const BodyFacts& facts) {
  return k_radius * facts.diagonal;
}

double chosen_beta(const BodyFacts& facts, double gamma, double reference_time) {
  if (!facts.material.yield_stress) return std::numeric_limits<double>::infinity();
  const double elastic = *facts.material.yield_stress *
                         std::sqrt(facts.mass * volume_behind(facts, gamma) / facts.material.young);
  return std::max(elastic, k_rest_impulses * facts.mass * facts.gravity * reference_time);
}

double chosen_alpha(const BodyFacts& facts, double gamma, double beta, double largest_impulse,
                    double reference_time) {
  if (!facts.material.yield_stress || !std::isfinite(beta)) return 0;
  const double impulse = largest_impulse > beta ? largest_impulse : 2 * beta;
  const double work = *facts.material.yield_stress * facts.strain * volume_behind(facts, gamma);
  const double weight = std::min(1.0, impulse * impulse / (2 * facts.mass) / work);
  return weight / (reference_time / facts.mass * (impulse - beta));
}

std::vector<double> largest_impulses(const Scene& scene, std::span<const double> reach, double seconds) {
  rigid::Simulation simulation(scene, {k_coarse_step, 10});
  simulation.add_scene_bodies(rigid::CollisionGeometry::hull);
  std::vector<double> largest(scene.bodies.size(), 0);
  auto reach_of = [&](int a, int b) {
    double least = std::numeric_limits<double>::infinity();
    for (const int object : {a, b}) {
      if (object < static_cast<int>(reach.size()))
        least = std::min(least, reach[static_cast<std::size_t>(object)]);
    }
    return least;
  };
  rigid::TickHooks hooks;
  hooks.after = [&](double) {
    for (const Patch& patch : contact_patches(simulation.contacts(), reach_of)) {
      for (const int object : {patch.a, patch.b}) {
        if (object >= static_cast<int>(largest.size())) continue;
        double& most = largest[static_cast<std::size_t>(object)];
        most = std::max(most, patch.impulse.norm());
      }
    }
  };
  const double end = std::min(seconds, scene.time.duration);
  for (int frame = 1; scene.frame_time(frame) <= end + 1e-9; ++frame) {
    if (simulation
            .advance(
                scene.frame_time(frame), [] { return false; }, hooks)
            .status != Status::ok)
      break;
  }
  return largest;
}

std::vector<Calibration> calibrated(const Scene& scene, const std::vector<CalibrationInput>& inputs,
                                    const Settings& settings, double patch_reach) {
  std::vector<Calibration> chosen(inputs.size());
  std::vector<double> reach(inputs.size(), 0), impulses(inputs.size(), 0);
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    if (!inputs[b].skin) continue;
    chosen[b].gamma = settings.gamma.value_or(chosen_gamma(inputs[b].facts));
    reach[b] = patch_reach * chosen[b].gamma;
  }
  if (!settings.alpha) impulses = largest_impulses(scene, reach, scene.time.duration);
  std::map<Kind, double> largest;
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    double& most = largest[kind_of(inputs[b].facts)];
    most = std::max(most, impulses[b]);
  }
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    if (!inputs[b].skin) continue;
    const BodyFacts& facts = inputs[b].facts;
    Calibration& c = chosen[b];
    c.largest_impulse = largest[kind_of(facts)];
    c.beta = settings.beta.value_or(chosen_beta(facts, c.gamma, settings.reference_time));
    c.alpha = settings.alpha.value_or(
        scaled_alpha(settings.projection, *inputs[b].skin,
                     chosen_alpha(facts, c.gamma, c.beta, c.largest_impulse, settings.reference_time)));
  }
  return chosen;
}

double example_strain(const Skin& skin, const Edges& edges) {
  double largest = 0;
  for (int e = 1; e < skin.examples(); ++e) {
    const Points posed = example_points(skin, e);
    double sum = 0;
    for (Eigen::Index k = 0; k < edges.rows(); ++k) {
      const double rest = (skin.rest().row(edges(k, 0)) - skin.rest().row(edges(k, 1))).norm();
      const double now = (posed.row(edges(k, 0)) - posed.row(edges(k, 1))).norm();
      if (rest > 0) sum += (now / rest - 1) * (now / rest - 1);
    }
    largest =
        std::max(largest, std::sqrt(sum / static_cast<double>(std::max<Eigen::Index>(1, edges.rows()))));
  }
  return largest;
}

double example_displacement(const Skin& skin) {
  double largest = 0;
  for (int e = 1; e < skin.examples(); ++e) {
    const double squares = (example_points(skin, e) - skin.rest()).rowwise().squaredNorm().mean();
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

}  // namespace exemplar::lbs
