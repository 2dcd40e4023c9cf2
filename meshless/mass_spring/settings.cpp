#include "meshless/mass_spring/settings.h"

namespace exemplar::mass_spring {

void describe(Describe<Settings>& d) {
  d.name("mass-spring");
  d.choice("stiffness", &Settings::stiffness,
           {{"volume", StiffnessRule::volume}, {"uniform", StiffnessRule::uniform}},
           "spring constants from Young's modulus and the elements around (van Gelder 1998), or one for all "
           "springs");
  d.field("spring_constant", &Settings::spring_constant, "N/m",
          "of every spring under the uniform rule; 0: a tenth of E times the cube root of the volume",
          non_negative());
  d.field("cross_share", &Settings::cross_share, "",
          "share of the stiffness in springs across shared faces (shear) or edges (bend)", between(0, 0.9));
  d.choice("integration", &Settings::integration,
           {{"forces", Integration::forces}, {"constraints", Integration::constraints}},
           "spring forces with Verlet steps (eq. 2.3), or distance constraints by relaxation (eq. 2.8)");
  d.field("damping_ratio", &Settings::damping_ratio, "", "of the fastest oscillation", between(0, 2));
  d.field("air_drag", &Settings::air_drag, "1/s", "rate at which all velocities decay", non_negative());
  d.field("strain_limit", &Settings::strain_limit, "",
          "springs strained beyond are removed; 0: from the material's fracture energy, never without one",
          non_negative());
  d.field("iterations", &Settings::iterations, "", "passes over the distance constraints in a step",
          between(1, 10000));
  d.field("max_substeps", &Settings::max_substeps, "",
          "of one scene step; a stiffer material is softened to what these can carry, with a warning",
          between(1, 1e6));
  d.field("push_speed", &Settings::push_speed, "m/s",
          "speed at which what is inside an obstacle is pushed out", positive());
}

}  // namespace exemplar::mass_spring
