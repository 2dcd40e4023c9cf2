#include "rigidplastic/dent/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/output/described_state.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "rigidplastic/dent/dented_body.h"
#include "rigidplastic/fracture/held_pieces.h"
#include "rigidplastic/fracture/joints.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::dent {

namespace {

constexpr double k_place_reach = 0.3;  // of the smallest extent: contacts nearer than this are one place

// Which piece of which body a rigid body is.
struct Owner {
  std::size_t body = 0;
  int piece = 0;
};

struct State {
  rigid::SimulationState simulation;
  std::vector<DentedBodyState> bodies;
  std::vector<ContactPlace> places;
  std::vector<rigid::BreakableJoint> joints;
  double dissipated = 0;  // J

  static constexpr auto described() {
    return std::tuple(member("simulation", &State::simulation), member("bodies", &State::bodies),
                      member("places", &State::places), member("joints", &State::joints),
                      member("dissipated", &State::dissipated));
  }
};

class DentMethod : public Method {
 public:
  DentMethod(const Scene& scene, const Settings& settings);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override { write_state(out, state()); }
  void load(StateReader& in) override {
    State state;
    read_state(in, state);
    restore(std::move(state));
  }
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override { return m_simulation.obstacle_poses(); }
  PhaseTimes phase_times() const override {
    return {{"bullet", m_simulation.bullet_seconds()}, {"denting", m_denting_seconds}};
  }
  Notes notes() const override;

 private:
  bool is_body(int object) const { return object < static_cast<int>(m_owners.size()); }
  const DentedBody& body_of(int object) const {
    return m_bodies[m_owners[static_cast<std::size_t>(object)].body];
  }
  bool dentable(int object) const;
  double restitution(int object) const;
  void make_simulation();
  void join_pieces();
  void set_components();
  bool is_broken(std::size_t body) const;
  std::vector<int> held_together(int object) const;
  const Triangles& triangles_around(int object);
  std::vector<PairImpact> impacts_of_tick();
  ContactMass contact_mass(int object, const Vec3& point) const;
  Strike strike_of(const PairImpact& impact, bool on_a, double energy);
  void strikes_of(const PairImpact& impact, std::vector<Strike>& strikes);
  void after_tick(double dt);
  void make_dents(std::vector<char>& changed);
  void update_shape(std::size_t rigid);
  void carry_surface(std::size_t body);
  void move_into_dent(const Strike& strike, double distance);
  State state() const;
  void restore(State state);

  const Scene& m_scene;
  Settings m_settings;
  rigid::Simulation m_simulation;
  std::vector<DentedBody> m_bodies;
  std::vector<int> m_first;     // rigid body of each body's first piece
  std::vector<Owner> m_owners;  // of the rigid bodies
  rigid::BreakableJoints m_joints;
  std::vector<int> m_components;         // of the rigid bodies
  std::map<int, Triangles> m_triangles;  // of components, when first asked for
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
  for (const Body& body : scene.bodies) m_bodies.emplace_back(body);
  for (const ObstacleBody& obstacle : scene.obstacles) m_obstacles.emplace_back(obstacle);
  make_simulation();
  join_pieces();
  for (const Owner& owner : m_owners)
    m_reach.push_back(k_place_reach * m_bodies[owner.body].smallest_extent());
  for (const ObstacleSurface& obstacle : m_obstacles)
    m_reach.push_back(k_place_reach * obstacle.smallest_extent());
}

void DentMethod::make_simulation() {
  // A hull has no dents: what was put into one would be pushed out again.
  const bool needs_triangles =
      m_settings.move_projectile && m_settings.collision == rigid::CollisionGeometry::automatic;
  const rigid::CollisionGeometry geometry =
      needs_triangles ? rigid::CollisionGeometry::round_or_mesh : m_settings.collision;
  std::vector<rigid::RigidBody> all;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_first.push_back(static_cast<int>(all.size()));
    std::vector<rigid::RigidBody> made = rigid::make_piece_bodies(
        m_scene.bodies[b], m_bodies[b].surfaces(), m_bodies[b].points(), static_cast<int>(b), geometry);
    for (std::size_t p = 0; p < made.size(); ++p) {
      m_owners.push_back({b, static_cast<int>(p)});
      all.push_back(std::move(made[p]));
    }
  }
  m_simulation.set_bodies(std::move(all), {});
  rigid::allow_first_overlaps(m_simulation);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_simulation.set_surface(b, rigid::loaded_surface(m_scene, m_simulation.bodies(), m_first[b],
                                                      static_cast<std::size_t>(m_bodies[b].pieces())));
    if (m_bodies[b].pieces() > 1) carry_surface(b);
  }
}

