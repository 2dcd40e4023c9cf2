// Explicit control of example weights (schumacher2012 §6): a quantity is read from the body's motion, and a
// curve maps it to the weight of an example. The arm's biceps flexes with the elbow's angle (Fig. 8), the
// plane leans into its turns (Fig. 10).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/world/curve.h"

namespace exemplar {

enum class ControllerKind {
  time,          // input: time, s
  joint_angle,   // input: angle at the middle of three material points, rad, 0 … π
  com_velocity,  // input: component of the centre of mass's velocity along `direction`, m/s
  turn_angle,    // input: signed angle from the centre of mass's velocity to its acceleration about
                 // `direction`, rad
};

struct Controller {
  std::string body;     // name of the body; empty: every body
  std::string example;  // name of the example whose weight is set
  ControllerKind kind = ControllerKind::time;
  std::array<Vec3, 3> points{Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};  // joint_angle: start positions, m
  Vec3 direction = Vec3::UnitY();
  double minimum_speed = 1e-6;  // m/s, and m/s² for the acceleration: below it turn_angle reads 0
  Curve curve{{0, 1}, {0, 1}};  // input → weight
};

// What controllers look at; a method fills it once per step.
struct BodySignals {
  double time = 0;                       // s
  Vec3 com_velocity = Vec3::Zero();      // m/s
  Vec3 com_acceleration = Vec3::Zero();  // m/s²
  const Points* positions = nullptr;     // the points among which `points` were found; only for joint_angle
};

// A controller with its three points found among a body's points.
class PreparedController {
 public:
  // Throws InputError for a bad curve, a zero direction or three points that are not different nodes.
  PreparedController(Controller controller, const Points& start_positions);

  const Controller& controller() const { return m_controller; }
  double input(const BodySignals& signals) const;
  double weight(const BodySignals& signals) const {
    return evaluate(m_controller.curve, input(signals)).value;
  }

 private:
  Controller m_controller;
  std::array<int, 3> m_nodes{0, 0, 0};
};

}  // namespace exemplar
