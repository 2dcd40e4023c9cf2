// Small experiments with spring networks whose outcome is known or compared: for validation cases and tests.
#pragma once

#include "meshless/mass_spring/spring_body.h"

namespace exemplar::mass_spring {

// A bar of 2 × 0.5 × 0.5 m cut into n cells along its short sides, pulled at both ends by a small force;
// force over strain and cross section: the Young's modulus that the network has [Pa]. Material: 1 MPa.
double bar_modulus(int cells_across, StiffnessRule rule);

}  // namespace exemplar::mass_spring
