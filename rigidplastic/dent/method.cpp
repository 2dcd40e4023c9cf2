#include "rigidplastic/dent/method.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/parallel.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "rigidplastic/dent/checks/bench.h"
#include "rigidplastic/dent/checks/validation.h"
#include "rigidplastic/dent/dented_body.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::dent {

namespace {

constexpr double k_place_reach = 0.3;  // of the smallest extent: contacts nearer than this are one place

class DentMethod : public Method {
 public:
  DentMethod(const Scene& scene, const Settings& settings);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override { return m_simulation.obstacle_poses(); }
  PhaseTimes phase_times() const override {
    return {{"bullet", m_simulation.bullet_seconds()}, {"denting", m_denting_seconds}};
  }
  Notes notes() const override;

 private:
  bool is_body(int object) const { return object < static_cast<int>(m_bodies.size()); }
  bool dentable(int object) const;
  ContactMass contact_mass(int object, const Vec3& point) const;
  Strike strike_of(const PairImpact& impact, bool on_a, double energy) const;
  void strikes_of(const PairImpact& impact, std::vector<Strike>& strikes) const;
  void after_tick(double dt);
  void update_shape(std::size_t body);
  void move_into_dent(const Strike& strike, double distance);

  const Scene& m_scene;
  Settings m_settings;
  rigid::Simulation m_simulation;
  std::vector<DentedBody> m_bodies;
  std::vector<ObstacleSurface> m_obstacles;
  std::vector<double> m_reach;  // of every object, for the impact log
  ImpactLog m_log;
  double m_dissipated = 0;  // J
  double m_denting_seconds = 0;
};

DentMethod::DentMethod(const Scene& scene, const Settings& settings)
    : m_scene(scene),
      m_settings(settings),
      m_simulation(scene, {settings.max_step, settings.solver_iterations}) {
  // A hull has no dents: what was put into one would be pushed out again.
  const bool needs_triangles =
      settings.move_projectile && settings.collision == rigid::CollisionGeometry::automatic;
  m_simulation.add_scene_bodies(needs_triangles ? rigid::CollisionGeometry::mesh : settings.collision);
  for (const Body& body : scene.bodies) m_bodies.emplace_back(body);
  for (const ObstacleBody& obstacle : scene.obstacles) m_obstacles.emplace_back(obstacle);
  for (const DentedBody& body : m_bodies) m_reach.push_back(k_place_reach * body.smallest_extent());
  for (const ObstacleSurface& obstacle : m_obstacles)
    m_reach.push_back(k_place_reach * obstacle.smallest_extent());
}

bool DentMethod::dentable(int object) const {
  if (!is_body(object)) return false;
  return m_settings.distance || m_scene.bodies[static_cast<std::size_t>(object)].material().yield_stress;
}

ContactMass DentMethod::contact_mass(int object, const Vec3& point) const {
  const RigidState& state = m_simulation.states_before()[static_cast<std::size_t>(object)];
  ContactMass mass;
  mass.arm = point - state.position;
  if (!is_body(object)) {
    const ObstacleBody& obstacle = m_scene.obstacles[static_cast<std::size_t>(object) - m_bodies.size()];
    mass.inverse_mass = obstacle.inverse_mass();
    mass.inverse_inertia = obstacle.world_inverse_inertia(state);
    return mass;
  }
  const rigid::RigidBody& body = m_simulation.bodies()[static_cast<std::size_t>(object)];
  if (m_simulation.is_held(body)) return mass;
  mass.inverse_mass = 1 / body.mass;
  const Mat3 axes = state.orientation.toRotationMatrix();
  mass.inverse_inertia = axes * body.frame.inertia.cwiseInverse().asDiagonal() * axes.transpose();
  return mass;
}

// The impact seen from one of the two bodies, in that body's own coordinates: x = c + A Rᵀ (world − position).
Strike DentMethod::strike_of(const PairImpact& pair, bool on_a, double energy) const {
  Strike strike;
  strike.target = on_a ? pair.a : pair.b;
  strike.energy = energy;
  const std::size_t target = static_cast<std::size_t>(strike.target);
  const std::size_t other = static_cast<std::size_t>(on_a ? pair.b : pair.a);
  const rigid::BodyFrame& frame = m_simulation.bodies()[target].frame;
  const RigidState &state = m_simulation.states_before()[target], &from = m_simulation.states_before()[other];
  const Mat3 turn = frame.axes * state.orientation.toRotationMatrix().transpose();
  const auto own = [&](const Vec3& world) { return Vec3(frame.centre + turn * (world - state.position)); };
  strike.projectile_object = static_cast<int>(other);
  strike.direction = (on_a ? -pair.velocity : pair.velocity).normalized();
  const double side = on_a ? 1 : -1;  // the normal points from b towards a
  strike.impact.point_on_target = own(on_a ? pair.point_a : pair.point_b);
  strike.impact.point_on_projectile = own(on_a ? pair.point_b : pair.point_a);
  strike.impact.inward_normal = turn * (side * pair.normal);
  strike.impact.velocity = turn * (-side * pair.velocity);
  const bool by_body = is_body(static_cast<int>(other));
  const std::size_t obstacle = other - m_bodies.size();
  Mat3 rotation = from.orientation.toRotationMatrix();
  Vec3 shift = from.position;
  if (by_body) {
    const rigid::BodyFrame& source = m_simulation.bodies()[other].frame;
    rotation = rotation * source.axes.transpose();
    shift -= rotation * source.centre;
  }
  const Points& points = by_body ? m_bodies[other].points() : m_obstacles[obstacle].mesh().vertices;
  strike.projectile = (points * (turn * rotation).transpose()).rowwise() + own(shift).transpose();
  strike.triangles = by_body ? &m_bodies[other].triangles() : &m_obstacles[obstacle].mesh().triangles;
  strike.neighbours = by_body ? &m_bodies[other].neighbours() : &m_obstacles[obstacle].neighbours();
  strike.projectile_edge = by_body ? m_bodies[other].edge_length() : m_obstacles[obstacle].edge_length();
  return strike;
}

// Two dentable bodies share the energy, the softer one taking more: σ_b/(σ_a + σ_b) for a.
void DentMethod::strikes_of(const PairImpact& pair, std::vector<Strike>& strikes) const {
  const bool a = dentable(pair.a), b = dentable(pair.b);
  if (!a && !b) return;
  const Vec3 point = 0.5 * (pair.point_a + pair.point_b);
  const double mass = effective_mass(contact_mass(pair.a, point), contact_mass(pair.b, point), pair.normal);
  const double energy = 0.5 * mass * pair.closing_speed() * pair.closing_speed();
  const auto yield = [&](int object) {
    return m_scene.bodies[static_cast<std::size_t>(object)].material().yield_stress.value_or(1);
  };
  const double share = !b ? 1 : !a ? 0 : yield(pair.b) / (yield(pair.a) + yield(pair.b));
  if (a) strikes.push_back(strike_of(pair, true, share * energy));
  if (b) strikes.push_back(strike_of(pair, false, (1 - share) * energy));
}

// All maps are made from the shapes before any of them is applied.
void DentMethod::after_tick(double dt) {
  const Stopwatch watch;
  std::vector<char> changed(m_bodies.size(), 0);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    changed[b] = m_bodies[b].growing();
    m_bodies[b].grow(dt);
  }
  const std::vector<PairImpact> impacts =
      m_log.update(m_simulation.contacts(), m_reach, m_settings.threshold);
  std::vector<Strike> strikes;
  for (const PairImpact& impact : impacts) strikes_of(impact, strikes);
  std::vector<DentMap> maps(strikes.size());
  parallel_for(
      strikes.size(),
      [&](std::size_t k) {
        maps[k] =
            dent_of(strikes[k], m_bodies[static_cast<std::size_t>(strikes[k].target)].target(), m_settings);
      },
      1);
  for (std::size_t k = 0; k < strikes.size(); ++k) {
    if (maps[k].grid.depth.empty()) continue;
    const std::size_t target = static_cast<std::size_t>(strikes[k].target);
    m_dissipated += strikes[k].energy;
    if (m_settings.move_projectile) move_into_dent(strikes[k], maps[k].distance);
    m_bodies[target].add(std::move(maps[k]), m_settings.duration);
    changed[target] = 1;
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (changed[b]) update_shape(b);
  }
  m_denting_seconds += watch.seconds();
}

