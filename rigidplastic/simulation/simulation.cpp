#include "rigidplastic/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/volume/extrude.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "core/world/rotation.h"

namespace exemplar::rigid {

namespace {

constexpr double k_most_for_speed = 64;     // sub-steps of one scene step that speeds may ask for
constexpr double k_travel_fraction = 0.25;  // of the smallest extent, per step

MotionKind motion_of(const ObstacleBody& obstacle) {
  if (obstacle.dynamic()) return MotionKind::dynamic;
  return obstacle.kind() == ObstacleKind::keyframed ? MotionKind::kinematic : MotionKind::fixed;
}

double kinetic_energy(double mass, const RigidState& s, const Vec3& spin) {
  return 0.5 * mass * s.velocity.squaredNorm() + 0.5 * spin.dot(s.angular_velocity);
}

}  // namespace

RigidBody make_rigid_body(const Body& body, int scene_body, CollisionGeometry geometry) {
  const TriMesh surface{body.initial_surface(), body.surface().triangles};
  const MassProperties mass =
      body.settings().initial_pose && !body.is_sheet()
          ? solid_mass_properties(surface.vertices, surface.triangles, body.material().density)
          : body.mass_properties();
  RigidBody rigid;
  rigid.name = body.name();
  rigid.scene_body = scene_body;
  rigid.mass = mass.mass;
  rigid.frame = principal_frame(mass);
  rigid.friction = body.material().friction;
  rigid.restitution = body.material().restitution;
  rigid.start.position = mass.centre;
  rigid.start.orientation = Quat(rigid.frame.axes);
  rigid.start.velocity = body.settings().velocity;
  rigid.start.angular_velocity = body.settings().angular_velocity;
  rigid.state = rigid.start;
  TriMesh collision = body.is_sheet() ? extruded_surface(surface, body.settings().thickness) : surface;
  collision.vertices = rigid.frame.to_local(collision.vertices);
  rigid.shape = BulletShape::from_mesh(collision, geometry);
  if (!body.supports().empty()) rigid.support = &body.supports().front();
  return rigid;
}

CarriedSurface make_carried_surface(const Scene& scene, const Body& body, const RigidBody& carrier,
                                    int index) {
  const Points& start = body.initial_surface();
  CarriedSurface carried;
  carried.local = carrier.frame.to_local(start);
  carried.owner.assign(static_cast<std::size_t>(start.rows()), index);
  const VecX shares = VecX::Constant(start.rows(), carrier.mass / static_cast<double>(start.rows()));
  carried.loads = LoadSet(scene.loads, body.name(), start, shares, body.surface().triangles);
  return carried;
}

Simulation::Simulation(const Scene& scene, const Options& options) : m_scene(scene), m_options(options) {
  for (const ObstacleBody& obstacle : scene.obstacles) {
    const bool moves = obstacle.kind() != ObstacleKind::fixed;
    m_obstacle_shapes.push_back(BulletShape::from_obstacle(obstacle.shape(), moves));
    m_obstacle_states.push_back(obstacle.initial_state());
    m_obstacle_rest.emplace_back();
  }
  m_surfaces.resize(scene.bodies.size());
  for (const Body& body : scene.bodies) m_pulls.emplace_back(scene.pulls, body.name());
  m_initial_obstacle_energy = obstacle_energy();
}

void Simulation::add_scene_bodies(CollisionGeometry geometry) {
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    m_bodies.push_back(make_rigid_body(m_scene.bodies[b], static_cast<int>(b), geometry));
    m_surfaces[b] = make_carried_surface(m_scene, m_scene.bodies[b], m_bodies.back(), static_cast<int>(b));
  }
  m_initial_energy = total_energy();
}

const RigidState& Simulation::object_state(std::size_t object) const {
  return object < m_bodies.size() ? m_bodies[object].state : m_obstacle_states[object - m_bodies.size()];
}

void Simulation::set_bodies(std::vector<RigidBody> bodies, std::vector<Joint> joints) {
  m_bodies = std::move(bodies);
  m_joints = std::move(joints);
  m_touched.clear();
  m_allowed.clear();
  m_world.reset();
  if (!m_started) m_initial_energy = total_energy();
}