void DentMethod::join_pieces() {
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const double strength = m_settings.strength.value_or(
        m_scene.bodies[b].material().yield_stress.value_or(std::numeric_limits<double>::infinity()));
    for (const Cut& cut : m_bodies[b].cuts())
      m_joints.add(m_simulation.bodies(), m_first[b] + cut.a, m_first[b] + cut.b, cut.centre, cut.area,
                   strength);
  }
  set_components();
}

// Pieces that hold together do not collide with each other and are struck as one.
void DentMethod::set_components() {
  m_components = m_joints.components(m_owners.size());
  m_triangles.clear();
  if (m_joints.empty()) return;
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    if (m_bodies[m_owners[r].body].pieces() > 1) m_simulation.set_component(r, m_components[r]);
  }
  m_simulation.set_joints(m_joints.holding());
}

bool DentMethod::is_broken(std::size_t b) const {
  const auto first = static_cast<std::size_t>(m_first[b]);
  for (int p = 0; p < m_bodies[b].pieces(); ++p) {
    if (m_components[first + static_cast<std::size_t>(p)] != m_components[first]) return true;
  }
  return false;
}

// The pieces of its body that a rigid body holds together with.
std::vector<int> DentMethod::held_together(int object) const {
  const std::size_t b = m_owners[static_cast<std::size_t>(object)].body;
  std::vector<int> pieces;
  for (int p = 0; p < m_bodies[b].pieces(); ++p) {
    if (m_components[static_cast<std::size_t>(m_first[b] + p)] ==
        m_components[static_cast<std::size_t>(object)])
      pieces.push_back(p);
  }
  return pieces;
}

const Triangles& DentMethod::triangles_around(int object) {
  const DentedBody& body = body_of(object);
  if (body.pieces() == 1) return body.body().surface().triangles;
  const int component = m_components[static_cast<std::size_t>(object)];
  const auto known = m_triangles.find(component);
  if (known != m_triangles.end()) return known->second;
  return m_triangles.emplace(component, body.triangles_of(held_together(object))).first->second;
}

bool DentMethod::dentable(int object) const {
  return is_body(object) && (m_settings.distance || body_of(object).body().material().yield_stress);
}

double DentMethod::restitution(int object) const {
  if (is_body(object)) return body_of(object).body().material().restitution;
  return m_scene.obstacles[static_cast<std::size_t>(object) - m_owners.size()].description().restitution;
}

