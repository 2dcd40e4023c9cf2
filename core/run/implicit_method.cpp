#include "core/run/implicit_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/run/body_separation.h"
#include "core/run/start_separation.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"

namespace exemplar {

namespace {

constexpr double k_signal_time = 0.1;  // s, over which the acceleration that controllers see is smoothed

void append_numbers(std::vector<double>& out, const auto& block) {
  out.insert(out.end(), block.data(), block.data() + block.size());
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
    LoadSet loads;
    std::vector<PreparedController> controllers;
    Vec3 com_velocity = Vec3::Zero(), com_acceleration = Vec3::Zero();
  };

  ContactBody contact_of(std::size_t b) const;
  ContactOptions contact_of_obstacles() const;
  void choose_contact();
  PlacedBody placed(std::size_t b) const;
  void separate();
  Vec3 separate(PlacedBody& body, std::span<const PlacedBody> earlier) const;
  void add_contact();
  void prepare_actions();
  StepInput make_input(double dt) const;
  void set_given_weights(std::size_t b, StepInput& input) const;
  void update_signals(double dt);
  std::string failure(const StepOutcome& outcome) const;
  Points rows_of(std::size_t b, const Points& nodes) const {
    return nodes.middleRows(m_model->bodies()[b].first_node, m_model->bodies()[b].node_count);
  }
  VecX masses_of(std::size_t b) const {
    return m_solver.masses().segment(m_model->bodies()[b].first_node, m_model->bodies()[b].node_count);
  }
  Vec3 body_velocity(std::size_t b) const;
  bool meets_bodies() const {
    return m_between || std::find(m_self.begin(), m_self.end(), 1) != m_self.end();
  }
  bool has_contact() const { return !m_scene.obstacles.empty() || meets_bodies(); }

