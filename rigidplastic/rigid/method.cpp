#include "rigidplastic/rigid/method.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/mesh/extrude.h"
#include "core/run/surface_fields.h"
#include "core/world/loads.h"
#include "rigidplastic/bullet/bullet_world.h"

namespace exemplar {

namespace {

constexpr int k_most_substeps = 64;         // of one scene step
constexpr double k_travel_fraction = 0.25;  // of the smallest extent, per step

// One body of the scene as a rigid body: body frame = centre of mass and principal axes.
struct RigidBody {
  const Body* body = nullptr;
  double mass = 0;
  Vec3 inertia = Vec3::Zero();  // principal
  Points local;                 // surface vertices in the body frame
  BulletShape shape;
  LoadSet loads;
  ObstacleState start;
  const Support* support = nullptr;  // the first one, if any
};

RigidBody make_body(const Scene& scene, const Body& body, CollisionGeometry geometry) {
  RigidBody rigid;
  rigid.body = &body;
  TriMesh surface{body.initial_surface(), body.surface().triangles};
  const MassProperties mass =
      body.settings().initial_pose && !body.is_sheet()
          ? solid_mass_properties(surface.vertices, surface.triangles, body.material().density)
          : body.mass_properties();
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(mass.inertia);
  Mat3 axes = principal.eigenvectors();
  if (axes.determinant() < 0) axes.col(0) *= -1;
  rigid.mass = mass.mass;
  rigid.inertia = principal.eigenvalues();
  rigid.start.position = mass.centre;
  rigid.start.orientation = Quat(axes);
  rigid.start.velocity = body.settings().velocity;
  rigid.start.angular_velocity = body.settings().angular_velocity;
  rigid.local = (surface.vertices.rowwise() - mass.centre.transpose()) * axes;
  TriMesh collision = body.is_sheet() ? extruded_surface(surface, body.settings().thickness) : surface;
  collision.vertices = (collision.vertices.rowwise() - mass.centre.transpose()) * axes;
  rigid.shape = BulletShape::from_mesh(collision, geometry);
  const VecX shares =
      VecX::Constant(surface.vertices.rows(), mass.mass / static_cast<double>(surface.vertices.rows()));
  rigid.loads = LoadSet(scene.loads, body.name(), surface.vertices, shares, surface.triangles);
  if (!body.supports().empty()) rigid.support = &body.supports().front();
  return rigid;
}

class RigidMethod : public Method {
 public:
  RigidMethod(const Scene& scene, const RigidSettings& settings) : m_scene(scene), m_settings(settings) {
    for (const Body& body : scene.bodies) {
      m_bodies.push_back(make_body(scene, body, settings.collision));
      m_states.push_back(m_bodies.back().start);
    }
    for (const ObstacleBody& obstacle : scene.obstacles) {
      const bool moves = obstacle.kind() != ObstacleKind::fixed;
      m_obstacle_shapes.push_back(BulletShape::from_obstacle(obstacle.shape(), moves));
      m_states.push_back(obstacle.initial_state());
      m_has_prescribed_motion = m_has_prescribed_motion || obstacle.kind() == ObstacleKind::keyframed;
    }
    for (const RigidBody& body : m_bodies) m_has_prescribed_motion = m_has_prescribed_motion || body.support;
    m_initial_energy = total_energy();
  }

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override { return {{"bullet", m_bullet_seconds}}; }
  Notes notes() const override;

 private:
  std::vector<RigidObject> objects() const;
  MotionKind body_motion(const RigidBody& body, double time) const;
  ObstacleState prescribed(const RigidBody& body, double time) const;
  int substeps(double dt) const;
  void take_step(BulletWorld& world, double dt);
  Points surface_of(std::size_t body) const;
  double total_energy() const;