void Simulation::set_surface(std::size_t scene_body, CarriedSurface carried) {
  m_surfaces[scene_body] = std::move(carried);
}

void Simulation::set_joints(std::vector<Joint> joints) {
  m_joints = std::move(joints);
  m_world.reset();
}

void Simulation::set_component(std::size_t body, int component) {
  m_bodies[body].component = component;
  m_world.reset();
}

void Simulation::allow_overlaps(std::vector<AllowedOverlap> overlaps) {
  m_allowed = std::move(overlaps);
  m_world.reset();
}

void Simulation::reshape(std::size_t index, const BodyFrame& frame, const Points& vertices) {
  RigidBody& body = m_bodies[index];
  const double energy = energy_of(body);
  body.state = carried_over(body.state, body.mass, body.frame, frame);
  body.start = carried_over(body.start, body.mass, body.frame, frame);
  body.frame = frame;
  m_energies.add_to_contacts(energy - energy_of(body));
  const bool new_shape = body.shape.move_vertices(vertices);
  if (m_world) m_world->reshape(index, object_of(body), new_shape);
}

void Simulation::set_state(std::size_t object, const RigidState& state) {
  (object < m_bodies.size() ? m_bodies[object].state : m_obstacle_states[object - m_bodies.size()]) = state;
  if (m_world) m_world->set_state(object, state);
}

void Simulation::set_joint(std::size_t joint, const Joint& now) {
  m_joints[joint] = now;
  if (m_world) m_world->set_joint(joint, now);
}

void Simulation::set_restitution_factor(std::size_t body, double factor) {
  m_bodies[body].restitution_factor = factor;
  if (m_world) m_world->set_restitution_factor(body, factor);
}

void Simulation::apply(std::size_t body, const Vec3& force, const Vec3& torque) {
  m_world->apply(body, force, torque);
}

MotionKind Simulation::motion_of(const RigidBody& body) const {
  if (!body.support || m_time >= body.support->release_time) return MotionKind::dynamic;
  return body.support->keyframes.empty() ? MotionKind::fixed : MotionKind::kinematic;
}

// The whole body moves with its support: x(t) = c + d(t) + R(t)(X − c).
RigidState Simulation::prescribed(const RigidBody& body, double time) const {
  const RigidMotion motion = evaluate(body.support->keyframes, body.support->interpolation, time);
  const Vec3& centre = body.support->centre;
  RigidState state;
  state.orientation = motion.orientation * body.start.orientation;
  const Vec3 arm = motion.orientation * (body.start.position - centre);
  state.position = centre + motion.position + arm;
  state.velocity = motion.velocity + motion.angular_velocity.cross(arm);
  state.angular_velocity = motion.angular_velocity;
  return state;
}

RigidObject Simulation::object_of(const RigidBody& body) const {
  RigidObject object;
  object.shape = &body.shape;
  object.kind = motion_of(body);
  object.mass = body.mass;
  object.principal_inertia = body.frame.inertia;
  object.friction = body.friction;
  object.restitution = body.restitution;
  object.restitution_factor = body.restitution_factor;
  object.component = body.component;
  object.state = body.state;
  return object;
}

std::vector<RigidObject> Simulation::objects() const {
  std::vector<RigidObject> objects;
  for (const RigidBody& body : m_bodies) objects.push_back(object_of(body));
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    RigidObject object;
    object.shape = &m_obstacle_shapes[o];
    object.kind = rigid::motion_of(obstacle);
    object.mass = obstacle.mass();
    // Bullet takes a diagonal inertia; obstacles of one kind have it in their own axes, meshes nearly so.
    object.principal_inertia = obstacle.body_inertia().diagonal();
    object.friction = obstacle.description().friction;
    object.has_friction = obstacle.description().has_friction;
    object.restitution = obstacle.description().restitution;
    object.is_obstacle = true;
    object.state = m_obstacle_states[o];
    objects.push_back(object);
  }
  return objects;
}

std::vector<RigidState> Simulation::states() const {
  std::vector<RigidState> states;
  for (const RigidBody& body : m_bodies) states.push_back(body.state);
  states.insert(states.end(), m_obstacle_states.begin(), m_obstacle_states.end());
  return states;
}

