#include "fem/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/embedding.h"
#include "core/run/surface_fields.h"
#include "fem/scene_bodies.h"

namespace exemplar {

namespace {

constexpr double k_signal_time = 0.1;  // s, over which the acceleration that controllers see is smoothed

class FemMethod : public Method {
 public:
  FemMethod(const Scene& scene, const FemSettings& settings, ExampleMethod method, double penalty);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override { return {{"solve", m_seconds}}; }
  Notes notes() const override { return m_notes; }

 private:
  // What acts on one body besides elasticity.
  struct Actions {
    SupportSet supports;
    LoadSet loads;
    std::vector<PreparedController> controllers;
    BodyExamples examples;
    Vec3 com_velocity = Vec3::Zero(), com_acceleration = Vec3::Zero();
  };

  void separate_from_obstacles(std::vector<SolidBody>& bodies, const ContactOptions& contact);
  Vec3 separate_features(const ContactSurface& surface, const Points& nodes, double gap, double limit,
                         const std::string& body) const;
  ContactOptions contact_options(const std::vector<SolidBody>& bodies) const;
  void add_contact(const ContactOptions& options);
  StepInput make_input(double dt) const;
  void set_given_weights(std::size_t b, StepInput& input) const;
  void update_signals(double dt);
  Vec3 body_velocity(std::size_t b) const;
  Geometry tets() const;
  std::vector<Points> surface_positions(const Points& nodes) const;

  const Scene& m_scene;
  FemSettings m_settings;
  std::unique_ptr<SolidModel> m_model;
  std::vector<Actions> m_actions;
  Notes m_notes;
  double m_time = 0;
  double m_seconds = 0;
  int m_iterations = 0;
};

FemMethod::FemMethod(const Scene& scene, const FemSettings& settings, ExampleMethod method, double penalty)
    : m_scene(scene), m_settings(settings) {
  std::vector<SolidBody> bodies;
  m_actions.resize(scene.bodies.size());
  double damping = 0;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    bodies.push_back(make_solid_body(scene.bodies[b], settings, m_actions[b].examples, m_notes));
    if (method == ExampleMethod::compatible) {
      check_whole_body_examples(scene.bodies[b], b, m_actions[b].examples);
    }
    damping = std::max(damping, scene.bodies[b].material().damping);
  }
  for (std::size_t b = 0; b < bodies.size() && damping > 0; ++b)
    bodies[b].damping_share = scene.bodies[b].material().damping / damping;
  const ContactOptions contact = contact_options(bodies);
  if (!scene.obstacles.empty()) separate_from_obstacles(bodies, contact);
  if (method == ExampleMethod::compatible && damping > 0) {
    m_notes.push_back(
        {Severity::note, "fem-compatible damps the conventional potential only, not that of the examples"});
  }
  ImplicitOptions options;
  options.linear = settings.linear_solver;
  options.inertia = settings.mode == FemMode::dynamic;
  options.damping = damping;
  options.newton.force_tolerance = settings.tolerance;
  options.newton.max_iterations = settings.max_iterations;
  m_model = std::make_unique<SolidModel>(std::move(bodies), std::move(options), method, penalty);
  if (!scene.obstacles.empty()) add_contact(contact);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const Body& body = scene.bodies[b];
    const Points start = m_model->body_positions(b);
    const VecX masses = m_model->solver().masses().segment(m_model->first_node(b), start.rows());
    m_actions[b].supports = SupportSet(body.supports(), body.name(), start);
    m_actions[b].loads =
        LoadSet(scene.loads, body.name(), start, masses, boundary_triangles(body.volume().mesh));
    for (const Controller& controller : body.controllers())
      m_actions[b].controllers.emplace_back(controller, start);
    m_actions[b].com_velocity = body_velocity(b);
  }
  int tets = 0;
  for (const Body& body : scene.bodies) tets += static_cast<int>(body.volume().mesh.tets.rows());
  m_notes.push_back(
      {Severity::note, fmt::format("{} tetrahedra, {} unknowns", tets, m_model->solver().unknowns())});
}

