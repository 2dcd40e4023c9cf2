#include "core/run/implicit_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/output/described_state.h"
#include "core/run/body_separation.h"
#include "core/run/body_watch.h"
#include "core/run/start_separation.h"
#include "core/run/step_advice.h"
#include "core/run/step_error.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"

namespace exemplar {

namespace {

constexpr double k_odd_size = 20;  // an example this much larger or smaller than its body is likely a slip
constexpr double k_signal_time = 0.1;  // s, over which the acceleration that controllers see is smoothed

// Brings given weights (NaN: not given) back to the simplex; returns the sum they had.
double clamp_given(VecX& weights) {
  double sum = 0;
  for (double& w : weights) {
    w = w < 0 ? 0 : w;
    sum += std::isnan(w) ? 0 : w;
  }
  if (sum > 1) weights /= sum;
  return sum;
}

// Controllers that would read nothing.
void check_controllers(const Scene& scene, const ImplicitSettings& settings) {
  if (settings.mode == ImplicitMode::dynamic) return;
  std::vector<Problem> problems;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const std::vector<Controller>& controllers = scene.bodies[b].controllers();
    for (std::size_t k = 0; k < controllers.size(); ++k) {
      const ControllerKind kind = controllers[k].kind;
      if (kind != ControllerKind::com_velocity && kind != ControllerKind::turn_angle) continue;
      problems.push_back(
          {{},
           fmt::format("{}.controllers[{}]", scene.bodies[b].path(), k),
           "quasi-static motion has no velocity for it to read; use a curve over time or a joint's "
           "angle, or mode dynamic"});
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

// Controllers of examples that take no part, and poses that are likely in other units.
void warn_of_odd_examples(const Body& body, const ImplicitBody& part, Notes& notes) {
  const auto takes_part = [&](const std::string& name) {
    return std::any_of(part.examples.begin(), part.examples.end(), [&](const ImplicitExamples& set) {
      return std::any_of(set.members.begin(), set.members.end(),
                         [&](std::size_t k) { return body.examples()[k].name == name; });
    });
  };
  for (const Controller& controller : body.controllers()) {
    if (takes_part(controller.example)) continue;
    notes.push_back(
        {Severity::warning, fmt::format("body {}: the controller of its example {} has no effect, as that "
                                        "example has no elastic stiffness",
                                        body.name(), controller.example)});
  }
  const auto size_of = [](const Points& x) {
    return (x.colwise().maxCoeff() - x.colwise().minCoeff()).norm();
  };
  const double size = size_of(body.surface().vertices);
  for (const Example& example : body.examples()) {
    const double ratio = size_of(example.surface) / size;
    if (ratio < k_odd_size && ratio > 1 / k_odd_size) continue;
    notes.push_back(
        {Severity::warning, fmt::format("body {}: its example {} is {:.3g} times as large as the body: "
                                        "other units?",
                                        body.name(), example.name, ratio)});
  }
}

// Settings that do nothing without inertia.
void warn_of_idle_settings(const Scene& scene, const ImplicitSettings& settings, Notes& notes) {
  if (settings.mode == ImplicitMode::dynamic) return;
  if (settings.integrator != IntegratorChoice::automatic &&
      settings.integrator != IntegratorChoice::implicit_euler)
    notes.push_back({Severity::warning, "integrator has no effect in mode quasi-static"});
  for (const Body& body : scene.bodies) {
    const Vec3 centre = body.mass_properties().centre;
    const Vec3 beside = centre + Vec3(1, 2, 3);
    if (body.initial_velocity(centre).isZero(0) && body.initial_velocity(beside).isZero(0)) continue;
    notes.push_back({Severity::warning,
                     fmt::format("body {}: its velocity has no effect in mode quasi-static", body.name())});
  }
}

// Error-controlled steps: the first one and the shortest are a frame over two to this power.
constexpr int k_first_level = 4, k_most_levels = 14;
// In position they may be off by the scene's accuracy times this part of the body's size.
constexpr double k_position_share = 3e-3;
constexpr double k_unseen_strain = 1e-4;
// Attempts at a step, each half as long as the one before, after which implicit Euler takes it.
constexpr int k_most_unsolved = 4;
// A step is doubled when its error would then still be below this part of what is allowed.
constexpr double k_safety = 0.8;

constexpr double k_imbalance = 1e-2;  // residual of an accepted step that is worth a warning

// Of a body as a whole: what controllers read.
struct BodyMotion {
  Vec3 velocity = Vec3::Zero(), acceleration = Vec3::Zero();  // of the centre of mass, m/s, m/s²

  static constexpr auto described() {
    return std::tuple(member("velocity", &BodyMotion::velocity),
                      member("acceleration", &BodyMotion::acceleration));
  }
};

// What changes besides the solver's and the model's state.
struct DriverState {
  double time = 0;                  // s
  double work = 0;                  // J, of loads and supports so far
  std::vector<BodyMotion> motions;  // of each body
  // Error-controlled steps: how often the next one is halved, the most energy that was in play so far, and
  // numerical_dissipation after the last step, J.
  int level = 0;
  double most_energy = 0, lost = 0;
  // The last step, as its loads saw it: s, and whether it had the stages of tr_bdf2.
  double loads_from = 0, loads_until = 0;
  bool loads_in_stages = false;

  static constexpr auto described() {
    return std::tuple(member("time", &DriverState::time), member("work", &DriverState::work),
                      member("motions", &DriverState::motions), member("level", &DriverState::level),
                      member("most_energy", &DriverState::most_energy), member("lost", &DriverState::lost),
                      member("loads_from", &DriverState::loads_from),
                      member("loads_until", &DriverState::loads_until),
                      member("loads_in_stages", &DriverState::loads_in_stages));
  }
};

// Whether a state may take the place of the present one.
bool is_same_shape(const ImplicitState& state, const ImplicitState& present) {
  const Eigen::Index nodes = present.positions.rows();
  const bool has_last = state.last_dt != 0;
  const auto fits = [&](const Points& points) { return points.rows() == nodes; };
  return fits(state.positions) && fits(state.velocities) && fits(state.accelerations) &&
         (!has_last || (fits(state.last_positions) && fits(state.last_velocities))) &&
         std::equal(state.weights.begin(), state.weights.end(), present.weights.begin(),
                    present.weights.end(),
                    [](const VecX& a, const VecX& b) { return a.size() == b.size(); }) &&
         state.obstacles.size() == present.obstacles.size();
}

class ImplicitMethod : public Method {
 public:
  ImplicitMethod(const Scene& scene, const ImplicitSettings& settings, std::unique_ptr<ImplicitModel> model,
                 Notes notes);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override {
    if (!has_contact()) return {{"solve", m_seconds}};
    const double contact = m_solver.contact_seconds();
    return {{"solve", m_seconds - contact}, {"contact", contact}};
  }
  Notes notes() const override { return m_notes; }

 private:
  // What acts on one body besides elasticity.
  struct Actions {
    SupportSet supports;
    LoadSet loads;  // without the pressures
    PressureSet pressures;
    PullSet pulls;
    std::vector<PreparedController> controllers;
  };

  ContactBody contact_of(std::size_t b) const;
  ContactOptions contact_of_obstacles() const;
  void choose_contact();
  PlacedBody placed(std::size_t b) const;
  void separate();
  void add_contact();
  std::map<std::string, Vec3> named_reactions() const;
  Region moved_along(std::size_t b, Region region) const;
  std::vector<Support> supports_of(std::size_t b) const;
  std::vector<Load> loads_on(std::size_t b) const;
  void check_actions() const;
  void prepare_actions();
  struct LoadSpan {
    double from = 0, until = 0;  // s, a step
    bool in_stages = false;      // of tr_bdf2
  };
  StepInput make_input(double dt, const LoadSpan& step);
  Points load_forces(double from, double until) const;
  Points loads_just_before(double time, const LoadSpan& step) const;
  Points load_correction(const LoadSpan& step) const;
  void add_loads(const LoadSpan& step, StepInput& input);
  void add_error_of_loads(Points& off) const;
  void set_given_weights(std::size_t b, StepInput& input);
  void update_signals(double dt);
  std::string smaller_steps() const;
  std::string failure(const StepOutcome& outcome) const;
  // What a step that is taken back goes back to.
  struct StepStart {
    ImplicitState solver;
    StateArrays all;
  };
  bool may_go_back() const { return is_controlled() || m_solver.options().integrator == Integrator::tr_bdf2; }
  StepStart step_start() const;
  void go_back(const StepStart& start);
  HalvingClock clock_until(double until) const;
  StepOutcome take_stages(Integrator integrator, double dt, bool may_refuse);
  double error_of_step(const ImplicitState& start, double dt);
  double energy_in_play() const;
  double energy_of_no_interest() const;
  void note_imbalance();
  void find_lost_body(StepReport& report);
  void add_work(const StepInput& input, const Points& before);
  bool knows_work() const;
  double obstacle_energy() const;
  double kinetic_energy_of_obstacles() const;
  void balance(Diagnostics& d) const;
  void add_solver_columns(Metrics& columns) const;
  Points rows_of(std::size_t b, const Points& nodes) const {
    return nodes.middleRows(m_model->bodies()[b].first_node, m_model->bodies()[b].node_count);
  }
  VecX masses_of(std::size_t b) const {
    return m_solver.masses().segment(m_model->bodies()[b].first_node, m_model->bodies()[b].node_count);
  }
  std::vector<Points> on_surfaces(const Points& nodes) const;
  Vec3 body_velocity(std::size_t b) const;
  bool meets_bodies() const {
    return m_between || std::find(m_self.begin(), m_self.end(), 1) != m_self.end();
  }
  bool is_controlled() const {
    return !m_scene.time.steps_per_frame && m_settings.mode == ImplicitMode::dynamic;
  }
  bool has_contact() const { return !m_scene.obstacles.empty() || meets_bodies(); }

  const Scene& m_scene;
  ImplicitSettings m_settings;
  std::unique_ptr<ImplicitModel> m_model;
  ImplicitSolver& m_solver;
  std::vector<Actions> m_actions;
  std::vector<ObstacleBody> m_obstacles;  // with room between them, once there is contact
  BodyWatch m_watch;
  Notes m_notes;
  bool m_said_clamped = false;
  DriverState m_state;
  Points m_load_means;  // N, over the last solve: what its work is counted with
  double m_seconds = 0;
  // J: energy at the start, of bodies and of dynamic obstacles.
  double m_start_energy = 0, m_start_obstacles = 0;
  double m_residual = 0;  // relative, largest of the last frame's steps
  bool m_told_imbalance = false;
  bool m_between = false;      // bodies meet each other
  std::vector<Vec3> m_shifts;  // of the bodies from where the scene puts them; empty: none, m
  std::vector<char> m_self;    // per body: it meets itself
};

ImplicitMethod::ImplicitMethod(const Scene& scene, const ImplicitSettings& settings,
                               std::unique_ptr<ImplicitModel> model, Notes notes)
    : m_scene(scene),
      m_settings(settings),
      m_model(std::move(model)),
      m_solver(m_model->solver()),
      m_watch(scene),
      m_notes(std::move(notes)) {
  check_controllers(scene, settings);
  warn_of_idle_settings(scene, settings, m_notes);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    warn_of_odd_examples(scene.bodies[b], m_model->bodies()[b], m_notes);
  choose_contact();
  if (has_contact()) {
    separate();
    add_contact();
  }
  prepare_actions();
  const Diagnostics start = diagnostics();
  m_start_energy = start.kinetic_energy + start.elastic_energy + start.gravitational_energy +
                   m_solver.state().energies.barrier;
  m_start_obstacles = obstacle_energy();
  m_state.most_energy = std::max(energy_in_play(), energy_of_no_interest());
  if (is_controlled()) m_state.level = k_first_level;
  m_notes.push_back(
      {Severity::note, fmt::format("{}, {} unknowns", m_model->size_text(), m_solver.unknowns())});
}

// Reach, stiffness and friction of one body: they follow from its own size and material, so that a small body
// is held at its own small distance whatever stands beside it.
ContactBody ImplicitMethod::contact_of(std::size_t b) const {
  const Material& material = m_scene.bodies[b].material();
  const ContactOptions from_size = default_contact_options(m_model->bodies()[b].size, material.young);
  return {m_settings.contact.reach.value_or(from_size.reach),
          m_settings.contact.stiffness.value_or(from_size.stiffness), material.friction,
          !m_self.empty() && m_self[b] != 0, half_width(m_model->bodies()[b].contact)};
}

// Among obstacles the largest of the bodies' numbers hold.
ContactOptions ImplicitMethod::contact_of_obstacles() const {
  ContactOptions options{0, 0, m_settings.contact.sticking_speed};
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const ContactBody body = contact_of(b);
    options.reach = std::max(options.reach, body.reach);
    options.stiffness = std::max(options.stiffness, body.stiffness);
  }
  return options;
}

PlacedBody ImplicitMethod::placed(std::size_t b) const {
  const ImplicitBody& body = m_model->bodies()[b];
  return {m_scene.bodies[b].name(), m_scene.bodies[b].path(), &body.contact,
          rows_of(b, m_solver.state().positions), contact_of(b).reach};
}

// Which bodies meet each other and themselves.
void ImplicitMethod::choose_contact() {
  m_between = m_settings.contact.between_bodies && m_scene.bodies.size() > 1;
  m_self.assign(m_scene.bodies.size(), 0);
  if (!m_between && m_scene.bodies.size() > 1)
    m_notes.push_back({Severity::note, "contact.between_bodies is off: bodies may pass through each other"});
  if (!m_settings.contact.self)
    m_notes.push_back({Severity::note, "contact.self is off: a body may pass through itself"});
  for (std::size_t b = 0; b < m_scene.bodies.size() && m_settings.contact.self; ++b) {
    const PlacedBody body = placed(b);
    switch (self_crossing(body)) {
      case SelfCrossing::none:
        m_self[b] = 1;
        break;
      case SelfCrossing::by_shape:
        m_notes.push_back(
            {Severity::warning, fmt::format("body {}: its surface crosses itself at rest, so its "
                                            "contact with itself is not modelled",
                                            body.name)});
        break;
      case SelfCrossing::by_pose:
        refuse_self_crossing(body);
    }
  }
}

void ImplicitMethod::separate() {
  m_obstacles = obstacles_with_room(m_scene, contact_of_obstacles().reach);
  const StartRoom room{m_obstacles, m_scene.obstacle_paths, m_between};
  ImplicitState state = m_solver.state();
  std::vector<PlacedBody> bodies;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    PlacedBody body = placed(b);
    const Vec3 shift = make_room(body, room, bodies);
    m_shifts.push_back(shift);
    bodies.push_back(std::move(body));
    if (shift.norm() == 0) continue;
    const ImplicitBody& part = m_model->bodies()[b];
    state.positions.middleRows(part.first_node, part.node_count) = bodies.back().nodes;
    m_notes.push_back(
        {Severity::note,
         fmt::format("body {} touches {} at the start: moved by {:.2g} m", bodies.back().name,
                     m_between && b > 0 ? "an obstacle or a body" : "an obstacle", shift.norm())});
  }
  m_solver.set_state(std::move(state));
}

void ImplicitMethod::add_contact() {
  ContactSurface all;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    ContactSurface surface = m_model->bodies()[b].contact;
    surface.bodies = {contact_of(b)};
    append(all, surface, m_model->bodies()[b].first_node);
  }
  all.between = m_between;
  const std::vector<ObstacleBody> none;
  const VecX no_increments;
  const Points& x = m_solver.state().positions;
  ContactPotential bodies(all, none, contact_of_obstacles());
  bodies.find_pairs(x, no_increments, x, no_increments);
  if (bodies.smallest_gap(x, no_increments) <= 0)
    throw InputError(
        Problem{"", "bodies", "a sheet starts closer to itself or to another body than its thickness"});
  m_solver.add_contact(std::move(all), m_obstacles, contact_of_obstacles(), m_scene.gravity);
  const double loaded = m_solver.state().energies.barrier;
  if (loaded > 0)
    m_notes.push_back({Severity::warning, fmt::format("contact begins with {:.3g} J, as there is no room for "
                                                      "its reach: it pushes things apart at once; "
                                                      "leave more room, or set contact.reach",
                                                      loaded)});
}

// Regions are where the scene puts the body.
Region ImplicitMethod::moved_along(std::size_t b, Region region) const {
  if (m_shifts.empty()) return region;
  region.centre += m_shifts[b];
  for (Vec3& point : region.points) point += m_shifts[b];
  return region;
}

std::vector<Support> ImplicitMethod::supports_of(std::size_t b) const {
  std::vector<Support> supports = m_scene.bodies[b].supports();
  for (Support& support : supports) support.region = moved_along(b, support.region);
  return supports;
}

std::vector<Load> ImplicitMethod::loads_on(std::size_t b) const {
  std::vector<Load> loads = m_scene.loads;
  for (Load& load : loads) load.region = moved_along(b, load.region);
  return loads;
}

// Every support, load and controller alone, so that all that do not fit are named at once with their places.
void ImplicitMethod::check_actions() const {
  std::vector<Problem> problems;
  const auto collect = [&](const std::string& path, const auto& make) {
    try {
      make();
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems())
        problems.push_back({problem.file, path, problem.message});
    }
  };
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Body& body = m_scene.bodies[b];
    const ImplicitBody& solid = m_model->bodies()[b];
    const Points start = rows_of(b, m_solver.state().positions);
    const std::vector<Support> supports = supports_of(b);
    const std::vector<Load> loads = loads_on(b);
    for (std::size_t k = 0; k < supports.size(); ++k)
      collect(fmt::format("{}.supports[{}]", body.path(), k),
              [&] { SupportSet({supports[k]}, body.name(), start, solid.leader); });
    for (std::size_t k = 0; k < loads.size(); ++k)
      collect(loads[k].path, [&] { LoadSet({loads[k]}, body.name(), start, masses_of(b), solid.faces); });
    for (std::size_t k = 0; k < body.controllers().size(); ++k)
      collect(fmt::format("{}.controllers[{}]", body.path(), k),
              [&] { PreparedController(body.controllers()[k], start); });
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

void ImplicitMethod::prepare_actions() {
  check_actions();
  m_actions.resize(m_scene.bodies.size());
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Body& body = m_scene.bodies[b];
    Actions& actions = m_actions[b];
    const Points start = rows_of(b, m_solver.state().positions);
    actions.supports = SupportSet(supports_of(b), body.name(), start, m_model->bodies()[b].leader);
    const Triangles& faces = m_model->bodies()[b].faces;
    actions.loads = LoadSet(without_pressures(loads_on(b)), body.name(), start, masses_of(b), faces);
    actions.pressures = PressureSet(loads_on(b), body.name(), start, faces);
    actions.pulls = PullSet(m_scene.pulls, body.name());
    for (const Controller& controller : body.controllers())
      actions.controllers.emplace_back(controller, start);
    m_state.motions.push_back({body_velocity(b), Vec3::Zero()});
  }
}

