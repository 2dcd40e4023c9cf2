// Method `falling`: bodies that keep their shape, fall with drag and meet nothing. It has everything a method
// needs and nothing else, is built into the tests only, and is where a new method starts from
// (CONTRIBUTING.md).
//
//   v' = g − c v,  x' = v;  one step: v ← (v + Δt g) / (1 + Δt c),  x ← x + Δt v
//   x displacement [m], v velocity [m/s], g gravity [m/s²], c drag [1/s]
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "core/output/described_state.h"
#include "core/run/method.h"
#include "core/scene/scene.h"
#include "tests/compare/toy_method/settings.h"

namespace exemplar::falling {

struct BodyState {
  Vec3 displacement = Vec3::Zero();  // m
  Vec3 velocity = Vec3::Zero();      // m/s
  static constexpr auto described() {
    return std::tuple(member("displacement", &BodyState::displacement),
                      member("velocity", &BodyState::velocity));
  }
};

struct State {
  double time = 0;  // s
  std::vector<BodyState> bodies;
  static constexpr auto described() {
    return std::tuple(member("time", &State::time), member("bodies", &State::bodies));
  }
};

State initial_state(const Scene& scene);
void take_step(const Vec3& gravity, double drag, double dt, State& state);

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings);

}  // namespace exemplar::falling