// Shapes that were refitted are built anew as well: a resumed run builds them from the same vertices.
void Simulation::make_world() {
  for (RigidBody& body : m_bodies) {
    if (body.shape.refitted()) body.shape.build();
  }
  m_world = std::make_unique<BulletWorld>(
      objects(), m_joints, BulletOptions{m_scene.gravity, m_options.solver_iterations, m_allowed});
}

// As many as max_step asks for; more where something would travel more than a quarter of its smallest extent in one step, so
// that nothing tunnels.
int Simulation::substeps(double dt) const {
  const double least = std::clamp(std::ceil(dt / m_options.max_step - 1e-9), 1.0, 1e9);
  double count = least;
  auto consider = [&](const RigidState& state, const BulletShape& shape) {
    const double speed = state.velocity.norm() + m_scene.gravity.norm() * dt;
    count = std::max(count, std::ceil(speed * dt / (k_travel_fraction * shape.smallest_extent())));
  };
  for (const RigidBody& body : m_bodies) consider(body.state, body.shape);
  for (std::size_t o = 0; o < m_obstacle_states.size(); ++o)
    consider(m_obstacle_states[o], m_obstacle_shapes[o]);
  return static_cast<int>(std::clamp(count, least, std::max(least, k_most_for_speed)));
}

void Simulation::prescribe(double end) {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (motion_of(m_bodies[b]) == MotionKind::kinematic) m_world->move(b, prescribed(m_bodies[b], end));
  }
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    if (obstacle.kind() == ObstacleKind::keyframed)
      m_world->move(m_bodies.size() + o, obstacle.prescribed_state(end));
  }
}

bool Simulation::is_loaded(int scene_body, double from, double to) const {
  const std::string& name = m_scene.bodies[static_cast<std::size_t>(scene_body)].name();
  const bool loaded = std::any_of(m_scene.loads.begin(), m_scene.loads.end(), [&](const Load& load) {
    return (load.body.empty() || load.body == name) && load.window().integral(from, to) != 0;
  });
  return loaded || !m_pulls[static_cast<std::size_t>(scene_body)].active(from, to).empty();
}

void Simulation::apply_loads(double end) {
  m_pushes.assign(m_bodies.size(), {});
  m_point_forces.assign(m_surfaces.size(), {});
  for (std::size_t s = 0; s < m_surfaces.size(); ++s) {
    if (!is_loaded(static_cast<int>(s), m_time, end)) continue;
    add_loads(s, end);
    add_pulls(s, end);
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (m_bodies[b].scene_body == static_cast<int>(s))
        m_world->apply(b, m_pushes[b].force, m_pushes[b].torque);
    }
  }
}

void Simulation::add_loads(std::size_t s, double end) {
  const CarriedSurface& carried = m_surfaces[s];
  if (carried.loads.empty()) return;
  const Points positions = surface(s);
  const Points forces = carried.loads.forces(positions, m_time, end);
  for (Eigen::Index i = 0; i < forces.rows(); ++i) {
    const auto owner = static_cast<std::size_t>(carried.owner[static_cast<std::size_t>(i)]);
    const Vec3 arm = positions.row(i).transpose() - m_bodies[owner].state.position;
    if (!forces.row(i).isZero(0))
      m_point_forces[s].push_back({static_cast<int>(i), positions.row(i), forces.row(i)});
    m_pushes[owner].add(forces.row(i), arm);
  }
}

// The body that carries most of the pulled point is pulled.
void Simulation::add_pulls(std::size_t s, double end) {
  const CarriedSurface& carried = m_surfaces[s];
  const double dt = end - m_time;
  for (const ActivePull& pull : m_pulls[s].active(m_time, end)) {
    Vec3 x = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      const int vertex = pull.point.vertices[static_cast<std::size_t>(k)];
      const int owner = carried.owner[static_cast<std::size_t>(vertex)];
      x += pull.point.weights[k] *
           m_bodies[static_cast<std::size_t>(owner)].state.to_world(carried.local.row(vertex));
    }
    int most = 0;
    pull.point.weights.maxCoeff(&most);
    const auto b = static_cast<std::size_t>(
        carried.owner[static_cast<std::size_t>(pull.point.vertices[static_cast<std::size_t>(most)])]);
    const Vec3 impulse = pull_impulse(pull.spring, x, m_bodies[b], m_pushes[b], m_scene.gravity, dt);
    m_point_forces[s].push_back({pull.point.vertices[static_cast<std::size_t>(most)], x, impulse / dt});
    m_pushes[b].add(impulse / dt, x - m_bodies[b].state.position);
  }
}

