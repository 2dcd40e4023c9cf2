// The physical material of a body, in SI units; every method derives its own parameters from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/elastic/yield_curve.h"
#include "core/scene/settings.h"

namespace exemplar {

struct Material {
  double density = 1000;                  // kg/m³
  double young = 1e6;                     // Pa
  double poisson = 0.3;                   // −
  std::optional<double> yield_stress;     // Pa; none: never yields
  std::optional<double> fracture_energy;  // J/m²; none: never breaks
  double friction = 0.5;                  // Coulomb coefficient against obstacles that say none themselves
  double restitution = 0;                 // 0 … 1, where a method has it
  double damping = 0;                     // s, stiffness-proportional (Rayleigh β)
  double hardening = 0;                   // Pa: slope of the yield stress over the plastic strain
  std::vector<Vec2> yield_curve = {};     // (plastic strain, Pa) instead of `hardening`; empty: none

  double shear_modulus() const { return young / (2 * (1 + poisson)); }
  double lame_lambda() const { return young * poisson / ((1 + poisson) * (1 - 2 * poisson)); }
  double bulk_modulus() const { return young / (3 * (1 - 2 * poisson)); }
};

// The yield stress over the plastic strain; `first`: instead of the material's yield stress, by which a curve moves up
// or down as a whole. None: never yields.
std::optional<YieldCurve> yield_curve(const Material& material, const std::optional<double>& first = {});

struct MaterialPreset {
  std::string name;
  std::string doc;
  Material material;
};
const std::vector<MaterialPreset>& material_presets();

void describe(Describe<Material>& d);

}  // namespace exemplar
