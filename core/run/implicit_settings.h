// Settings that all methods on the implicit solver have (fem, fem-compatible, shell): a method's own struct
// derives from ImplicitSettings and its `describe` calls describe_implicit.
#pragma once

#include <optional>

#include "core/implicit/implicit_solver.h"
#include "core/scene/settings.h"

namespace exemplar {

// automatic: tr_bdf2 with error-controlled steps, implicit Euler (the papers') with a fixed number of them.
enum class IntegratorChoice { automatic, implicit_euler, bdf2, tr_bdf2 };

enum class ImplicitMode { dynamic, quasi_static };

struct ContactSettings {
  std::optional<double> reach;
  std::optional<double> stiffness;
  double sticking_speed = 1e-3;
  bool between_bodies = true;
  bool self = false;
};

struct ImplicitSettings {
  ImplicitMode mode = ImplicitMode::dynamic;
  IntegratorChoice integrator = IntegratorChoice::automatic;
  ContactSettings contact;
  LinearMethod linear_solver = LinearMethod::automatic;
  double tolerance = 1e-6;
  int max_iterations = 100;
  int max_halvings = 10;
};

inline void describe(Describe<ContactSettings>& d) {
  d.field("reach", &ContactSettings::reach, "m", "gap at which contact begins; default from the bodies' size",
          positive());
  d.field("stiffness", &ContactSettings::stiffness, "Pa",
          "pressure scale of contact; default from the material", positive());
  d.field("sticking_speed", &ContactSettings::sticking_speed, "m/s", "speed below which friction holds",
          positive())
      .live();
  d.field("between_bodies", &ContactSettings::between_bodies, "", "whether bodies meet each other");
  d.field("self", &ContactSettings::self, "", "whether a body meets itself");
}

template <class Settings>
void describe_mode(Describe<Settings>& d) {
  d.choice("mode", static_cast<ImplicitMode Settings::*>(&ImplicitSettings::mode),
           {{"dynamic", ImplicitMode::dynamic}, {"quasi-static", ImplicitMode::quasi_static}},
           "with or without inertia");
}

template <class Settings>
void describe_implicit(Describe<Settings>& d) {
  d.choice("integrator", static_cast<IntegratorChoice Settings::*>(&ImplicitSettings::integrator),
           {{"auto", IntegratorChoice::automatic},
            {"implicit-euler", IntegratorChoice::implicit_euler},
            {"bdf2", IntegratorChoice::bdf2},
            {"tr-bdf2", IntegratorChoice::tr_bdf2}},
           "time integration: first order with damping of its own, or second order with little loss; auto: "
           "tr-bdf2 with steps_per_frame auto, implicit-euler with a number");
  d.field("contact", &ImplicitSettings::contact, "",
          "contact with obstacles, of bodies with each other and with themselves");
  d.choice("linear_solver", static_cast<LinearMethod Settings::*>(&ImplicitSettings::linear_solver),
           {{"auto", LinearMethod::automatic},
            {"direct", LinearMethod::direct},
            {"iterative", LinearMethod::iterative}},
           "sparse Cholesky, conjugate gradients, or a choice between them by operation counts");
  d.field("tolerance", &ImplicitSettings::tolerance, "",
          "largest residual force relative to the forces at work", strictly_between(0, 1))
      .live();
  d.field("max_iterations", &ImplicitSettings::max_iterations, "", "Newton iterations of one solve",
          between(1, 10000))
      .live();
  d.field("max_halvings", &ImplicitSettings::max_halvings, "",
          "how often a step that does not converge is halved", between(0, 30))
      .live();
}

}  // namespace exemplar