Vec3 ImplicitMethod::body_velocity(std::size_t b) const {
  const Points v = rows_of(b, m_solver.state().velocities);
  const VecX masses = masses_of(b);
  return v.transpose() * masses / masses.sum();
}

// The acceleration is smoothed: a change of weight moves the body and with it the centre of mass, and a
// controller that answers within the same vibration would flicker.
void ImplicitMethod::update_signals(double dt) {
  const double part = 1 - std::exp(-dt / k_signal_time);
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    const Vec3 velocity = body_velocity(b);
    BodyMotion& motion = m_state.motions[b];
    const Vec3 acceleration = (velocity - motion.velocity) / dt;
    motion.acceleration += part * (acceleration - motion.acceleration);
    motion.velocity = velocity;
  }
}

void ImplicitMethod::set_given_weights(std::size_t b, StepInput& input) {
  const Actions& actions = m_actions[b];
  if (actions.controllers.empty()) return;
  const Points positions = rows_of(b, m_solver.state().positions);
  const BodyMotion& motion = m_state.motions[b];
  const BodySignals signals{input.time, motion.velocity, motion.acceleration, &positions};
  for (const ImplicitExamples& set : m_model->bodies()[b].examples) {
    VecX weights = VecX::Constant(to_row(set.members.size()), k_unknown);  // free
    bool controlled = false;
    for (std::size_t k = 0; k < set.members.size(); ++k) {
      for (const PreparedController& controller : actions.controllers) {
        if (controller.controller().example != m_scene.bodies[b].examples()[set.members[k]].name) continue;
        weights[to_row(k)] = controller.weight(signals);
        controlled = true;
      }
    }
    if (!controlled) continue;
    const double sum = set.on_simplex ? clamp_given(weights) : 0;
    if (sum > 1 + 1e-9 && !m_said_clamped) {
      m_said_clamped = true;
      m_notes.push_back(
          {Severity::warning,
           fmt::format("body {}: at {:.4g} s its controllers ask for weights that sum to {:.4g}; "
                       "such weights are scaled down to a sum of 1",
                       m_scene.bodies[b].name(), input.time, sum)});
    }
    input.given_weights[set.term] = weights;
  }
}