void DentMethod::move_into_dent(const Strike& strike, double distance) {
  const std::size_t object = static_cast<std::size_t>(strike.projectile_object);
  const bool body = is_body(strike.projectile_object);
  const bool free = body ? !m_simulation.is_held(m_simulation.bodies()[object])
                         : m_scene.obstacles[object - m_bodies.size()].dynamic();
  if (!free) return;
  RigidState state = m_simulation.object_state(object);
  state.position += distance * strike.direction;
  m_simulation.set_state(object, state);
}

void DentMethod::update_shape(std::size_t b) {
  const rigid::RigidBody& body = m_simulation.bodies()[b];
  const rigid::BodyFrame frame =
      rigid::principal_frame(m_bodies[b].mass_properties(body.mass), body.frame.axes);
  m_simulation.reshape(b, frame, frame.to_local(m_bodies[b].collision_points()));
  m_simulation.set_surface_points(b, frame.to_local(m_bodies[b].points()));
}

StepReport DentMethod::advance(double until, const InterruptCheck& interrupted) {
  rigid::TickHooks hooks;
  hooks.after = [this](double dt) { after_tick(dt); };
  return m_simulation.advance(until, interrupted, hooks);
}

std::vector<Geometry> DentMethod::fields() const {
  Geometry surface = m_simulation.surface_fields();
  std::vector<MatX> depth;
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    depth.push_back(m_bodies[b].displacements(m_scene.bodies[b].initial_surface()).rowwise().norm());
  add_point_array(surface, "dent_depth", depth);
  return {surface};
}

