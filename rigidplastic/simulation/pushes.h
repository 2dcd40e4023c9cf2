// What loads and pulls do to rigid bodies within a tick. Units: m, kg, s, N, N m.
#pragma once

#include "core/world/pull.h"
#include "rigidplastic/simulation/simulation_state.h"

namespace exemplar::rigid {

// Of loads and pulls on one body, about its centre.
struct Push {
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();

  // `arm`: from the centre to where the force acts.
  void add(const Vec3& at_arm, const Vec3& arm) {
    force += at_arm;
    torque += arm.cross(at_arm);
  }
};

// The part of a load or pull that acts at one vertex of a scene body's surface.
struct PointForce {
  int vertex = 0;
  Vec3 point = Vec3::Zero();  // m, world
  Vec3 force = Vec3::Zero();  // N
};

// Impulse (N s) of a spring on a body at x over a tick; `others`: what else pushes the body in it.
Vec3 pull_impulse(const PullSpring& spring, const Vec3& x, const RigidBodyState& body, const Push& others,
                  const Vec3& gravity, double dt);

}  // namespace exemplar::rigid
