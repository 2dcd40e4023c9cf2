// Settings of methods `fem` and `fem-compatible`.
#pragma once

#include <optional>

#include "core/elastic/energies.h"
#include "core/scene/settings.h"
#include "core/sparse/linear_solver.h"

namespace exemplar {

enum class FemMode { dynamic, quasi_static };

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

struct FemContactSettings {
  std::optional<double> reach;
  std::optional<double> stiffness;
  double sticking_speed = 1e-3;
};

struct FemSettings {
  ElasticModel model = ElasticModel::modified_stvk;
  FemMode mode = FemMode::dynamic;
  double internal_stiffness = 1;
  FemExampleSettings examples;
  FemPlasticSettings plasticity;
  FemContactSettings contact;
  LinearMethod linear_solver = LinearMethod::automatic;
  double tolerance = 1e-6;
  int max_iterations = 100;
  int max_halvings = 10;
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

inline void describe(Describe<FemContactSettings>& d) {
  d.field("reach", &FemContactSettings::reach, "m",
          "gap at which contact begins; default from the bodies' size", positive());
  d.field("stiffness", &FemContactSettings::stiffness, "Pa",
          "pressure scale of contact; default from the material", positive());
  d.field("sticking_speed", &FemContactSettings::sticking_speed, "m/s", "speed below which friction holds",
          positive());
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
  d.choice("mode", static_cast<FemMode Settings::*>(&FemSettings::mode),
           {{"dynamic", FemMode::dynamic}, {"quasi-static", FemMode::quasi_static}},
           "with or without inertia");
  d.field("internal_stiffness", &FemSettings::internal_stiffness, "",
          "stiffness of the conventional potential, relative to the material; 0: off, only the examples hold "
          "the body together",
          non_negative());
  d.field("examples", &FemSettings::examples, "", "the example potential");
  d.field("plasticity", &FemSettings::plasticity, "", "plastic flow of bodies with a yield stress");
  d.field("contact", &FemSettings::contact, "", "contact with obstacles");
  d.choice("linear_solver", static_cast<LinearMethod Settings::*>(&FemSettings::linear_solver),
           {{"auto", LinearMethod::automatic},
            {"direct", LinearMethod::direct},
            {"iterative", LinearMethod::iterative}},
           "sparse Cholesky, conjugate gradients, or a choice between them by operation counts");
  d.field("tolerance", &FemSettings::tolerance, "", "largest residual force relative to the forces at work",
          strictly_between(0, 1));
  d.field("max_iterations", &FemSettings::max_iterations, "", "Newton iterations of one solve",
          between(1, 10000));
  d.field("max_halvings", &FemSettings::max_halvings, "", "how often a step that does not converge is halved",
          between(0, 30));
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
