// The interface every method implements: five verbs and a constant description of what it models.
// A method is built from a prepared Scene and its own typed settings. It never sees JSON, paths or the
// terminal.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/note.h"
#include "core/math/types.h"
#include "core/output/fields.h"
#include "core/output/metric.h"
#include "core/output/state.h"

namespace exemplar {

// What of a scene a method takes into account; the rest is named as "not modelled" wherever the run is shown.
struct Capabilities {
  bool deformation = true;
  bool elastic_examples = false;
  bool plastic_examples = false;
  bool weight_control = false;  // explicit example weights from controllers
  bool plasticity = false;
  bool fracture = false;
  bool body_contact = false;  // between two bodies of the scene
  bool self_contact = false;
  bool friction = false;
  bool restitution = false;  // of obstacles
  bool material_restitution =
      false;                   // of bodies; where they deform, how they bounce is their elasticity's matter
  bool open_surfaces = false;  // simulates sheets as they are (others get them as extruded solids)
  bool supports = false;       // fixed regions and prescribed motion
  bool loads = false;
  bool pulls = false;  // loads[].pull: a point of a surface on a spring (core/world/pull.h)
};

// How far a call of advance() came. A numerical failure is a status, never an exception.
enum class Status { ok, interrupted, failed };

struct StepReport {
  Status status = Status::ok;
  std::string message;  // why it failed and what to try
  int steps = 0;        // time steps taken, sub-steps included
  int iterations = 0;   // solver iterations
};

// Seconds spent in named phases since the method was made (assembly, solve, contact, …); not part of the
// state.
using PhaseTimes = std::vector<std::pair<std::string, double>>;

inline constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();

// Numbers of one moment, summed over bodies, SI units; k_unknown where the method has no such quantity.
struct Diagnostics {
  double mass = k_unknown;
  Vec3 centre_of_mass = Vec3::Constant(k_unknown);
  Vec3 linear_momentum = Vec3::Constant(k_unknown);
  Vec3 angular_momentum = Vec3::Constant(k_unknown);  // about the origin
  double kinetic_energy = k_unknown;
  double elastic_energy = k_unknown;
  double gravitational_energy = k_unknown;  // −m g·x, zero at the origin
  double plastic_dissipation = k_unknown;   // given up since the start
  double contact_dissipation = k_unknown;   // given up to contact and friction since the start
  double damping_dissipation = k_unknown;   // given up to damping forces, not to the integrator
  // Balance: kinetic + elastic + gravitational + contact_energy + all dissipations = constant + external_work.
  // Given up to the time step (negative: gained). Where a method leaves it open the runner closes the balance, if
  // everything else in it is known.
  double numerical_dissipation = k_unknown;
  double fracture_energy = k_unknown;      // of the bonds that have broken since the start
  double external_work = k_unknown;        // done by loads, supports and obstacles since the start
  bool is_static = false;                  // a rest state: no energy turns into another over time
  double plastic_measure = k_unknown;      // largest ‖F_p − I‖ or the method's counterpart
  double example_distance = k_unknown;     // energy distance to the example manifold
  double deepest_penetration = k_unknown;  // of the surface into obstacles, ≥ 0
  // Further columns, e.g. {"weight_plank_folded", "", 0.4}, {"contact_energy", "J", 12}.
  Metrics extra;
};

using InterruptCheck = std::function<bool()>;

class Method {
 public:
  virtual ~Method() = default;

  // Goes on to the simulated time `until` (seconds), with as many sub-steps as it needs; polls `interrupted`
  // between them. After Status::failed or interrupted the state is that of the last good step.
  virtual StepReport advance(double until, const InterruptCheck& interrupted) = 0;

  // Geometry with arrays. The series "surface" holds the input surfaces of all bodies, in scene order, with
  // their own vertices in their own order, an integer cell array `body`, and a point array `displacement`.
  virtual std::vector<Geometry> fields() const = 0;

  virtual Diagnostics diagnostics() const = 0;

  // The complete state, so that load() and going on gives the same bits as never having stopped.
  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;

  // Body frames of the scene's obstacles now (ObstacleState), in scene order: position and orientation.
  virtual std::vector<std::pair<Vec3, Quat>> obstacle_poses() const = 0;

  virtual PhaseTimes phase_times() const { return {}; }

  // Said once at the start of a run.
  virtual Notes notes() const { return {}; }
};

}  // namespace exemplar