  const Scene& m_scene;
  RigidSettings m_settings;
  std::vector<RigidBody> m_bodies;
  std::vector<BulletShape> m_obstacle_shapes;
  std::vector<ObstacleState> m_states;  // bodies, then obstacles
  double m_time = 0;
  double m_initial_energy = 0;
  bool m_has_prescribed_motion = false;
  double m_bullet_seconds = 0;
};

MotionKind RigidMethod::body_motion(const RigidBody& body, double time) const {
  if (!body.support || time >= body.support->release_time) return MotionKind::dynamic;
  return body.support->keyframes.empty() ? MotionKind::fixed : MotionKind::kinematic;
}

// The whole body moves with its support: x(t) = c + d(t) + R(t)(X − c).
ObstacleState RigidMethod::prescribed(const RigidBody& body, double time) const {
  const RigidMotion motion = evaluate(body.support->keyframes, body.support->interpolation, time);
  const Vec3& centre = body.support->centre;
  ObstacleState state;
  state.orientation = motion.orientation * body.start.orientation;
  const Vec3 arm = motion.orientation * (body.start.position - centre);
  state.position = centre + motion.position + arm;
  state.velocity = motion.velocity + motion.angular_velocity.cross(arm);
  state.angular_velocity = motion.angular_velocity;
  return state;
}

std::vector<RigidObject> RigidMethod::objects() const {
  std::vector<RigidObject> objects;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const RigidBody& body = m_bodies[b];
    const Material& material = body.body->material();
    objects.push_back({&body.shape, body_motion(body, m_time), body.mass, body.inertia, material.friction,
                       material.restitution, false, m_states[b]});
  }
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    const MotionKind kind = obstacle.dynamic()                           ? MotionKind::dynamic
                            : obstacle.kind() == ObstacleKind::keyframed ? MotionKind::kinematic
                                                                         : MotionKind::fixed;
    // Bullet takes a diagonal inertia; obstacles of one kind have it in their own axes, meshes nearly so.
    objects.push_back({&m_obstacle_shapes[o], kind, obstacle.mass(), obstacle.body_inertia().diagonal(),
                       obstacle.description().friction, obstacle.description().restitution, true,
                       m_states[m_bodies.size() + o]});
  }
  return objects;
}

// Nothing may travel more than a quarter of its smallest extent in one step, so that nothing tunnels.
int RigidMethod::substeps(double dt) const {
  double count = std::ceil(dt / m_settings.max_step - 1e-9);
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    const BulletShape& shape =
        i < m_bodies.size() ? m_bodies[i].shape : m_obstacle_shapes[i - m_bodies.size()];
    const double speed = m_states[i].velocity.norm() + m_scene.gravity.norm() * dt;
    count = std::max(count, std::ceil(speed * dt / (k_travel_fraction * shape.smallest_extent())));
  }
  return static_cast<int>(std::clamp(count, 1.0, static_cast<double>(k_most_substeps)));
}

void RigidMethod::take_step(BulletWorld& world, double dt) {
  const double end = m_time + dt;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const RigidBody& body = m_bodies[b];
    if (body_motion(body, m_time) == MotionKind::kinematic) world.move(b, prescribed(body, end));
    if (body.loads.empty()) continue;
    const Points positions = surface_of(b);
    const Points forces = body.loads.forces(positions, m_time, end);
    Vec3 torque = Vec3::Zero();
    for (Eigen::Index i = 0; i < forces.rows(); ++i) {
      torque += (positions.row(i).transpose() - m_states[b].position).cross(Vec3(forces.row(i)));
    }
    world.apply(b, forces.colwise().sum(), torque);
  }
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = m_scene.obstacles[o];
    if (obstacle.kind() == ObstacleKind::keyframed)
      world.move(m_bodies.size() + o, obstacle.prescribed_state(end));
  }
  const auto start = std::chrono::steady_clock::now();
  world.step(dt);
  m_bullet_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < m_states.size(); ++i) m_states[i] = world.state(i);
  for (std::size_t o = 0; o < m_scene.obstacles.size(); ++o) {
    if (!m_scene.obstacles[o].dynamic())
      m_states[m_bodies.size() + o] = m_scene.obstacles[o].prescribed_state(end);
  }
  m_time = end;
}

StepReport RigidMethod::advance(double until, const InterruptCheck& interrupted) {
  StepReport report;
  BulletWorld world(objects(), {m_scene.gravity, m_settings.solver_iterations});
  const double scene_step = m_scene.step();
  while (m_time < until - 1e-9 * scene_step) {
    if (interrupted()) return {Status::interrupted, "interrupted", report.steps, 0};
    const double dt = std::min(scene_step, until - m_time);
    const int count = substeps(dt);
    for (int k = 0; k < count; ++k) take_step(world, dt / count);
    report.steps += count;
    for (const ObstacleState& state : m_states) {
      if (!state.position.allFinite() || !state.velocity.allFinite()) {
        return {Status::failed, "positions are no longer finite; try more steps per frame", report.steps, 0};
      }
    }
  }
  m_time = until;
  return report;
}

Points RigidMethod::surface_of(std::size_t body) const {
  const Mat3 rotation = m_states[body].orientation.toRotationMatrix();
  return (m_bodies[body].local * rotation.transpose()).rowwise() + m_states[body].position.transpose();
}

std::vector<Geometry> RigidMethod::fields() const {
  std::vector<Points> positions;
  std::vector<MatX> velocities;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    positions.push_back(surface_of(b));
    MatX velocity(positions[b].rows(), 3);
    for (Eigen::Index i = 0; i < velocity.rows(); ++i) {
      velocity.row(i) = m_states[b].velocity_at(positions[b].row(i)).transpose();
    }
    velocities.push_back(std::move(velocity));
  }
  Geometry surface = surface_geometry(m_scene, positions);
  add_point_array(surface, "velocity", velocities);
  return {surface};
}