// Pieces that hold together count as one: the first of each impact stands for the others.
std::vector<PairImpact> DentMethod::impacts_of_tick() {
  std::vector<rigid::Contact> contacts = m_simulation.contacts();
  if (m_joints.empty()) return m_log.update(contacts, m_reach, m_settings.threshold);
  std::map<std::pair<int, int>, std::pair<int, int>> met;
  for (rigid::Contact& c : contacts) {
    const std::pair<int, int> objects(c.a, c.b);
    for (int* object : {&c.a, &c.b}) {
      if (is_body(*object)) *object = m_components[static_cast<std::size_t>(*object)];
    }
    if (c.normal_impulse > 0) met.try_emplace({c.a, c.b}, objects);
  }
  std::stable_sort(contacts.begin(), contacts.end(), [](const rigid::Contact& x, const rigid::Contact& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  std::vector<PairImpact> impacts = m_log.update(contacts, m_reach, m_settings.threshold);
  for (PairImpact& impact : impacts) std::tie(impact.a, impact.b) = met.at({impact.a, impact.b});
  return impacts;
}

// Of everything that holds together with the object.
ContactMass DentMethod::contact_mass(int object, const Vec3& point) const {
  ContactMass result;
  if (!is_body(object)) {
    const RigidState& state = m_simulation.states_before()[static_cast<std::size_t>(object)];
    const ObstacleBody& obstacle = m_scene.obstacles[static_cast<std::size_t>(object) - m_owners.size()];
    result.arm = point - state.position;
    result.inverse_mass = obstacle.inverse_mass();
    result.inverse_inertia = obstacle.world_inverse_inertia(state);
    return result;
  }
  const int first = m_first[m_owners[static_cast<std::size_t>(object)].body];
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  const std::vector<int> pieces = held_together(object);
  for (const int p : pieces) {
    const auto r = static_cast<std::size_t>(first + p);
    if (m_simulation.is_held(m_simulation.bodies()[r])) return result;
    mass += m_simulation.bodies()[r].mass;
    centre += m_simulation.bodies()[r].mass * m_simulation.states_before()[r].position;
  }
  centre /= mass;
  Mat3 inertia = Mat3::Zero();
  for (const int p : pieces) {
    const auto r = static_cast<std::size_t>(first + p);
    const RigidState& state = m_simulation.states_before()[r];
    const Mat3 axes = state.orientation.toRotationMatrix();
    const Vec3 arm = state.position - centre;
    inertia += axes * m_simulation.bodies()[r].frame.inertia.asDiagonal() * axes.transpose() +
               m_simulation.bodies()[r].mass * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
  }
  result.arm = point - centre;
  result.inverse_mass = 1 / mass;
  result.inverse_inertia = inertia.inverse();
  return result;
}

// The impact seen from one of the two bodies, in that body's own coordinates: x = c + A Rᵀ (world − position).
Strike DentMethod::strike_of(const PairImpact& pair, bool on_a, double energy) {
  Strike strike;
  const int target_object = on_a ? pair.a : pair.b;
  const std::size_t target = static_cast<std::size_t>(target_object);
  const std::size_t other = static_cast<std::size_t>(on_a ? pair.b : pair.a);
  strike.target = static_cast<int>(m_owners[target].body);
  strike.pieces = held_together(target_object);
  strike.target_object = target_object;
  strike.energy = energy;
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
  Mat3 rotation = from.orientation.toRotationMatrix();
  Vec3 shift = from.position;
  if (is_body(strike.projectile_object)) {
    const rigid::BodyFrame& source = m_simulation.bodies()[other].frame;
    rotation = rotation * source.axes.transpose();
    shift -= rotation * source.centre;
    const DentedBody& body = body_of(strike.projectile_object);
    strike.projectile = body.points();
    strike.triangles = &triangles_around(strike.projectile_object);
    strike.neighbours = &body.neighbours();
    strike.projectile_edge = body.edge_length();
  } else {
    const ObstacleSurface& obstacle = m_obstacles[other - m_owners.size()];
    strike.projectile = obstacle.mesh().vertices;
    strike.triangles = &obstacle.mesh().triangles;
    strike.neighbours = &obstacle.neighbours();
    strike.projectile_edge = obstacle.edge_length();
  }
  strike.projectile =
      ((strike.projectile * (turn * rotation).transpose()).rowwise() + own(shift).transpose()).eval();
  return strike;
}

// Two dentable bodies share the energy, the softer one taking more: σ_b/(σ_a + σ_b) for a.
void DentMethod::strikes_of(const PairImpact& pair, std::vector<Strike>& strikes) {
  const bool a = dentable(pair.a), b = dentable(pair.b);
  if (!a && !b) return;
  const Vec3 point = 0.5 * (pair.point_a + pair.point_b);
  const double mass = effective_mass(contact_mass(pair.a, point), contact_mass(pair.b, point), pair.normal);
  const double energy = 0.5 * mass * pair.closing_speed() * pair.closing_speed();
  const auto yield = [&](int object) { return body_of(object).body().material().yield_stress.value_or(1); };
  const double share = !b ? 1 : !a ? 0 : yield(pair.b) / (yield(pair.a) + yield(pair.b));
  if (a) strikes.push_back(strike_of(pair, true, share * energy));
  if (b) strikes.push_back(strike_of(pair, false, (1 - share) * energy));
}

// All maps are made from the shapes before any of them is applied.
void DentMethod::make_dents(std::vector<char>& changed) {
  std::vector<Strike> strikes;
  for (const PairImpact& impact : impacts_of_tick()) strikes_of(impact, strikes);
  std::vector<const Triangles*> targets;
  for (const Strike& strike : strikes) targets.push_back(&triangles_around(strike.target_object));
  std::vector<DentMap> maps(strikes.size());
  parallel_for(
      strikes.size(),
      [&](std::size_t k) {
        const DentedBody& body = m_bodies[static_cast<std::size_t>(strikes[k].target)];
        maps[k] =
            dent_of(strikes[k],
                    {&body.body(), &body.points(), targets[k], body.edge_length(), body.smallest_extent()},
                    m_settings);
      },
      1);
  for (std::size_t k = 0; k < strikes.size(); ++k) {
    const Strike& strike = strikes[k];
    DentedBody& body = m_bodies[static_cast<std::size_t>(strike.target)];
    if (maps[k].grid.depth.empty() || !body.leaves_enough(maps[k], strike.pieces)) continue;
    // What the impact gives back is not lost to the dent.
    const double rebound = std::max(restitution(strike.target_object), restitution(strike.projectile_object));
    m_dissipated += (1 - rebound * rebound) * strike.energy;
    if (m_settings.move_projectile) move_into_dent(strike, maps[k].distance);
    body.add(std::move(maps[k]), m_settings.duration, strike.pieces);
    changed[static_cast<std::size_t>(strike.target)] = 1;
  }
}

void DentMethod::after_tick(double dt) {
  const Stopwatch watch;
  std::vector<char> changed(m_bodies.size(), 0);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    changed[b] = m_bodies[b].growing();
    m_bodies[b].grow(dt);
  }
  make_dents(changed);
  const bool broke = !m_joints.empty() && m_joints.update(m_simulation, dt);
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    if (changed[m_owners[r].body]) update_shape(r);
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (changed[b]) carry_surface(b);
  }
  if (broke) {
    set_components();
  } else if (std::find(changed.begin(), changed.end(), 1) != changed.end()) {
    const std::vector<rigid::Joint> holding = m_joints.holding();
    for (std::size_t j = 0; j < holding.size(); ++j) m_simulation.set_joint(j, holding[j]);
  }
  if (!m_joints.empty()) rigid::hold_pieces_together(m_simulation, m_components);
  m_denting_seconds += watch.seconds();
}