// Of loads on regions at the present positions, N; empty: there are none. Over no time they are none.
Points ImplicitMethod::load_forces(double from, double until) const {
  Points forces;
  if (!(until > from)) return forces;
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    if (m_actions[b].loads.empty()) continue;
    if (forces.size() == 0) forces = Points::Zero(m_solver.masses().size(), 3);
    const Points positions = rows_of(b, m_solver.state().positions);
    forces.middleRows(m_model->bodies()[b].first_node, positions.rows()) +=
        m_actions[b].loads.forces(positions, from, until);
  }
  return forces;
}

// A solve sees the loads as they are at its end (and at its start: trapezoidal rule), the limits from within the step.
constexpr double k_instant = 1e-6;  // of a step: over which the mean is the value

Points ImplicitMethod::loads_just_before(double time, const LoadSpan& step) const {
  return load_forces(time - k_instant * (step.until - step.from), time);
}

// What is added to all of them, so that the solves' weights add up to the loads' impulse over the step, whatever jumps
// within it. Of a step in one solve the sum is the mean. Empty: there are no loads.
Points ImplicitMethod::load_correction(const LoadSpan& step) const {
  const Points mean = load_forces(step.from, step.until);
  if (mean.size() == 0) return mean;
  const Points end = loads_just_before(step.until, step);
  if (!step.in_stages) return mean - end;
  const double part = 2 - std::sqrt(2.0), share = std::sqrt(2.0) / 4;  // γ; of the first two of three values
  const double length = step.until - step.from;
  const Points start = load_forces(step.from, step.from + k_instant * length),
               middle = loads_just_before(step.from + part * length, step);
  return mean - share * (start + middle) - (1 - 2 * share) * end;
}