ContactOptions FemMethod::contact_options(const std::vector<SolidBody>& bodies) const {
  double size = 0, young = 0;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Points& x = bodies[b].mesh.vertices;
    size = std::max(size, (x.colwise().maxCoeff() - x.colwise().minCoeff()).norm());
    young = std::max(young, m_scene.bodies[b].material().young);
  }
  ContactOptions options = default_contact_options(size, young);
  if (m_settings.contact.reach) options.reach = *m_settings.contact.reach;
  if (m_settings.contact.stiffness) options.stiffness = *m_settings.contact.stiffness;
  options.sticking_speed = m_settings.contact.sticking_speed;
  return options;
}

void FemMethod::separate_from_obstacles(std::vector<SolidBody>& bodies, const ContactOptions& contact) {
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const ContactSurface surface = contact_surface(m_scene.bodies[b]);
    const std::string& name = m_scene.bodies[b].name();
    const double gap = 0.5 * contact.reach, limit = 5 * contact.reach;
    Points& x = bodies[b].positions;
    Vec3 shift = separating_shift(surface.map.apply(x), m_scene.obstacles, gap, limit, name);
    x.rowwise() += shift.transpose();
    const Vec3 more = separate_features(surface, x, gap, limit, name);
    x.rowwise() += more.transpose();
    shift += more;
    if (shift.norm() == 0) continue;
    m_notes.push_back(
        {Severity::note,
         fmt::format("body {} touches an obstacle at the start: moved by {:.2g} m", name, shift.norm())});
  }
}

// The same for what vertices do not see, e.g. a ball on the middle of a triangle.
Vec3 FemMethod::separate_features(const ContactSurface& surface, const Points& nodes, double gap,
                                  double limit, const std::string& body) const {
  ContactPotential contact(surface, m_scene.obstacles, {gap, 1, 1});
  const VecX zero = VecX::Zero(6 * static_cast<Eigen::Index>(m_scene.obstacles.size()));
  Vec3 shift = Vec3::Zero();
  for (int pass = 0; pass < 50; ++pass) {
    const Points x = nodes.rowwise() + shift.transpose();
    contact.find_pairs(x, zero, x, zero);
    const ContactPotential::Closest closest = contact.closest(x, zero);
    if (closest.gap >= gap) return shift;
    if (closest.gap < -limit) {
      throw InputError(fmt::format("body {} starts {:.3g} m inside obstacle {}", body, -closest.gap,
                                   m_scene.obstacles[static_cast<std::size_t>(closest.obstacle)].name()));
    }
    shift += (1.01 * gap - closest.gap) * closest.away;
  }
  throw InputError(fmt::format("body {} starts wedged between obstacles: leave a little room", body));
}

void FemMethod::add_contact(const ContactOptions& options) {
  ContactSurface all;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    append(all, contact_surface(m_scene.bodies[b]), m_model->first_node(b));
  }
  m_model->solver().add_contact(std::move(all), m_scene.obstacles, options, m_scene.gravity);
}

Vec3 FemMethod::body_velocity(std::size_t b) const {
  const Points v = m_model->body_velocities(b);
  const VecX masses = m_model->solver().masses().segment(m_model->first_node(b), v.rows());
  return v.transpose() * masses / masses.sum();
}

// The acceleration is smoothed: a change of weight moves the body and with it the centre of mass, and a
// controller that answers within the same vibration would flicker.
void FemMethod::update_signals(double dt) {
  const double part = 1 - std::exp(-dt / k_signal_time);
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    const Vec3 velocity = body_velocity(b);
    const Vec3 acceleration = (velocity - m_actions[b].com_velocity) / dt;
    m_actions[b].com_acceleration += part * (acceleration - m_actions[b].com_acceleration);
    m_actions[b].com_velocity = velocity;
  }
}

void FemMethod::set_given_weights(std::size_t b, StepInput& input) const {
  const Actions& actions = m_actions[b];
  if (actions.controllers.empty()) return;
  const Points positions = m_model->body_positions(b);
  const BodySignals signals{input.time, actions.com_velocity, actions.com_acceleration, &positions};
  for (std::size_t s = 0; s < actions.examples.sets.size(); ++s) {
    const auto& members = actions.examples.sets[s];
    VecX weights = VecX::Zero(static_cast<Eigen::Index>(members.size()));
    bool controlled = false;
    for (std::size_t k = 0; k < members.size(); ++k) {
      for (const PreparedController& controller : actions.controllers) {
        if (controller.controller().example != m_scene.bodies[b].examples()[members[k]].name) continue;
        weights[static_cast<Eigen::Index>(k)] = controller.weight(signals);
        controlled = true;
      }
    }
    if (controlled) input.given_weights[m_model->example_term(b, s)] = weights;
  }
}