void DentMethod::move_into_dent(const Strike& strike, double distance) {
  const int object = strike.projectile_object;
  std::vector<std::size_t> moved;
  if (is_body(object)) {
    for (const int p : held_together(object)) {
      moved.push_back(static_cast<std::size_t>(m_first[m_owners[static_cast<std::size_t>(object)].body] + p));
      if (m_simulation.is_held(m_simulation.bodies()[moved.back()])) return;
    }
  } else if (m_scene.obstacles[static_cast<std::size_t>(object) - m_owners.size()].dynamic()) {
    moved.push_back(static_cast<std::size_t>(object));
  }
  for (const std::size_t part : moved) {
    RigidState state = m_simulation.object_state(part);
    state.position += distance * strike.direction;
    m_simulation.set_state(part, state);
  }
}

void DentMethod::update_shape(std::size_t r) {
  const DentedBody& dented = m_bodies[m_owners[r].body];
  const rigid::RigidBody& body = m_simulation.bodies()[r];
  const rigid::BodyFrame frame = dented.frame(m_owners[r].piece, body.mass, body.frame);
  if (dented.pieces() > 1) m_joints.follow(static_cast<int>(r), body.frame, frame);
  m_simulation.reshape(r, frame, frame.to_local(dented.collision_points(m_owners[r].piece)));
}

// The input's vertices follow the pieces that they belong to, and the joints the frames.
void DentMethod::carry_surface(std::size_t b) {
  const DentedBody& body = m_bodies[b];
  if (body.pieces() == 1) {
    const auto rigid = static_cast<std::size_t>(m_first[b]);
    m_simulation.set_surface_points(b, m_simulation.bodies()[rigid].frame.to_local(body.points()));
    return;
  }
  m_simulation.set_surface(b, rigid::carried_by_pieces(body.surfaces(), body.points(), m_simulation.bodies(),
                                                       m_first[b], m_simulation.surfaces()[b].loads));
}