// Of the solve that ends at input.time.
void ImplicitMethod::add_loads(const LoadSpan& step, StepInput& input) {
  const Points correction = load_correction(step);
  m_load_means = load_forces(input.time - input.dt, input.time);
  if (correction.size() > 0) {
    input.forces += loads_just_before(input.time, step) + correction;
    input.force_change =
        load_forces(step.from, step.from + k_instant * (step.until - step.from)) + correction;
    const LoadSpan last{m_state.loads_from, m_state.loads_until, m_state.loads_in_stages};
    const Points last_correction = load_correction(last);
    if (last_correction.size() > 0)
      input.force_change -= loads_just_before(last.until, last) + last_correction;
  }
  m_state.loads_from = step.from;
  m_state.loads_until = step.until;
  m_state.loads_in_stages = step.in_stages;
}

// One solve of a step.
StepInput ImplicitMethod::make_input(double dt, const LoadSpan& step) {
  StepInput input;
  input.dt = dt;
  input.time = m_state.time + dt;
  const ImplicitState& state = m_solver.state();
  input.given_weights.resize(state.weights.size());
  // Without inertia a step is the balance at its end, not of the mean over it.
  const bool is_dynamic = m_settings.mode == ImplicitMode::dynamic;
  const LoadSpan span = is_dynamic ? step : LoadSpan{input.time - k_instant * dt, input.time, false};
  input.forces = m_solver.masses() * m_scene.gravity.transpose();
  add_loads(span, input);
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    const int first = m_model->bodies()[b].first_node;
    for (SupportedNode node : m_actions[b].supports.at(input.time)) {
      node.node += first;
      input.held.push_back(node);
    }
    m_actions[b].pressures.append(span.from, span.until, first, input.pressed);
    for (const ActivePull& pull : m_actions[b].pulls.active(span.from, span.until))
      input.pulled.push_back(pulled_nodes(pull, m_model->surface_on_nodes(b), first));
    set_given_weights(b, input);
  }
  return input;
}