StepInput FemMethod::make_input(double dt) const {
  StepInput input;
  input.dt = dt;
  input.time = m_time + dt;
  const ImplicitState& state = m_model->solver().state();
  input.given_weights.resize(state.weights.size());
  input.forces = m_model->solver().masses() * m_scene.gravity.transpose();
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    const int first = m_model->first_node(b);
    for (SupportedNode node : m_actions[b].supports.at(input.time)) {
      node.node += first;
      input.held.push_back(node);
    }
    if (!m_actions[b].loads.empty()) {
      const Points positions = m_model->body_positions(b);
      input.forces.middleRows(first, positions.rows()) +=
          m_actions[b].loads.forces(positions, m_time, input.time);
    }
    set_given_weights(b, input);
  }
  return input;
}

StepReport FemMethod::advance(double until, const InterruptCheck& interrupted) {
  StepReport report;
  const auto start = std::chrono::steady_clock::now();
  m_model->solver().options().newton.interrupted = interrupted;
  const double nominal =
      (until - m_time) / std::max(1.0, std::ceil((until - m_time) / m_scene.step() - 1e-9));
  // Time within the call is counted in pieces of the smallest step, so that halving and doubling never drift.
  const std::int64_t pieces = std::int64_t{1} << m_settings.max_halvings;
  const double from = m_time, piece = nominal / static_cast<double>(pieces);
  const auto total = static_cast<std::int64_t>(std::llround((until - from) / piece));
  std::int64_t done = 0, size = pieces;
  while (done < total) {
    if (interrupted && interrupted()) {
      report.status = Status::interrupted;
      break;
    }
    size = std::min(size, total - done);
    StepInput input = make_input(static_cast<double>(size) * piece);
    input.may_refuse = size > 1;
    const StepOutcome outcome = m_model->step(input);
    report.iterations += outcome.newton.iterations;
    if (outcome.status == StepStatus::ok) {
      done += size;
      m_time = done == total ? until : from + static_cast<double>(done) * piece;
      update_signals(input.dt);
      ++report.steps;
      // Back to longer steps, on multiples of themselves.
      while (size < pieces && done % (2 * size) == 0) size *= 2;
      continue;
    }
    if (outcome.status == StepStatus::interrupted) {
      report.status = Status::interrupted;
      break;
    }
    if (size == 1) {
      report.status = Status::failed;
      report.message = fmt::format(
          "the step at {:.6g} s failed even when halved {} times ({}); try more steps_per_frame or a stiffer "
          "material",
          m_time, m_settings.max_halvings,
          outcome.status == StepStatus::obstacle_too_fast ? "a moving obstacle would pass through the surface"
                                                          : outcome.newton.message());
      break;
    }
    size /= 2;
  }
  m_iterations += report.iterations;
  m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::vector<Points> FemMethod::surface_positions(const Points& nodes) const {
  std::vector<Points> result;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Volume& volume = m_scene.bodies[b].volume();
    const Points body = nodes.middleRows(m_model->first_node(b), volume.mesh.vertices.rows());
    result.push_back(apply(volume.surface, volume.mesh.tets, body));
  }
  return result;
}