StepReport DentMethod::advance(double until, const InterruptCheck& interrupted) {
  rigid::TickHooks hooks;
  hooks.after = [this](double dt) { after_tick(dt); };
  return m_simulation.advance(until, interrupted, hooks);
}

std::vector<Geometry> DentMethod::fields() const {
  Geometry surface;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const DentedBody& body = m_bodies[b];
    Geometry part;
    if (is_broken(b)) {
      part = rigid::piece_geometry(body.surfaces(), body.points(), static_cast<int>(b), m_first[b],
                                   m_simulation.bodies(), m_components);
      part.arrays.push_back(make_array("dent_depth", Association::point, body.depths()));
    } else {
      const Points positions = m_simulation.surface(b);
      part = body_geometry(m_scene.bodies[b], static_cast<int>(b), positions);
      part.arrays.push_back(
          make_array("velocity", Association::point, m_simulation.surface_velocities(b, positions)));
      part.arrays.push_back(make_array("dent_depth", Association::point, body.depths_of_vertices()));
    }
    if (b == 0) {
      surface = std::move(part);
    } else {
      append(surface, part);
    }
  }
  return {surface};
}

Diagnostics DentMethod::diagnostics() const {
  Diagnostics d = m_simulation.diagnostics();
  double dents = 0, lost = 0, deepest = 0;
  for (const DentedBody& body : m_bodies) {
    dents += body.dent_count();
    if (body.has_volume()) lost += body.body().rest_volume() - body.volume();
    deepest = std::max(deepest, body.deepest());
  }
  d.plastic_measure = deepest;
  d.plastic_dissipation = m_dissipated;
  d.contact_dissipation -= m_dissipated;
  const std::set<int> fragments(m_components.begin(), m_components.end());
  d.extra = {{"dents", "", dents},
             {"volume_lost", "m³", lost},
             {"deepest_dent", "m", deepest},
             {"fragments", "", static_cast<double>(fragments.size())}};
  return d;
}

State DentMethod::state() const {
  State state{m_simulation.state(), {}, m_log.places(), m_joints.joints(), m_dissipated};
  for (const DentedBody& body : m_bodies) state.bodies.push_back(body.state());
  return state;
}

// Collision shapes and carried surfaces follow from the state.
void DentMethod::restore(State state) {
  if (state.bodies.size() != m_bodies.size()) throw InputError("the saved state belongs to other bodies");
  m_simulation.restore(state.simulation);
  m_log.restore(std::move(state.places));
  m_dissipated = state.dissipated;
  m_joints.restore(std::move(state.joints));
  set_components();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) m_bodies[b].restore(std::move(state.bodies[b]));
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    const rigid::BodyFrame& frame = m_simulation.bodies()[r].frame;
    m_simulation.restore_shape(
        r, frame.to_local(m_bodies[m_owners[r].body].collision_points(m_owners[r].piece)));
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) carry_surface(b);
}

Notes DentMethod::notes() const {
  Notes notes = m_simulation.support_notes();
  if (may_fold(m_settings.falloff))
    notes.push_back(
        {Severity::warning,
         "falloff.steepness is above the bound: dents in thin bodies may fold them onto themselves"});
  int count = 0;
  for (const int first : m_first) count += dentable(first);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const DentedBody& body = m_bodies[b];
    const std::string& name = m_scene.bodies[b].name();
    if (body.pieces() > 1)
      notes.push_back({Severity::note, fmt::format("{}: {} pieces", name, body.pieces())});
    if (!body.has_volume())
      notes.push_back(
          {Severity::warning,
           fmt::format("{}: the surface is not closed, so mass properties do not follow its dents", name)});
    if (m_scene.bodies[b].is_sheet() && m_scene.bodies[b].settings().pieces)
      notes.push_back({Severity::warning, fmt::format("{}: a sheet is not cut into pieces", name)});
  }
  if (count == 0)
    notes.push_back(
        {Severity::warning, "no body can be dented: none has a yield stress, and no distance is given"});
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<DentMethod>(scene, settings);
}

}  // namespace exemplar::dent