Diagnostics DentMethod::diagnostics() const {
  Diagnostics d = m_simulation.diagnostics();
  double dents = 0, lost = 0, deepest = 0;
  for (const DentedBody& body : m_bodies) {
    dents += body.dent_count();
    lost += body.body().rest_volume() - body.volume();
    deepest = std::max(deepest, body.deepest());
  }
  d.plastic_measure = deepest;
  d.plastic_dissipation = m_dissipated;
  d.extra = {{"dents", "", dents}, {"volume_lost", "m³", lost}, {"deepest_dent", "m", deepest}};
  return d;
}

void DentMethod::save(StateWriter& out) const {
  m_simulation.save(out);
  m_log.save(out);
  out.write("dissipated", m_dissipated);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) m_bodies[b].save(out, fmt::format("body{}.", b));
}

void DentMethod::load(StateReader& in) {
  m_simulation.load(in);
  m_log.load(in);
  m_dissipated = in.read_double("dissipated");
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_bodies[b].load(in, fmt::format("body{}.", b));
    const rigid::BodyFrame& frame = m_simulation.bodies()[b].frame;
    m_simulation.restore_shape(b, frame.to_local(m_bodies[b].collision_points()));
    m_simulation.set_surface_points(b, frame.to_local(m_bodies[b].points()));
  }
}

Notes DentMethod::notes() const {
  Notes notes = m_simulation.support_notes();
  if (may_fold(m_settings.falloff))
    notes.push_back(
        {Severity::warning,
         "falloff.steepness is above the bound: dents in thin bodies may fold them onto themselves"});
  int count = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) count += dentable(static_cast<int>(b));
  if (count == 0)
    notes.push_back(
        {Severity::warning, "no body can be dented: none has a yield stress, and no distance is given"});
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<DentMethod>(scene, settings);
}

void add_method(Registry& registry) {
  MethodInfo info;
  info.name = "rigid-dent";
  info.summary = "rigid bodies with dents of what strikes them (Bullet)";
  info.source = "patkar2014 §3";
  info.scene = "dent-sweep";
  info.validated_by =
      "brute-force envelope, closed-form depths, symmetry, momentum, exact self-intersection test";
  info.capabilities.plasticity = true;
  info.capabilities.body_contact = true;
  info.capabilities.friction = true;
  info.capabilities.restitution = true;
  info.capabilities.supports = true;
  info.capabilities.loads = true;
  info.settings = &description_of<Settings>();
  info.make = [](const Scene& scene, const AnySettings& settings) {
    return make_method(scene, settings.as<Settings>());
  };
  registry.add(std::move(info));
  for (const ValidationCase& validation : validation_cases()) registry.add(validation);
  for (const Bench& bench : benches()) registry.add(bench);
}

}  // namespace exemplar::dent