// Which setting makes them so.
std::string ImplicitMethod::smaller_steps() const {
  if (is_controlled()) return advice_for_accuracy(m_scene.time.accuracy);
  const int steps = m_scene.time.steps_per_frame.value_or(1);
  return m_settings.mode == ImplicitMode::dynamic ? advice_to_follow(steps) : advice_for_more(steps);
}

std::string ImplicitMethod::failure(const StepOutcome& outcome) const {
  const bool is_loose = m_settings.mode != ImplicitMode::dynamic &&
                        std::any_of(m_scene.bodies.begin(), m_scene.bodies.end(),
                                    [](const Body& b) { return b.supports().empty(); });
  const bool is_pressed = m_settings.mode != ImplicitMode::dynamic &&
                          std::any_of(m_scene.loads.begin(), m_scene.loads.end(), is_pressure);
  std::string advice = fmt::format("try {} or a stiffer material", smaller_steps());
  if (is_pressed)
    advice =
        "a pressure that follows a surface may have no equilibrium that stays: try mode dynamic, or less of "
        "it";
  if (is_loose) advice = "without inertia every body needs supports or contact that hold it";
  return fmt::format("the step at {:.6g} s failed even when halved {} times ({}); {}", m_state.time,
                     m_settings.max_halvings,
                     outcome.status == StepStatus::obstacle_too_fast
                         ? "an obstacle or a support that moves as told would pass through a surface"
                         : outcome.newton.message(),
                     advice);
}

// The fixed number of steps, or steps that begin as long as the last one was.
HalvingClock ImplicitMethod::clock_until(double until) const {
  const bool is_given = m_scene.time.steps_per_frame.has_value();
  if (!is_controlled())
    return {m_state.time, until, is_given ? m_scene.step() : 1 / m_scene.time.fps, m_settings.max_halvings};
  return {m_state.time, until, 1 / m_scene.time.fps, k_most_levels, m_state.level};
}

ImplicitMethod::StepStart ImplicitMethod::step_start() const {
  StateWriter all;
  save(all);
  return {m_solver.state(), all.arrays()};
}