double RigidMethod::total_energy() const {
  double energy = 0;
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    const bool is_body = i < m_bodies.size();
    if (!is_body && !m_scene.obstacles[i - m_bodies.size()].dynamic()) continue;
    const ObstacleState& s = m_states[i];
    const double mass = is_body ? m_bodies[i].mass : m_scene.obstacles[i - m_bodies.size()].mass();
    const Vec3 local_spin = s.orientation.conjugate() * s.angular_velocity;
    const Vec3 spin_momentum = is_body
                                   ? Vec3(m_bodies[i].inertia.cwiseProduct(local_spin))
                                   : Vec3(m_scene.obstacles[i - m_bodies.size()].body_inertia() * local_spin);
    energy += 0.5 * mass * s.velocity.squaredNorm() + 0.5 * local_spin.dot(spin_momentum) -
              mass * m_scene.gravity.dot(s.position);
  }
  return energy;
}

Diagnostics RigidMethod::diagnostics() const {
  Diagnostics d;
  d.mass = d.kinetic_energy = d.elastic_energy = d.gravitational_energy = d.plastic_measure = 0;
  d.centre_of_mass = d.linear_momentum = d.angular_momentum = Vec3::Zero();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const RigidBody& body = m_bodies[b];
    const ObstacleState& s = m_states[b];
    const Vec3 local_spin = s.orientation.conjugate() * s.angular_velocity;
    const Vec3 spin = s.orientation * Vec3(body.inertia.cwiseProduct(local_spin));
    d.mass += body.mass;
    d.centre_of_mass += body.mass * s.position;
    d.linear_momentum += body.mass * s.velocity;
    d.angular_momentum += body.mass * s.position.cross(s.velocity) + spin;
    d.kinetic_energy += 0.5 * body.mass * s.velocity.squaredNorm() + 0.5 * spin.dot(s.angular_velocity);
    d.gravitational_energy -= body.mass * m_scene.gravity.dot(s.position);
  }
  d.centre_of_mass /= d.mass;
  d.plastic_dissipation = 0;
  // With prescribed motion or loads energy comes in from outside, and the difference would mean nothing.
  if (!m_has_prescribed_motion && m_scene.loads.empty())
    d.contact_dissipation = m_initial_energy - total_energy();
  return d;
}

void RigidMethod::save(StateWriter& out) const {
  std::vector<double> numbers;
  for (const ObstacleState& s : m_states) {
    for (int k = 0; k < 3; ++k) numbers.push_back(s.position[k]);
    for (int k = 0; k < 4; ++k) numbers.push_back(s.orientation.coeffs()[k]);
    for (int k = 0; k < 3; ++k) numbers.push_back(s.velocity[k]);
    for (int k = 0; k < 3; ++k) numbers.push_back(s.angular_velocity[k]);
  }
  out.write("states", std::span<const double>(numbers));
  out.write("time", m_time);
}

void RigidMethod::load(StateReader& in) {
  std::vector<double> numbers(13 * m_states.size());
  in.read("states", std::span<double>(numbers));
  const double* n = numbers.data();
  for (ObstacleState& s : m_states) {
    s.position = Eigen::Map<const Vec3>(n);
    s.orientation.coeffs() = Eigen::Map<const Vec4>(n + 3);
    s.velocity = Eigen::Map<const Vec3>(n + 7);
    s.angular_velocity = Eigen::Map<const Vec3>(n + 10);
    n += 13;
  }
  m_time = in.read_double("time");
}

std::vector<std::pair<Vec3, Quat>> RigidMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (std::size_t i = m_bodies.size(); i < m_states.size(); ++i) {
    poses.emplace_back(m_states[i].position, m_states[i].orientation);
  }
  return poses;
}

Notes RigidMethod::notes() const {
  Notes notes;
  for (const RigidBody& body : m_bodies) {
    notes.push_back(
        {Severity::note, fmt::format("{}: {:.4g} kg, collides as its {}", body.body->name(), body.mass,
                                     body.shape.is_hull() ? "convex hull" : "triangles")});
    if (body.body->supports().size() > 1) {
      notes.push_back({Severity::warning, fmt::format("{}: rigid follows only the first of {} supports",
                                                      body.body->name(), body.body->supports().size())});
    }
  }
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_rigid_method(const Scene& scene, const RigidSettings& settings) {
  return std::make_unique<RigidMethod>(scene, settings);
}

}  // namespace exemplar