void Simulation::read_states(double end) {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) m_bodies[b].state = m_world->state(b);
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    m_obstacle_states[o] = m_scene.obstacles[o].dynamic() ? m_world->state(m_bodies.size() + o)
                                                          : m_scene.obstacles[o].prescribed_state(end);
  }
}

std::vector<RestingObject> Simulation::resting_objects() {
  std::vector<RestingObject> objects;
  for (RigidBody& body : m_bodies) {
    const bool driven = is_loaded(body.scene_body, m_time_before, m_time);
    const double gyration = std::sqrt(body.frame.inertia.sum() / (2 * body.mass));
    objects.push_back({!is_held(body), driven, gyration, &body.rest, body.state});
  }
  for (std::size_t o = 0; o < m_obstacle_states.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    const double gyration =
        obstacle.dynamic() ? std::sqrt(obstacle.body_inertia().trace() / (2 * obstacle.mass())) : 0;
    objects.push_back({obstacle.dynamic(), false, gyration, &m_obstacle_rest[o], m_obstacle_states[o]});
  }
  return objects;
}

ObjectPairs Simulation::touching() const {
  ObjectPairs pairs;
  for (const Contact& contact : m_contacts) pairs.emplace_back(contact.a, contact.b);
  for (const Joint& joint : m_joints)
    pairs.emplace_back(std::min(joint.a, joint.b), std::max(joint.a, joint.b));
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

MiddleMotion Simulation::middle_motion(std::size_t object, double dt) const {
  const bool is_free = object < m_bodies.size() ? !is_held(m_bodies[object])
                                                : m_scene.obstacles[object - m_bodies.size()].dynamic();
  return is_free ? middle_of_free(m_before[object], m_world->struck_motion(object))
                 : middle_of_driven(m_before[object], object_state(object), dt);
}

double Simulation::mass_of(std::size_t object) const {
  return object < m_bodies.size() ? m_bodies[object].mass
                                  : m_scene.obstacles[object - m_bodies.size()].mass();
}

void Simulation::follow_energy(double dt) {
  std::vector<MiddleMotion> motions;
  for (std::size_t i = 0; i < object_count(); ++i) motions.push_back(middle_motion(i, dt));
  const auto motion = [&](int object) -> const MiddleMotion& {
    return motions[static_cast<std::size_t>(object)];
  };
  for (const Contact& contact : m_contacts)
    m_energies.add_contact(contact, motion(contact.a), motion(contact.b));
  double mended = 0;
  for (std::size_t i = 0; i < object_count(); ++i) {
    if (motions[i].is_free) mended -= mass_of(i) * m_scene.gravity.dot(m_world->struck_motion(i).mending);
  }
  m_energies.add_to_contacts(-mended);
  m_joint_losses.clear();
  for (std::size_t j = 0; j < m_joints.size(); ++j) {
    const Joint& joint = m_joints[j];
    m_joint_losses.push_back(m_energies.add_joint(
        joint.yields(), joint_load(j), motion(joint.a),
        m_before[static_cast<std::size_t>(joint.a)].to_world(joint.pivot_a), motion(joint.b),
        m_before[static_cast<std::size_t>(joint.b)].to_world(joint.pivot_b)));
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (is_held(m_bodies[b])) {
      RigidBodyState before = m_bodies[b];
      before.state = m_before[b];
      m_energies.work += energy_of(m_bodies[b]) - energy_of(before);
    } else {
      m_energies.work +=
          dt * (m_pushes[b].force.dot(motions[b].velocity) + m_pushes[b].torque.dot(motions[b].spin));
    }
  }
}

// The tick is taken for everything, so that contacts and joints say what they bear; what rests is then put back.
void Simulation::freeze_resting_bodies(double dt) {
  std::vector<RestingObject> objects = resting_objects();
  ObjectPairs now = touching(), both = now;
  both.insert(both.end(), m_touched.begin(), m_touched.end());
  advance_clocks(objects, both, m_scene.gravity.norm(), dt);
  const std::vector<bool> rests = at_rest(objects, now);
  const double moving = total_energy();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (rests[i]) set_state(i, {m_before[i].position, m_before[i].orientation, Vec3::Zero(), Vec3::Zero()});
  }
  m_energies.add_to_contacts(moving - total_energy());
  m_touched = std::move(now);
}