void ImplicitMethod::go_back(const StepStart& start) {
  StateReader reader(start.all);
  load(reader);
}

// One step in its integrator's stages. When it is not ok the state may be that after some of them.
StepOutcome ImplicitMethod::take_stages(Integrator integrator, double dt, bool may_refuse) {
  StepOutcome step;
  const LoadSpan whole{m_state.time, m_state.time + dt, integrator == Integrator::tr_bdf2};
  for (const StepStage& stage : stages_of(integrator, dt)) {
    StepInput input = make_input(stage.dt, whole);
    input.rule = stage.rule;
    input.may_refuse = may_refuse;
    const Points before = m_solver.state().positions;
    const int iterations = step.newton.iterations;
    step = m_model->step(input);
    step.newton.iterations += iterations;
    if (step.status != StepStatus::ok) return step;
    m_state.time += stage.dt;
    update_signals(stage.dt);
    add_work(input, before);
    m_residual = std::max(m_residual, step.newton.residual);
  }
  return step;
}

// Kinetic and elastic energy, of bodies and obstacles: what an error of energy is compared with.
double ImplicitMethod::energy_in_play() const {
  const Diagnostics d = diagnostics();
  return d.kinetic_energy + d.elastic_energy + m_solver.state().energies.barrier +
         kinetic_energy_of_obstacles();
}

// What a strain that nobody sees would store. A body that is pushed from rest loses the same share of its energy in any
// first step: without a least energy there would be no step short enough.
double ImplicitMethod::energy_of_no_interest() const {
  double sum = 0;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Material& material = m_scene.bodies[b].material();
    const double volume = masses_of(b).sum() / material.density;
    sum += 0.5 * material.young * volume * k_unseen_strain * k_unseen_strain;
  }
  return sum;
}

// A step sees the mean of its loads: of a load that rises evenly, with means in the halves of the step that differ by D,
// it misses h² D / (6 m) of the displacement. Of a body as a whole, along axes in which nothing holds it: elsewhere
// stiffness answers to the load.
void ImplicitMethod::add_error_of_loads(Points& off) const {
  const double from = m_state.loads_from, until = m_state.loads_until, middle = 0.5 * (from + until);
  const Points late = load_forces(middle, until);
  if (late.size() == 0) return;
  const Points change = late - load_forces(from, middle);
  const double factor = (until - from) * (until - from) / 6;
  for (std::size_t b = 0; b < m_model->bodies().size(); ++b) {
    const ImplicitBody& body = m_model->bodies()[b];
    Vec3 sum = rows_of(b, change).colwise().sum();
    for (const SupportedNode& node : m_actions[b].supports.at(m_state.time)) {
      for (int c = 0; c < 3; ++c) {
        if (node.held[to_size(c)]) sum[c] = 0;
      }
    }
    const double mass = masses_of(b).sum();
    if (mass > 0)
      off.middleRows(body.first_node, body.node_count).rowwise() += factor / mass * sum.transpose();
  }
}

// Of the step from `start`, relative to what the scene's accuracy allows: displacements per body, and the energy that
// nothing but the step took or gave.
double ImplicitMethod::error_of_step(const ImplicitState& start, double dt) {
  const ImplicitState& end = m_solver.state();
  Points off = local_error(m_solver.options().integrator, start, end, dt);
  add_error_of_loads(off);
  const double accuracy = m_scene.time.accuracy;
  double worst = 0;
  for (const ImplicitBody& body : m_model->bodies()) {
    const double rms = weighted_rms(off, m_solver.masses(), body.first_node, body.node_count);
    worst = std::max(worst, rms / (k_position_share * accuracy * body.size));
  }
  const Diagnostics d = diagnostics();
  const double lost = d.numerical_dissipation;
  m_state.most_energy = std::max(m_state.most_energy, energy_in_play());
  if (!std::isnan(lost) && m_state.most_energy > 0)
    worst = std::max(worst, std::abs(lost - m_state.lost) / (accuracy * m_state.most_energy));
  m_state.lost = lost;
  return worst;
}

StepReport ImplicitMethod::advance(double until, const InterruptCheck& interrupted) {
  StepReport report;
  const Stopwatch stopwatch;
  m_solver.options().newton.interrupted = interrupted;
  HalvingClock clock = clock_until(until);
  const int order = order_of_local_error(m_solver.options().integrator);
  m_residual = 0;
  int unsolved = 0;  // attempts at this step that did not converge
  while (!clock.done() && report.status == Status::ok) {
    if (interrupted && interrupted()) {
      report.status = Status::interrupted;
      break;
    }
    std::optional<StepStart> start;
    if (may_go_back()) start = step_start();
    const double dt = clock.dt();
    // What Newton's method cannot solve with little damping is solved with that of implicit Euler.
    const bool falls_back = is_controlled() && unsolved >= k_most_unsolved;
    const StepOutcome outcome = take_stages(
        falls_back ? Integrator::implicit_euler : m_solver.options().integrator, dt, clock.can_halve());
    report.iterations += outcome.newton.iterations;
    const double error = outcome.status == StepStatus::ok && is_controlled() && !falls_back
                             ? error_of_step(start->solver, dt)
                             : 0;
    if (outcome.status == StepStatus::ok && (error <= 1 || !clock.can_halve())) {
      if (is_controlled()) {
        clock.advance_at_size();
        if (error * std::pow(2, order) < k_safety) clock.double_if_aligned();
      } else {
        clock.advance();
      }
      m_state.time = clock.time();
      unsolved = 0;
      note_imbalance();
      ++report.steps;
      continue;
    }
    if (start) go_back(*start);
    unsolved += outcome.status == StepStatus::not_converged ? 1 : 0;
    if (outcome.status == StepStatus::interrupted) {
      report.status = Status::interrupted;
    } else if (clock.can_halve()) {
      clock.halve();
    } else {
      report.status = Status::failed;
      report.message = failure(outcome);
    }
  }
  if (is_controlled()) m_state.level = clock.level();
  m_seconds += stopwatch.seconds();
  m_model->find_problems(m_state.time, m_notes);
  if (report.status == Status::ok) find_lost_body(report);
  return report;
}