Geometry FemMethod::tets() const {
  Geometry whole;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const TetMesh& mesh = m_model->body(b).mesh;
    Geometry part;
    part.series = "tets";
    part.kind = CellKind::tets;
    part.points = m_model->body_positions(b);
    part.connectivity.assign(mesh.tets.data(), mesh.tets.data() + mesh.tets.size());
    part.arrays.push_back(make_array("displacement", Association::point, part.points - mesh.vertices));
    part.arrays.push_back(make_array("velocity", Association::point, m_model->body_velocities(b)));
    const auto cells = static_cast<std::size_t>(mesh.tets.rows());
    part.arrays.push_back(
        make_integer_array("body", Association::cell, std::vector<int>(cells, static_cast<int>(b))));
    MatX plastic = MatX::Zero(mesh.tets.rows(), 1);
    if (const Plasticity* plasticity = m_model->plasticity(b)) {
      for (std::size_t e = 0; e < cells; ++e) {
        plastic(static_cast<Eigen::Index>(e), 0) =
            (plasticity->inverse()[e].inverse() - Mat3::Identity()).norm();
      }
    }
    part.arrays.push_back(make_array("plastic_strain", Association::cell, plastic));
    if (b == 0) {
      whole = std::move(part);
    } else {
      append(whole, part);
    }
  }
  return whole;
}

std::vector<Geometry> FemMethod::fields() const {
  const ImplicitState& state = m_model->solver().state();
  Geometry surface = surface_geometry(m_scene, surface_positions(state.positions));
  std::vector<MatX> velocities;
  for (const Points& v : surface_positions(state.velocities)) velocities.emplace_back(v);
  add_point_array(surface, "velocity", velocities);
  return {std::move(surface), tets()};
}

Diagnostics FemMethod::diagnostics() const {
  Diagnostics d;
  const ImplicitState& state = m_model->solver().state();
  const VecX& masses = m_model->solver().masses();
  d.mass = masses.sum();
  d.centre_of_mass = state.positions.transpose() * masses / d.mass;
  d.linear_momentum = state.velocities.transpose() * masses;
  d.angular_momentum.setZero();
  d.kinetic_energy = 0;
  for (Eigen::Index i = 0; i < masses.size(); ++i) {
    const Vec3 x = state.positions.row(i).transpose(), v = state.velocities.row(i).transpose();
    d.angular_momentum += masses[i] * x.cross(v);
    d.kinetic_energy += 0.5 * masses[i] * v.squaredNorm();
  }
  d.elastic_energy = m_model->internal_energy() + m_model->example_energy();
  d.gravitational_energy = -d.mass * m_scene.gravity.dot(d.centre_of_mass);
  d.plastic_dissipation = m_model->plastic_dissipation();
  d.contact_dissipation = state.energies.contact;
  d.damping_dissipation = state.energies.damping;
  d.plastic_measure = 0;
  bool has_examples = false;
  for (std::size_t b = 0; b < m_model->body_count(); ++b) {
    if (const Plasticity* plasticity = m_model->plasticity(b)) {
      d.plastic_measure = std::max(d.plastic_measure, plasticity->largest());
    }
    for (std::size_t s = 0; s < m_actions[b].examples.sets.size(); ++s) {
      has_examples = true;
      const auto& members = m_actions[b].examples.sets[s];
      for (std::size_t k = 0; k < members.size(); ++k) {
        const Body& body = m_scene.bodies[b];
        d.extra.push_back({"weight_" + body.name() + "_" + body.examples()[members[k]].name, "",
                           m_model->weights(b, s)[static_cast<Eigen::Index>(k)]});
      }
    }
  }
  if (has_examples) d.example_distance = m_model->example_energy();
  if (!m_scene.obstacles.empty()) d.extra.push_back({"contact_energy", "J", state.energies.barrier});
  return d;
}