void Simulation::take_tick(double dt, const TickHooks& hooks) {
  do {
    const double end = m_time + dt;
    if (!m_world) make_world();
    if (hooks.before) hooks.before(dt);
    if (!m_world) make_world();
    prescribe(end);
    apply_loads(end);
    m_before = states();
    m_time_before = m_time;
    const Stopwatch watch;
    m_world->step(dt);
    m_bullet_seconds += watch.seconds();
    read_states(end);
    m_contacts = m_world->contacts(m_before);
    m_time = end;
  } while (hooks.retry && hooks.retry(dt));
  follow_energy(dt);
  freeze_resting_bodies(dt);
  if (hooks.after) hooks.after(dt);
}

void Simulation::rewind() {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) m_bodies[b].state = m_before[b];
  for (std::size_t o = 0; o < m_obstacle_states.size(); ++o)
    m_obstacle_states[o] = m_before[m_bodies.size() + o];
  m_time = m_time_before;
  m_world.reset();
}

// Nothing that moves faster than light is simulated: by then the numbers mean nothing, long before they are infinite.
bool Simulation::finite() const {
  constexpr double k_light = 3e8;  // m/s
  const std::vector<RigidState> all = states();
  return std::all_of(all.begin(), all.end(),
                     [](const RigidState& s) { return s.finite() && s.velocity.norm() < k_light; });
}

StepReport Simulation::advance(double until, const InterruptCheck& interrupted, const TickHooks& hooks) {
  m_started = true;
  make_world();
  const auto take = [&](double dt, StepReport& counts) {
    const int count = substeps(dt);
    for (int k = 0; k < count; ++k) take_tick(dt / count, hooks);
    counts.steps += count;
  };
  StepReport report =
      advance_in_steps(m_time, until, m_scene.step(), interrupted, take, [&] { return finite(); });
  if (report.status == Status::ok) m_world.reset();
  return report;
}

const std::vector<Contact>& Simulation::contacts() const {
  assert(m_world && "contacts are those of a tick: ask from its hook");
  return m_contacts;
}

JointLoad Simulation::joint_load(std::size_t joint) const {
  return m_world->joint_load(joint);
}

Points Simulation::surface(std::size_t scene_body) const {
  const CarriedSurface& carried = m_surfaces[scene_body];
  Points positions(carried.local.rows(), 3);
  for (std::size_t begin = 0, end = 0; begin < carried.owner.size(); begin = end) {
    while (end < carried.owner.size() && carried.owner[end] == carried.owner[begin]) ++end;
    const RigidState& s = m_bodies[static_cast<std::size_t>(carried.owner[begin])].state;
    const auto from = static_cast<Eigen::Index>(begin), count = static_cast<Eigen::Index>(end - begin);
    positions.middleRows(from, count) =
        (carried.local.middleRows(from, count) * s.orientation.toRotationMatrix().transpose()).rowwise() +
        s.position.transpose();
  }
  return positions;
}

MatX Simulation::surface_velocities(std::size_t scene_body, const Points& positions) const {
  const CarriedSurface& carried = m_surfaces[scene_body];
  MatX velocities(positions.rows(), 3);
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    const RigidBody& owner = m_bodies[static_cast<std::size_t>(carried.owner[static_cast<std::size_t>(i)])];
    velocities.row(i) = owner.state.velocity_at(positions.row(i)).transpose();
  }
  return velocities;
}

