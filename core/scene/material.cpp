#include "core/scene/material.h"

#include <fmt/format.h>

namespace exemplar {

const std::vector<MaterialPreset>& material_presets() {
  // density, young, poisson, yield stress, fracture energy, friction, restitution, damping
  static const std::vector<MaterialPreset> presets{
      {"steel", "mild structural steel", {7850, 2.0e11, 0.29, 2.5e8, 1.2e4, 0.4, 0.3, 0}},
      {"aluminium", "soft wrought aluminium", {2700, 6.9e10, 0.33, 9.5e7, 8e3, 0.4, 0.2, 0}},
      {"copper", "annealed copper", {8960, 1.17e11, 0.34, 7e7, 1e4, 0.4, 0.2, 0}},
      {"lead", "lead", {11340, 1.6e10, 0.44, 1.2e7, std::nullopt, 0.5, 0.05, 0}},
      {"glass", "soda-lime glass", {2440, 7.2e10, 0.22, std::nullopt, 3.8, 0.4, 0.4, 0}},
      {"ceramic", "fired clay", {2200, 4.9e9, 0.25, std::nullopt, 20, 0.5, 0.3, 0}},
      {"concrete", "plain concrete", {2400, 3.0e10, 0.2, std::nullopt, 100, 0.6, 0.1, 0}},
      {"oak", "oak, along the grain", {700, 1.1e10, 0.35, 4e7, 500, 0.5, 0.3, 0}},
      {"rubber", "soft rubber", {1100, 2e6, 0.45, std::nullopt, std::nullopt, 0.9, 0.7, 0}},
      {"silicone", "very soft silicone", {1080, 2e5, 0.45, std::nullopt, std::nullopt, 0.8, 0.4, 0}},
      {"clay", "modelling clay", {1700, 3e5, 0.4, 1.5e4, std::nullopt, 0.8, 0, 0}},
      {"flesh", "muscle-like soft tissue", {1060, 6e4, 0.45, std::nullopt, std::nullopt, 0.6, 0, 0.002}},
      {"soft-metal", "a metal made soft enough to watch it bend", {2700, 5e8, 0.3, 4e6, 5e3, 0.4, 0.1, 0}},
  };
  return presets;
}

std::optional<YieldCurve> yield_curve(const Material& material, const std::optional<double>& first) {
  if (!first && !material.yield_stress) return std::nullopt;
  const double start = first ? *first : *material.yield_stress;
  if (material.yield_curve.empty()) return YieldCurve(start, material.hardening);
  std::vector<Vec2> points{Vec2(0, start)};
  for (const Vec2& point : material.yield_curve) {
    if (point[0] > 0) points.emplace_back(point[0], point[1] + start - *material.yield_stress);
  }
  return YieldCurve(std::move(points));
}

namespace {

// Strains that rise from 0, stresses that do not fall (softening would depend on the mesh).
void check_yield_curve(const Material& material, const ProblemSink& problem) {
  const std::vector<Vec2>& curve = material.yield_curve;
  if (material.hardening > 0 && !material.yield_stress) problem("hardening", "needs a yield_stress");
  if (curve.empty()) return;
  if (material.hardening > 0) problem("yield_curve", "says what hardening says: leave one of the two out");
  if (!material.yield_stress) {
    problem("yield_curve", "needs a yield_stress, at which it starts");
    return;
  }
  Vec2 last(0, *material.yield_stress);
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const bool is_start = k == 0 && curve[k][0] == 0;
    if (is_start && curve[k][1] != last[1])
      problem("yield_curve",
              fmt::format("starts at {:g} Pa, but yield_stress is {:g} Pa", curve[k][1], last[1]));
    if (!is_start && !(curve[k][0] > last[0]))
      problem("yield_curve", fmt::format("point {}: plastic strains must rise from point to point", k));
    if (curve[k][1] < last[1])
      problem("yield_curve", fmt::format("point {}: stresses must not fall from point to point", k));
    last = curve[k];
  }
}

}  // namespace

void describe(Describe<Material>& d) {
  d.field("density", &Material::density, "kg/m³", "mass density", positive());
  d.field("young", &Material::young, "Pa", "Young's modulus", positive());
  d.field("poisson", &Material::poisson, "", "Poisson's ratio", Range{-1, 0.5, true, true});
  d.field("yield_stress", &Material::yield_stress, "Pa", "stress at which it yields; none: never",
          positive());
  d.field("hardening", &Material::hardening, "Pa", "rise of the yield stress per plastic strain",
          non_negative());
  d.field(
      "yield_curve", &Material::yield_curve, "",
      "instead of hardening: [[plastic strain, yield stress in Pa], …], straight between the points, from "
      "yield_stress at no plastic strain; constant after the last point",
      non_negative());
  d.check(check_yield_curve);
  d.field("fracture_energy", &Material::fracture_energy, "J/m²", "energy of a new crack; none: never breaks",
          positive());
  d.field("friction", &Material::friction, "", "Coulomb friction coefficient", between(0, 10)).live();
  d.field("restitution", &Material::restitution, "", "part of the normal velocity kept in an impact",
          between(0, 1))
      .live();
  d.field("damping", &Material::damping, "s", "stiffness-proportional damping", non_negative()).live();
  std::vector<std::string> names;
  for (const MaterialPreset& preset : material_presets()) names.push_back(preset.name);
  d.presets("preset", names, [](Material& material, const std::string& name) {
    for (const MaterialPreset& preset : material_presets()) {
      if (preset.name == name) material = preset.material;
    }
  });
}

}  // namespace exemplar