// Contact keeps bodies out of obstacles; elements may still collapse.
void ImplicitMethod::find_lost_body(StepReport& report) {
  std::vector<WatchedBody> watched;
  for (Points& surface : on_surfaces(m_solver.state().positions))
    watched.push_back({std::move(surface), Points(0, 3)});
  if (const auto reason = m_watch.check(obstacle_poses(), watched, m_state.time)) {
    report.status = Status::failed;
    report.message = *reason;
  }
}

// Told once a run: nothing can move any more, and yet the forces do not balance. Collapsed elements do this.
void ImplicitMethod::note_imbalance() {
  if (m_told_imbalance || m_residual < k_imbalance) return;
  m_told_imbalance = true;
  m_notes.push_back(
      {Severity::warning,
       fmt::format("at {:.4g} s the forces were out of balance by {:.2g} of their size where nothing could "
                   "move (column residual): elements have collapsed; the material is too soft for what "
                   "hits it, or needs a finer mesh and {}",
                   m_state.time, m_residual, smaller_steps())});
}

// Loads and supports: force times displacement; pulls: what their springs give.
void ImplicitMethod::add_work(const StepInput& input, const Points& before) {
  const ImplicitState& state = m_solver.state();
  const Points way = state.positions - before;
  double work = m_load_means.size() > 0 ? m_load_means.cwiseProduct(way).sum() : 0;
  for (const Reaction& reaction : m_solver.reactions())
    work += reaction.force.dot(Vec3(way.row(reaction.node)));
  m_state.work += work + pressure_work(input.pressed, before, state.positions) +
                  pull_work(input.pulled, before, state.positions);
}

// Not what keyframed obstacles and controlled examples bring in.
bool ImplicitMethod::knows_work() const {
  const auto is_keyframed = [](const ObstacleBody& o) { return o.kind() == ObstacleKind::keyframed; };
  const auto is_controlled = [](const Actions& a) { return !a.controllers.empty(); };
  return m_settings.mode == ImplicitMode::dynamic &&
         std::none_of(m_scene.obstacles.begin(), m_scene.obstacles.end(), is_keyframed) &&
         std::none_of(m_actions.begin(), m_actions.end(), is_controlled);
}

double ImplicitMethod::obstacle_energy() const {
  double energy = 0;
  for (std::size_t o = 0; o < m_solver.state().obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    if (!obstacle.dynamic()) continue;
    const ObstacleState& s = m_solver.state().obstacles[o];
    energy -= obstacle.mass() * m_scene.gravity.dot(s.position);
  }
  return energy + kinetic_energy_of_obstacles();
}

double ImplicitMethod::kinetic_energy_of_obstacles() const {
  double energy = 0;
  for (std::size_t o = 0; o < m_solver.state().obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    if (!obstacle.dynamic()) continue;
    const ObstacleState& s = m_solver.state().obstacles[o];
    energy += 0.5 * obstacle.mass() * s.velocity.squaredNorm() +
              0.5 * s.angular_velocity.dot(obstacle.world_inertia(s) * s.angular_velocity);
  }
  return energy;
}

// What nothing else accounts for is the time step's.
void ImplicitMethod::balance(Diagnostics& d) const {
  d.is_static = m_settings.mode != ImplicitMode::dynamic;
  if (!knows_work()) return;
  d.external_work = m_state.work + m_start_obstacles - obstacle_energy();
  const double accounted = d.kinetic_energy + d.elastic_energy + d.gravitational_energy +
                           m_solver.state().energies.barrier + d.plastic_dissipation + d.contact_dissipation +
                           d.damping_dissipation;
  d.numerical_dissipation = m_start_energy + d.external_work - accounted;
}

std::vector<Points> ImplicitMethod::on_surfaces(const Points& nodes) const {
  std::vector<Points> result;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b)
    result.push_back(m_model->surface_on_nodes(b).apply(rows_of(b, nodes)));
  return result;
}

std::vector<Geometry> ImplicitMethod::fields() const {
  const ImplicitState& state = m_solver.state();
  Geometry surface = surface_geometry(m_scene, on_surfaces(state.positions));
  std::vector<MatX> velocities;
  for (const Points& v : on_surfaces(state.velocities)) velocities.emplace_back(v);
  add_point_array(surface, "velocity", velocities);
  std::vector<Geometry> others = m_model->fields();
  for (FieldArray& array : m_model->surface_arrays(others)) surface.arrays.push_back(std::move(array));
  std::vector<Geometry> all{std::move(surface)};
  for (Geometry& more : others) all.push_back(std::move(more));
  return all;
}

