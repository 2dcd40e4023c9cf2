// Settings of the method `mass-spring`; each is described once, in settings.cpp.
#pragma once

#include "core/scene/settings.h"
#include "meshless/mass_spring/network.h"
#include "meshless/mass_spring/spring_body.h"

namespace exemplar::mass_spring {

struct Settings {
  StiffnessRule stiffness = StiffnessRule::volume;
  double spring_constant = 0;  // N/m; uniform rule
  double cross_share = 0.25;
  Integration integration = Integration::forces;
  double damping_ratio = 0.1;
  double air_drag = 0;      // 1/s
  double strain_limit = 0;  // 0: from the fracture energy, if there is one
  int iterations = 20;
  int max_substeps = 400;
  double push_speed = 1;  // m/s
};

void describe(Describe<Settings>& d);

}  // namespace exemplar::mass_spring
