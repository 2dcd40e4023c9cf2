// Settings of methods `fem` and `fem-compatible`.
#pragma once

#include <optional>

#include "core/elastic/energies.h"
#include "core/run/implicit_settings.h"

namespace exemplar {

struct FemExampleSettings {
  double stiffness = 1;
  bool affine = false;
};

struct FemPlasticSettings {
  bool use_examples = true;
  double rate = 100;
  double distance_penalty = 0;
  std::optional<double> yield_stress;
};

struct FemSettings : ImplicitSettings {
  ElasticModel model = ElasticModel::modified_stvk;
  double internal_stiffness = 1;
  FemExampleSettings examples;
  FemPlasticSettings plasticity;
};

struct FemCompatibleSettings : FemSettings {
  double penalty = 1000;
};

inline void describe(Describe<FemExampleSettings>& d) {
  d.field("stiffness", &FemExampleSettings::stiffness, "",
          "stiffness of the example potential, relative to the material; 0: off", non_negative());
  d.field("affine", &FemExampleSettings::affine, "",
          "let weights leave the simplex (extrapolates the examples; can give wrong-handed poses)");
}

inline void describe(Describe<FemPlasticSettings>& d) {
  d.field("use_examples", &FemPlasticSettings::use_examples, "",
          "confine plastic flow to the plastic examples where the body has some");
  d.field("rate", &FemPlasticSettings::rate, "1/s", "rate of plastic flow", positive());
  d.field("distance_penalty", &FemPlasticSettings::distance_penalty, "Pa",
          "raises the yield stress with the distance to the examples (η; 0: off)", non_negative());
  d.field("yield_stress", &FemPlasticSettings::yield_stress, "Pa", "instead of the material's", positive());
}

// The fields that both methods have.
template <class Settings>
void describe_fem(Describe<Settings>& d) {
  d.choice("model", static_cast<ElasticModel Settings::*>(&FemSettings::model),
           {{"modified-stvk", ElasticModel::modified_stvk},
            {"stvk", ElasticModel::stvk},
            {"corotated", ElasticModel::corotated},
            {"neo-hookean", ElasticModel::neo_hookean}},
           "elastic energy of the tetrahedra");
  describe_mode(d);
  d.field("internal_stiffness", &FemSettings::internal_stiffness, "",
          "stiffness of the conventional potential, relative to the material; 0: off, only the examples hold "
          "the body together",
          non_negative());
  d.field("examples", &FemSettings::examples, "", "the example potential");
  d.field("plasticity", &FemSettings::plasticity, "", "plastic flow of bodies with a yield stress");
  describe_implicit(d);
}

inline void describe(Describe<FemSettings>& d) {
  d.name("fem");
  describe_fem(d);
}

inline void describe(Describe<FemCompatibleSettings>& d) {
  d.name("fem-compatible");
  describe_fem(d);
  d.field("penalty", &FemCompatibleSettings::penalty, "",
          "how strictly the interpolated pose follows the weights (γ, relative to shear modulus over edge "
          "length)",
          positive());
}

}  // namespace exemplar