  const Scene& m_scene;
  ImplicitSettings m_settings;
  std::unique_ptr<ImplicitModel> m_model;
  ImplicitSolver& m_solver;
  std::vector<Actions> m_actions;
  Notes m_notes;
  double m_time = 0;
  double m_seconds = 0;
  int m_iterations = 0;
  bool m_between = false;    // bodies meet each other
  std::vector<char> m_self;  // per body: it meets itself
};

ImplicitMethod::ImplicitMethod(const Scene& scene, const ImplicitSettings& settings,
                               std::unique_ptr<ImplicitModel> model, Notes notes)
    : m_scene(scene),
      m_settings(settings),
      m_model(std::move(model)),
      m_solver(m_model->solver()),
      m_notes(std::move(notes)) {
  choose_contact();
  if (has_contact()) {
    separate();
    add_contact();
  }
  prepare_actions();
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
  return {m_scene.bodies[b].name(), &body.contact, rows_of(b, m_solver.state().positions),
          contact_of(b).reach};
}

// Which bodies meet each other and themselves.
void ImplicitMethod::choose_contact() {
  m_between = m_settings.contact.between_bodies && m_scene.bodies.size() > 1;
  m_self.assign(m_scene.bodies.size(), 0);
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

// From obstacles and from the bodies before it; what makes room for one may take it from another.
Vec3 ImplicitMethod::separate(PlacedBody& body, std::span<const PlacedBody> earlier) const {
  constexpr int k_rounds = 10;
  Vec3 shift = Vec3::Zero();
  for (int round = 0; round < k_rounds; ++round) {
    Vec3 more = Vec3::Zero();
    if (!m_scene.obstacles.empty())
      more += separate_from_obstacles(*body.surface, m_scene.obstacles, 0.5 * body.reach, 5 * body.reach,
                                      body.name, body.nodes);
    const Vec3 from_obstacles = more;
    if (m_between) more += separate_from_bodies(body, earlier);
    shift += more;
    if (more == from_obstacles) return shift;
  }
  throw InputError(
      fmt::format("body {} starts wedged between bodies and obstacles: leave a little room", body.name));
}

void ImplicitMethod::separate() {
  ImplicitState state = m_solver.state();
  std::vector<PlacedBody> bodies;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    PlacedBody body = placed(b);
    const Vec3 shift = separate(body, bodies);
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
    throw InputError("a sheet starts closer to itself or to another body than its thickness");
  m_solver.add_contact(std::move(all), m_scene.obstacles, contact_of_obstacles(), m_scene.gravity);
}

void ImplicitMethod::prepare_actions() {
  m_actions.resize(m_scene.bodies.size());
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Body& body = m_scene.bodies[b];
    Actions& actions = m_actions[b];
    const Points start = rows_of(b, m_solver.state().positions);
    actions.supports = SupportSet(body.supports(), body.name(), start, m_model->bodies()[b].leader);
    actions.loads = LoadSet(m_scene.loads, body.name(), start, masses_of(b), m_model->bodies()[b].faces);
    for (const Controller& controller : body.controllers())
      actions.controllers.emplace_back(controller, start);
    actions.com_velocity = body_velocity(b);
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
    const Vec3 acceleration = (velocity - m_actions[b].com_velocity) / dt;
    m_actions[b].com_acceleration += part * (acceleration - m_actions[b].com_acceleration);
    m_actions[b].com_velocity = velocity;
  }
}

void ImplicitMethod::set_given_weights(std::size_t b, StepInput& input) const {
  const Actions& actions = m_actions[b];
  if (actions.controllers.empty()) return;
  const Points positions = rows_of(b, m_solver.state().positions);
  const BodySignals signals{input.time, actions.com_velocity, actions.com_acceleration, &positions};
  for (const ImplicitExamples& set : m_model->bodies()[b].examples) {
    VecX weights = VecX::Zero(to_row(set.members.size()));
    bool controlled = false;
    for (std::size_t k = 0; k < set.members.size(); ++k) {
      for (const PreparedController& controller : actions.controllers) {
        if (controller.controller().example != m_scene.bodies[b].examples()[set.members[k]].name) continue;
        weights[to_row(k)] = controller.weight(signals);
        controlled = true;
      }
    }
    if (controlled) input.given_weights[set.term] = weights;
  }
}

StepInput ImplicitMethod::make_input(double dt) const {
  StepInput input;
  input.dt = dt;
  input.time = m_time + dt;
  const ImplicitState& state = m_solver.state();
  input.given_weights.resize(state.weights.size());
  input.forces = m_solver.masses() * m_scene.gravity.transpose();
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    const int first = m_model->bodies()[b].first_node;
    for (SupportedNode node : m_actions[b].supports.at(input.time)) {
      node.node += first;
      input.held.push_back(node);
    }
    if (!m_actions[b].loads.empty()) {
      const Points positions = rows_of(b, state.positions);
      input.forces.middleRows(first, positions.rows()) +=
          m_actions[b].loads.forces(positions, m_time, input.time);
    }
    set_given_weights(b, input);
  }
  return input;
}

std::string ImplicitMethod::failure(const StepOutcome& outcome) const {
  return fmt::format(
      "the step at {:.6g} s failed even when halved {} times ({}); try more steps_per_frame or a stiffer "
      "material",
      m_time, m_settings.max_halvings,
      outcome.status == StepStatus::obstacle_too_fast ? "a moving obstacle would pass through the surface"
                                                      : outcome.newton.message());
}

StepReport ImplicitMethod::advance(double until, const InterruptCheck& interrupted) {
  StepReport report;
  const Stopwatch stopwatch;
  m_solver.options().newton.interrupted = interrupted;
  HalvingClock clock(m_time, until, m_scene.step(), m_settings.max_halvings);
  while (!clock.done() && report.status == Status::ok) {
    if (interrupted && interrupted()) {
      report.status = Status::interrupted;
      break;
    }
    StepInput input = make_input(clock.dt());
    input.may_refuse = clock.can_halve();
    const StepOutcome outcome = m_model->step(input);
    report.iterations += outcome.newton.iterations;
    if (outcome.status == StepStatus::ok) {
      clock.advance();
      m_time = clock.time();
      update_signals(input.dt);
      ++report.steps;
    } else if (outcome.status == StepStatus::interrupted) {
      report.status = Status::interrupted;
    } else if (clock.can_halve()) {
      clock.halve();
    } else {
      report.status = Status::failed;
      report.message = failure(outcome);
    }
  }
  m_iterations += report.iterations;
  m_seconds += stopwatch.seconds();
  return report;
}