Diagnostics ImplicitMethod::diagnostics() const {
  Diagnostics d;
  const ImplicitState& state = m_solver.state();
  set_motion(d, m_solver.masses(), state.positions, state.velocities);
  d.gravitational_energy = -d.mass * m_scene.gravity.dot(d.centre_of_mass);
  d.contact_dissipation = state.energies.contact;
  d.damping_dissipation = state.energies.damping;
  m_model->add_diagnostics(d);
  double distance = 0;
  bool has_examples = false;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Body& body = m_scene.bodies[b];
    for (const ImplicitExamples& set : m_model->bodies()[b].examples) {
      has_examples = true;
      distance += m_model->example_energy(set);
      for (std::size_t k = 0; k < set.members.size(); ++k)
        d.extra.push_back({"weight_" + body.name() + "_" + body.examples()[set.members[k]].name, "",
                           state.weights[set.term][to_row(k)]});
    }
  }
  d.elastic_energy += distance;
  if (has_examples) d.example_distance = distance;
  if (has_contact()) d.extra.push_back({"contact_energy", "J", state.energies.barrier});
  balance(d);
  add_solver_columns(d.extra);
  return d;
}

// Of the last step: what Newton's method left, the smallest gap and what the supports gave.
void ImplicitMethod::add_solver_columns(Metrics& columns) const {
  columns.push_back({"residual", "", m_residual});
  if (!m_scene.obstacles.empty()) {
    const double gap = m_solver.smallest_gap();
    columns.push_back({"smallest_gap", "m", std::isfinite(gap) ? gap : k_unknown});
  }
  bool supported = false;
  for (const Body& body : m_scene.bodies) supported = supported || !body.supports().empty();
  if (!supported) return;
  Vec3 sum = Vec3::Zero();
  for (const Reaction& reaction : m_solver.reactions()) sum += reaction.force;
  for (int c = 0; c < 3; ++c) columns.push_back({std::string("reaction_") + "xyz"[c], "N", sum[c]});
  for (const auto& [name, force] : named_reactions()) {
    for (int c = 0; c < 3; ++c) columns.push_back({"reaction_" + name + "_" + "xyz"[c], "N", force[c]});
  }
}

// What the supports with names give, N; those of one name together. In alphabetical order.
std::map<std::string, Vec3> ImplicitMethod::named_reactions() const {
  std::map<std::string, Vec3> sums;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const std::vector<Support>& supports = m_scene.bodies[b].supports();
    for (const Support& support : supports) {
      if (!support.name.empty()) sums.try_emplace(support.name, Vec3::Zero());
    }
    const int first = m_model->bodies()[b].first_node, end = first + to_int(m_model->bodies()[b].node_count);
    for (const Reaction& reaction : m_solver.reactions()) {
      if (reaction.node < first || reaction.node >= end) continue;
      for (int c = 0; c < 3; ++c) {
        const int k = reaction.support[to_size(c)];
        if (k >= 0 && !supports[to_size(k)].name.empty())
          sums[supports[to_size(k)].name][c] += reaction.force[c];
      }
    }
  }
  return sums;
}

void ImplicitMethod::save(StateWriter& out) const {
  write_state(out, m_state, "driver");
  write_state(out, m_solver.state(), "solver");
  write_state(out, m_watch.state(), "watch");
  m_model->save(out);
}

void ImplicitMethod::load(StateReader& in) {
  DriverState driver;
  read_state(in, driver, "driver");
  ImplicitState state;
  read_state(in, state, "solver");
  if (driver.motions.size() != m_actions.size() || !is_same_shape(state, m_solver.state()))
    throw InputError("this state belongs to another scene");
  // With an obstacle that has come in since, the next step is the first of its kind.
  if (state.last_obstacles.size() != state.obstacles.size()) state.last_dt = 0;
  state.obstacle_rates.resize(state.obstacles.size());
  BodyWatch::State watch;
  read_state(in, watch, "watch");
  m_watch.set_state(std::move(watch));
  m_state = std::move(driver);
  m_solver.set_state(std::move(state));
  m_model->load(in);
}

std::vector<std::pair<Vec3, Quat>> ImplicitMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleState& state : m_solver.state().obstacles)
    poses.emplace_back(state.position, state.orientation);
  return poses;
}

}  // namespace

Integrator integrator_of(const ImplicitSettings& settings, bool fixed_steps) {
  switch (settings.integrator) {
    case IntegratorChoice::automatic:
      return fixed_steps ? Integrator::implicit_euler : Integrator::tr_bdf2;
    case IntegratorChoice::implicit_euler:
      return Integrator::implicit_euler;
    case IntegratorChoice::bdf2:
      return Integrator::bdf2;
    case IntegratorChoice::tr_bdf2:
      return Integrator::tr_bdf2;
  }
  return Integrator::implicit_euler;
}

ImplicitOptions implicit_options(const ImplicitSettings& settings, const TimeSettings& time) {
  ImplicitOptions options;
  options.linear = settings.linear_solver;
  options.inertia = settings.mode == ImplicitMode::dynamic;
  options.integrator = integrator_of(settings, time.steps_per_frame || !options.inertia);
  options.newton.force_tolerance = settings.tolerance;
  options.newton.max_iterations = settings.max_iterations;
  return options;
}

std::unique_ptr<Method> make_implicit_method(const Scene& scene, const ImplicitSettings& settings,
                                             std::unique_ptr<ImplicitModel> model, Notes notes) {
  return std::make_unique<ImplicitMethod>(scene, settings, std::move(model), std::move(notes));
}

}  // namespace exemplar