void FemMethod::save(StateWriter& out) const {
  const SolidModel::State state = m_model->state();
  out.write("time", m_time);
  out.write("positions", state.solver.positions);
  out.write("velocities", state.solver.velocities);
  out.write("accelerations", state.solver.accelerations);
  for (std::size_t t = 0; t < state.solver.weights.size(); ++t) {
    out.write("weights" + std::to_string(t), state.solver.weights[t]);
  }
  const LinearMemory& memory = state.solver.linear;
  const std::vector<int> linear{static_cast<int>(memory.way), memory.solves_left, memory.next_pause,
                                m_iterations};
  out.write("linear", std::span<const int>(linear));
  std::vector<double> obstacles;
  for (const ObstacleState& o : state.solver.obstacles) {
    obstacles.insert(obstacles.end(), o.position.data(), o.position.data() + 3);
    obstacles.insert(obstacles.end(), o.orientation.coeffs().data(), o.orientation.coeffs().data() + 4);
    obstacles.insert(obstacles.end(), o.velocity.data(), o.velocity.data() + 3);
    obstacles.insert(obstacles.end(), o.angular_velocity.data(), o.angular_velocity.data() + 3);
  }
  out.write("obstacles", std::span<const double>(obstacles));
  std::vector<double> signals;
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    signals.insert(signals.end(), m_actions[b].com_velocity.data(), m_actions[b].com_velocity.data() + 3);
    signals.insert(signals.end(), m_actions[b].com_acceleration.data(),
                   m_actions[b].com_acceleration.data() + 3);
    std::vector<double> plastic;
    for (const Mat3& m : state.plastic_inverse[b]) plastic.insert(plastic.end(), m.data(), m.data() + 9);
    out.write("plastic" + std::to_string(b), std::span<const double>(plastic));
  }
  out.write("signals", std::span<const double>(signals));
  out.write("dissipation", state.dissipation);
  const StepEnergies& e = state.solver.energies;
  const std::array<double, 3> energies{e.damping, e.contact, e.barrier};
  out.write("energies", std::span<const double>(energies));
}

void FemMethod::load(StateReader& in) {
  SolidModel::State state = m_model->state();
  m_time = in.read_double("time");
  in.read("positions", state.solver.positions);
  in.read("velocities", state.solver.velocities);
  in.read("accelerations", state.solver.accelerations);
  for (std::size_t t = 0; t < state.solver.weights.size(); ++t) {
    in.read("weights" + std::to_string(t), state.solver.weights[t]);
  }
  std::vector<int> linear(4);
  in.read("linear", std::span<int>(linear));
  state.solver.linear = {static_cast<LinearWay>(linear[0]), linear[1], linear[2]};
  m_iterations = linear[3];
  std::vector<double> obstacles(13 * state.solver.obstacles.size());
  in.read("obstacles", std::span<double>(obstacles));
  for (std::size_t i = 0; i < state.solver.obstacles.size(); ++i) {
    const double* at = obstacles.data() + 13 * i;
    ObstacleState& o = state.solver.obstacles[i];
    o.position = Eigen::Map<const Vec3>(at);
    o.orientation.coeffs() = Eigen::Map<const Vec4>(at + 3);
    o.velocity = Eigen::Map<const Vec3>(at + 7);
    o.angular_velocity = Eigen::Map<const Vec3>(at + 10);
  }
  std::vector<double> signals(6 * m_actions.size());
  in.read("signals", std::span<double>(signals));
  for (std::size_t b = 0; b < m_actions.size(); ++b) {
    m_actions[b].com_velocity = Eigen::Map<const Vec3>(signals.data() + 6 * b);
    m_actions[b].com_acceleration = Eigen::Map<const Vec3>(signals.data() + 6 * b + 3);
    std::vector<double> plastic(9 * state.plastic_inverse[b].size());
    in.read("plastic" + std::to_string(b), std::span<double>(plastic));
    for (std::size_t e = 0; e < state.plastic_inverse[b].size(); ++e) {
      state.plastic_inverse[b][e] = Eigen::Map<const Mat3>(plastic.data() + 9 * e);
    }
  }
  state.dissipation = in.read_double("dissipation");
  std::array<double, 3> energies;
  in.read("energies", std::span<double>(energies));
  state.solver.energies = {energies[0], energies[1], energies[2]};
  m_model->set_state(std::move(state));
}

std::vector<std::pair<Vec3, Quat>> FemMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleState& state : m_model->solver().state().obstacles) {
    poses.emplace_back(state.position, state.orientation);
  }
  return poses;
}

}  // namespace

std::unique_ptr<Method> make_fem_method(const Scene& scene, const FemSettings& settings) {
  return std::make_unique<FemMethod>(scene, settings, ExampleMethod::incompatible, 0);
}

std::unique_ptr<Method> make_fem_compatible_method(const Scene& scene,
                                                   const FemCompatibleSettings& settings) {
  return std::make_unique<FemMethod>(scene, settings, ExampleMethod::compatible, settings.penalty);
}

}  // namespace exemplar
