// The last, exact minimisation of an implicit step over common translations of everything that hangs together
// freely. Along such a translation every term but inertia and loads is constant, so that H is an exact
// quadratic with the curvature Σm/h²: its minimum is found in closed form, and momentum has then changed by the
// impulse of the loads alone. Newton's method has been there already after a whole step with an exact linear
// solve; conjugate gradients leave a part (an impact at 200 m/s on a box: 3e-9 of the momentum).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/contact/contact.h"
#include "core/implicit/linked_groups.h"
#include "core/implicit/step_unknowns.h"

namespace exemplar {

// What moves freely in a step; everything must outlive the call.
struct FreeMotion {
  const VecX& masses;              // kg per node
  std::span<const char> abstract;  // nodes that are no places in space; empty: none
  const Points& predicted;         // x₀ + h v₀
  const Points& forces;            // N; empty: none
  double dt = 0;
  const std::vector<ObstacleBody>& obstacles;
  std::vector<std::pair<int, RigidInertia>> inertias;  // of the dynamic ones
};

// Nodes first, then obstacles, then one more that stands for all that is held or prescribed. `terms`: nodes
// that terms link; `contact`: null when there is none.
LinkedGroups link_all(const LinkedGroups& terms, const StepUnknowns& unknowns, std::size_t obstacles,
                      const ContactPotential* contact, const StepPoint& at);

// Moves every free group as a whole. `longest` (m): longer displacements are not taken, because groups are a reach of
// contact apart and only shorter ones bring nothing together.
void balance_momentum(const FreeMotion& motion, const StepUnknowns& unknowns, LinkedGroups groups,
                      double longest, StepPoint& at);

}  // namespace exemplar