std::vector<Geometry> ImplicitMethod::fields() const {
  const ImplicitState& state = m_solver.state();
  Geometry surface = surface_geometry(m_scene, m_model->on_surfaces(state.positions));
  std::vector<MatX> velocities;
  for (const Points& v : m_model->on_surfaces(state.velocities)) velocities.emplace_back(v);
  add_point_array(surface, "velocity", velocities);
  for (FieldArray& array : m_model->surface_arrays()) surface.arrays.push_back(std::move(array));
  std::vector<Geometry> all{std::move(surface)};
  for (Geometry& more : m_model->fields()) all.push_back(std::move(more));
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
  return d;
}

void ImplicitMethod::save(StateWriter& out) const {
  const ImplicitState& state = m_solver.state();
  out.write("time", m_time);
  out.write("positions", state.positions);
  out.write("velocities", state.velocities);
  out.write("accelerations", state.accelerations);
  for (std::size_t t = 0; t < state.weights.size(); ++t)
    out.write("weights" + std::to_string(t), state.weights[t]);
  const std::array<int, 4> linear{static_cast<int>(state.linear.strategy), state.linear.solves_left,
                                  state.linear.next_pause, m_iterations};
  out.write("linear", std::span<const int>(linear));
  const std::vector<double> obstacles = pack(state.obstacles);
  out.write("obstacles", std::span<const double>(obstacles));
  std::vector<double> signals;
  for (const Actions& actions : m_actions) {
    append_numbers(signals, actions.com_velocity);
    append_numbers(signals, actions.com_acceleration);
  }
  out.write("signals", std::span<const double>(signals));
  const std::array<double, 3> energies{state.energies.damping, state.energies.contact,
                                       state.energies.barrier};
  out.write("energies", std::span<const double>(energies));
  m_model->save(out);
}

void ImplicitMethod::load(StateReader& in) {
  ImplicitState state = m_solver.state();
  m_time = in.read_double("time");
  in.read("positions", state.positions);
  in.read("velocities", state.velocities);
  in.read("accelerations", state.accelerations);
  for (std::size_t t = 0; t < state.weights.size(); ++t)
    in.read("weights" + std::to_string(t), state.weights[t]);
  std::array<int, 4> linear;
  in.read("linear", std::span<int>(linear));
  state.linear = {static_cast<LinearStrategy>(linear[0]), linear[1], linear[2]};
  m_iterations = linear[3];
  unpack(in.read_doubles("obstacles"), state.obstacles);
  std::vector<double> signals(6 * m_actions.size());
  in.read("signals", std::span<double>(signals));
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    m_actions[b].com_velocity = Eigen::Map<const Vec3>(signals.data() + 6 * b);
    m_actions[b].com_acceleration = Eigen::Map<const Vec3>(signals.data() + 6 * b + 3);
  }
  std::array<double, 3> energies;
  in.read("energies", std::span<double>(energies));
  state.energies = {energies[0], energies[1], energies[2]};
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

ImplicitOptions implicit_options(const ImplicitSettings& settings) {
  ImplicitOptions options;
  options.linear = settings.linear_solver;
  options.inertia = settings.mode == ImplicitMode::dynamic;
  options.newton.force_tolerance = settings.tolerance;
  options.newton.max_iterations = settings.max_iterations;
  return options;
}

std::unique_ptr<Method> make_implicit_method(const Scene& scene, const ImplicitSettings& settings,
                                             std::unique_ptr<ImplicitModel> model, Notes notes) {
  return std::make_unique<ImplicitMethod>(scene, settings, std::move(model), std::move(notes));
}

}  // namespace exemplar
