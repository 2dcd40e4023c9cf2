// Settings of methods `fem` and `fem-compatible`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/elastic/energies.h"
#include "core/run/implicit_settings.h"

namespace exemplar::fem {

struct ExampleSetSettings {
  std::string body;
  std::vector<std::string> examples;
  std::optional<double> stiffness;
};

struct ExamplePotentialSettings {
  double stiffness = 1;
  bool affine = false;
  std::vector<ExampleSetSettings> sets;
};

struct PlasticitySettings {
  bool use_examples = true;
  std::optional<double> rate;
  double distance_penalty = 0;
  bool carry_examples = false;
  std::optional<double> yield_stress;
};

enum class ElementOrder { linear, quadratic };

struct Settings : ImplicitSettings {
  ElementOrder element = ElementOrder::linear;
  ElasticModel model = ElasticModel::modified_stvk;
  double internal_stiffness = 1;
  ExamplePotentialSettings examples;
  PlasticitySettings plasticity;
  bool all_fields = false;
};

struct CompatibleSettings : Settings {
  double penalty = 1000;
};

inline void describe(Describe<ExampleSetSettings>& d) {
  d.field("body", &ExampleSetSettings::body, "", "name of the body; empty: every body");
  d.field("examples", &ExampleSetSettings::examples, "",
          "names of elastic examples that share weights of their own, apart from all others; none: those of "
          "the body "
          "that no other set names");
  d.field("stiffness", &ExampleSetSettings::stiffness, "", "of their potential, relative to the material",
          non_negative());
}

inline void describe(Describe<ExamplePotentialSettings>& d) {
  d.field("stiffness", &ExamplePotentialSettings::stiffness, "",
          "stiffness of the example potential, relative to the material; 0: off", non_negative())
      .live();
  d.field("affine", &ExamplePotentialSettings::affine, "",
          "let weights leave the simplex (extrapolates the examples; can give wrong-handed poses)");
  d.field("sets", &ExamplePotentialSettings::sets, "",
          "sets of examples with weights or a stiffness of their own; without them examples of the same "
          "region share "
          "their weights");
}

inline void describe(Describe<PlasticitySettings>& d) {
  d.field("use_examples", &PlasticitySettings::use_examples, "",
          "confine plastic flow to the plastic examples where the body has some");
  d.field(
       "rate", &PlasticitySettings::rate, "1/s",
       "the paper's rate of plastic flow, by which the stress stays above the yield stress while it flows; "
       "none: it flows without delay",
       positive())
      .live();
  d.field("distance_penalty", &PlasticitySettings::distance_penalty, "Pa",
          "raises the yield stress with the distance to the examples (η; 0: off)", non_negative());
  d.field("carry_examples", &PlasticitySettings::carry_examples, "",
          "let plastic flow change the elastic examples as it changes the rest shape, instead of leaving "
          "them where "
          "they are");
  d.field("yield_stress", &PlasticitySettings::yield_stress, "Pa", "instead of the material's", positive())
      .live();
}

// The fields that both methods have.
template <class Settings>
void describe_fem(Describe<Settings>& d) {
  d.choice("model", static_cast<ElasticModel Settings::*>(&Settings::model),
           {{"modified-stvk", ElasticModel::modified_stvk},
            {"stvk", ElasticModel::stvk},
            {"corotated", ElasticModel::corotated},
            {"neo-hookean", ElasticModel::neo_hookean},
            {"neo-hookean-barrier", ElasticModel::barrier_neo_hookean}},
           "elastic energy of the tetrahedra; with neo-hookean-barrier they cannot turn inside out");
  describe_mode(d);
  d.field("internal_stiffness", &Settings::internal_stiffness, "",
          "stiffness of the conventional potential, relative to the material; 0: off, only the examples hold "
          "the body together",
          non_negative());
  d.field("examples", &Settings::examples, "", "the example potential");
  d.field("plasticity", &Settings::plasticity, "", "plastic flow of bodies with a yield stress");
  d.field("all_fields", &Settings::all_fields, "",
          "write the stress tensor, principal stretches, the examples' energy per element and weights, and "
          "forces of "
          "supports and contact at the nodes, besides von Mises stress, volume ratio and plastic strain");
  describe_implicit(d);
}

inline void describe(Describe<Settings>& d) {
  d.name("fem");
  d.choice("element", &Settings::element,
           {{"linear", ElementOrder::linear}, {"quadratic", ElementOrder::quadratic}},
           "tetrahedra with four nodes, or with ten, which bend without locking on coarse meshes and cost "
           "more each");
  describe_fem(d);
}

inline void describe(Describe<CompatibleSettings>& d) {
  d.name("fem-compatible");
  describe_fem(d);
  d.field("penalty", &CompatibleSettings::penalty, "",
          "how strictly the interpolated pose follows the weights (γ, relative to shear modulus over edge "
          "length)",
          positive());
}

}  // namespace exemplar::fem
