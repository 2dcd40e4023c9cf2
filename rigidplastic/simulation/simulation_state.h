// What of a rigid simulation changes while it runs: with the vertices of shapes that changed, which are the methods' own
// state, all that its future depends on. Units: m, kg, s, rad.
#pragma once

#include <vector>

#include "rigidplastic/simulation/body_frame.h"
#include "rigidplastic/simulation/energy_ledger.h"
#include "rigidplastic/simulation/rest.h"

namespace exemplar::rigid {

struct RigidBodyState {
  RigidState state;
  RigidState start;  // where a support's motion begins
  double mass = 0;   // kg
  BodyFrame frame;   // in the coordinates that its shape is described in; its inertia is the body's
  double restitution_factor = 1;  // see RigidObject
  int component = -1;             // see RigidObject
  RestClock rest;

  static constexpr auto described() {
    return std::tuple(member("state", &RigidBodyState::state), member("start", &RigidBodyState::start),
                      member("mass", &RigidBodyState::mass), member("frame", &RigidBodyState::frame),
                      member("restitution_factor", &RigidBodyState::restitution_factor),
                      member("component", &RigidBodyState::component), member("rest", &RigidBodyState::rest));
  }
};

struct SimulationState {
  double time = 0;
  double initial_energy = 0;  // J
  std::vector<RigidBodyState> bodies;
  std::vector<RigidState> obstacles;
  std::vector<RestClock> obstacle_rest;
  ObjectPairs touched;  // in the last tick
  EnergyLedger energies;

  static constexpr auto described() {
    return std::tuple(
        member("time", &SimulationState::time), member("initial_energy", &SimulationState::initial_energy),
        member("bodies", &SimulationState::bodies), member("obstacles", &SimulationState::obstacles),
        member("obstacle_rest", &SimulationState::obstacle_rest),
        member("touched", &SimulationState::touched), member("energies", &SimulationState::energies));
  }
};

}  // namespace exemplar::rigid
