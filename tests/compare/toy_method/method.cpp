#include "tests/compare/toy_method/method.h"

#include "core/run/stepping.h"
#include "core/run/surface_fields.h"

namespace exemplar::falling {

namespace {

class FallingMethod : public Method {
 public:
  FallingMethod(const Scene& scene, const Settings& settings)
      : m_scene(scene), m_settings(settings), m_state(initial_state(scene)) {}

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override { write_state(out, m_state); }
  void load(StateReader& in) override { read_state(in, m_state); }
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;

 private:
  const Scene& m_scene;
  Settings m_settings;
  State m_state;
};

StepReport FallingMethod::advance(double until, const InterruptCheck& interrupted) {
  const auto take = [&](double dt, StepReport& report) {
    take_step(m_scene.gravity, m_settings.drag, dt, m_state);
    m_state.time += dt;
    ++report.steps;
  };
  const auto finite = [&] { return m_state.bodies.empty() || m_state.bodies[0].displacement.allFinite(); };
  return advance_in_steps(m_state.time, until, m_scene.step(), interrupted, take, finite);
}

std::vector<Geometry> FallingMethod::fields() const {
  std::vector<Points> surfaces;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    surfaces.push_back(m_scene.bodies[b].surface().vertices);
    surfaces.back().rowwise() += m_state.bodies[b].displacement.transpose();
  }
  return {surface_geometry(m_scene, surfaces)};
}

Diagnostics FallingMethod::diagnostics() const {
  Diagnostics d;
  d.mass = d.kinetic_energy = d.gravitational_energy = d.elastic_energy = 0;
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const BodyState& body = m_state.bodies[b];
    const MassProperties& rest = m_scene.bodies[b].mass_properties();
    d.mass += rest.mass;
    d.kinetic_energy += 0.5 * rest.mass * body.velocity.squaredNorm();
    d.gravitational_energy -= rest.mass * m_scene.gravity.dot(rest.centre + body.displacement);
  }
  return d;
}

std::vector<std::pair<Vec3, Quat>> FallingMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleBody& obstacle : m_scene.obstacles) {
    const ObstacleState now = obstacle.prescribed_state(m_state.time);
    poses.emplace_back(now.position, now.orientation);
  }
  return poses;
}

}  // namespace

State initial_state(const Scene& scene) {
  State state;
  for (const Body& body : scene.bodies)
    state.bodies.push_back({Vec3::Zero(), body.initial_velocity(body.mass_properties().centre)});
  return state;
}

void take_step(const Vec3& gravity, double drag, double dt, State& state) {
  for (BodyState& body : state.bodies) {
    body.velocity = (body.velocity + dt * gravity) / (1 + dt * drag);
    body.displacement += dt * body.velocity;
  }
}

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<FallingMethod>(scene, settings);
}

}  // namespace exemplar::falling