Geometry Simulation::surface_fields() const {
  std::vector<Points> positions;
  std::vector<MatX> velocities;
  for (std::size_t s = 0; s < m_surfaces.size(); ++s) {
    positions.push_back(surface(s));
    velocities.push_back(surface_velocities(s, positions.back()));
  }
  Geometry geometry = surface_geometry(m_scene, positions);
  add_point_array(geometry, "velocity", velocities);
  return geometry;
}

double Simulation::energy_of(const RigidBodyState& body) const {
  return kinetic_energy(body.mass, body.state, spin_momentum(body.state, body.frame.inertia)) -
         body.mass * m_scene.gravity.dot(body.state.position);
}

double Simulation::obstacle_energy() const {
  double energy = 0;
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    if (!obstacle.dynamic()) continue;
    const RigidState& s = m_obstacle_states[o];
    energy += kinetic_energy(obstacle.mass(), s, obstacle.world_inertia(s) * s.angular_velocity) -
              obstacle.mass() * m_scene.gravity.dot(s.position);
  }
  return energy;
}

double Simulation::total_energy() const {
  double energy = obstacle_energy();
  for (const RigidBody& body : m_bodies) energy += energy_of(body);
  return energy;
}

Diagnostics Simulation::diagnostics() const {
  Diagnostics d;
  d.mass = d.kinetic_energy = d.elastic_energy = d.gravitational_energy = d.plastic_measure = 0;
  d.centre_of_mass = d.linear_momentum = d.angular_momentum = Vec3::Zero();
  for (const RigidBody& body : m_bodies) {
    const RigidState& s = body.state;
    const Vec3 spin = spin_momentum(s, body.frame.inertia);
    d.mass += body.mass;
    d.centre_of_mass += body.mass * s.position;
    d.linear_momentum += body.mass * s.velocity;
    d.angular_momentum += body.mass * s.position.cross(s.velocity) + spin;
    d.kinetic_energy += kinetic_energy(body.mass, s, spin);
    d.gravitational_energy -= body.mass * m_scene.gravity.dot(s.position);
  }
  d.centre_of_mass /= d.mass;
  d.damping_dissipation = 0;
  d.plastic_dissipation = m_energies.joint_loss;
  d.contact_dissipation = m_energies.contact_loss;
  d.external_work = m_energies.work + m_initial_obstacle_energy - obstacle_energy();
  d.numerical_dissipation =
      m_initial_energy + m_energies.work - total_energy() - m_energies.contact_loss - m_energies.joint_loss;
  return d;
}

std::vector<std::pair<Vec3, Quat>> Simulation::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const RigidState& state : m_obstacle_states) poses.emplace_back(state.position, state.orientation);
  return poses;
}

Notes Simulation::support_notes() const {
  Notes notes;
  for (const Body& body : m_scene.bodies) {
    if (body.supports().size() <= 1) continue;
    notes.push_back({Severity::warning, fmt::format("{}: rigid bodies follow only the first of {} supports",
                                                    body.name(), body.supports().size())});
  }
  return notes;
}

SimulationState Simulation::state() const {
  SimulationState state{m_time,          m_initial_energy, {},        m_obstacle_states,
                        m_obstacle_rest, m_touched,        m_energies};
  state.bodies.assign(m_bodies.begin(), m_bodies.end());
  return state;
}

void Simulation::restore(const SimulationState& state) {
  const auto known = [&](int object) {
    return object >= 0 && static_cast<std::size_t>(object) < object_count();
  };
  const bool fits = state.bodies.size() == m_bodies.size() &&
                    state.obstacles.size() == m_obstacle_states.size() &&
                    state.obstacle_rest.size() == m_obstacle_rest.size() &&
                    std::all_of(state.touched.begin(), state.touched.end(),
                                [&](const auto& pair) { return known(pair.first) && known(pair.second); });
  if (!fits) throw InputError("the saved state belongs to other bodies");
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    static_cast<RigidBodyState&>(m_bodies[b]) = state.bodies[b];
  m_obstacle_states = state.obstacles;
  m_obstacle_rest = state.obstacle_rest;
  m_touched = state.touched;
  m_energies = state.energies;
  m_time = state.time;
  m_initial_energy = state.initial_energy;
  m_started = true;
  m_world.reset();
}

}  // namespace exemplar::rigid
