#include "rigidplastic/bend/method.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <set>

#include "core/base/errors.h"
#include "core/output/described_state.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "core/world/rotation.h"
#include "rigidplastic/bend/bone_weights.h"
#include "rigidplastic/bend/demand.h"
#include "rigidplastic/bend/parent_dents.h"
#include "rigidplastic/bend/piece_skeleton.h"
#include "rigidplastic/bend/variety.h"

namespace exemplar::bend {

namespace {

constexpr double k_visible_bend = 0.02;   // rad, that a joint counts as bent
constexpr double k_break_window = 0.004;  // s, that a joint's load is averaged over
constexpr double k_break_over_yield = 3;  // default of break_stress
constexpr double k_at_strength = 0.999;   // share of the strength from which a joint counts as yielding
constexpr double k_widest_gap = 0.005;    // of a body's diagonal, that a joint may have when it is merged
constexpr double k_overloaded =
    1.02;  // of a section's strength, from which a steady load splits a bone there
constexpr int k_most_rehearsals = 12;  // of one tick: a joint is opened in each of them

struct State {
  rigid::SimulationState simulation;
  std::vector<BendingBodyState> bodies;
  std::optional<ParentDentsState> dents;
  double dissipated = 0;  // J, in elastic joints and in what was merged
  double damped = 0;      // J, in elastic joints

  static constexpr auto described() {
    return std::tuple(member("simulation", &State::simulation), member("bodies", &State::bodies),
                      member("dents", &State::dents), member("dissipated", &State::dissipated),
                      member("damped", &State::damped));
  }
};

class BendMethod : public Method {
 public:
  BendMethod(const Scene& scene, const Settings& settings);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override { write_state(out, state()); }
  void load(StateReader& in) override {
    State state;
    read_state(in, state);
    restore(state);
  }
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override { return m_simulation.obstacle_poses(); }
  PhaseTimes phase_times() const override {
    return {{"bullet", m_simulation.bullet_seconds()},
            {"bending", m_bending_seconds},
            {"skinning", m_skinning_seconds}};
  }
  Notes notes() const override;

 private:
  BendingBody make_body(std::size_t scene_body);
  const BodyWeights& weights_for(std::size_t scene_body, const Skeleton& skeleton);
  std::vector<RigidState> cluster_states(std::size_t body) const;
  void rebuild(const std::vector<char>& changed);
  void put_into_simulation(std::vector<rigid::RigidBody> bodies);
  void refresh_skins();
  Geometry piece_fields(std::size_t body) const;
  void before_tick(double dt);
  bool rehearse(double dt);
  std::vector<std::vector<Hit>> hits_of_tick() const;
  void add_joint_impulses(std::size_t body, std::vector<Hit>& hits) const;
  std::vector<std::size_t> joints_to_open(const BendingBody& body, const std::vector<Hit>& hits,
                                          const RehearsedTick& tick) const;
  bool may_yield(std::size_t body) const;
  bool is_strained(std::size_t body) const;
  void add_loads(std::size_t body, double dt, std::vector<Hit>& hits) const;
  void find_weak_places(std::size_t body);
  bool split_under_load(std::size_t body, const std::vector<Hit>& hits, const RehearsedTick& tick);
  bool open_for(std::size_t body, const std::vector<Hit>& hits, double dt);
  bool split_for(BendingBody& body, const std::vector<Hit>& hits, const RehearsedTick& tick) const;
  void after_tick(double dt);
  void watch_joint(std::size_t simulation_joint, double dt);
  JointSide side_of(int object, const Vec3& pivot) const;
  void watch_break(std::size_t simulation_joint, double dt);
  void apply_spring(std::size_t simulation_joint, double dt);
  void apply_deferred_impulse(std::size_t simulation_joint);
  double elastic_energy() const;
  State state() const;
  void restore(const State& state);

  const Scene& m_scene;
  Settings m_settings;
  rigid::Simulation m_simulation;
  std::vector<BendingBody> m_bodies;
  std::vector<LoadSet> m_loads;
  std::optional<ParentDents> m_dents;
  std::deque<std::pair<Points, BodyWeights>> m_weights;  // of each different shape: its own points and bones
  std::vector<std::size_t> m_first;  // rigid body of each scene body's first cluster; one more at the end
  std::vector<std::pair<std::size_t, std::size_t>> m_joint_of;  // simulation's joint → body, joint
  std::vector<std::vector<WeakPlace>>
      m_weak_places;               // of the bodies as they are split now; found when needed
  std::vector<Vec3> m_late_kicks;  // N m s, of the elastic joints, see apply_spring
  std::vector<char> m_turned;      // bodies that bent since their shapes were made
  // Joints further apart are not merged, m: what a jam has pulled apart would stay so, and grow at the next one.
  std::vector<double> m_widest_gap;
  int m_rehearsals = 0;                   // of the tick that is being taken
  double m_dissipated = 0, m_damped = 0;  // J, see State
  double m_bending_seconds = 0, m_skinning_seconds = 0;
};

bool bendable(const Body& body, const Settings& settings) {
  const bool given = settings.strength || (body.settings().skeleton && body.settings().skeleton->strength);
  return given || body.material().yield_stress;
}

Skeleton skeleton_for(const Body& body) {
  if (!body.settings().skeleton) {
    std::vector<Bone> bones;
    if (body.settings().rig) {
      for (const RigBone& bone : body.settings().rig->bones)
        bones.push_back({body.placement() * bone.from, body.placement() * bone.to});
    }
    const std::optional<Skeleton> of_rig = skeleton_of_rig(bones);
    if (!of_rig && body.settings().pieces && !body.is_sheet()) return skeleton_of_pieces(body);
    return of_rig ? *of_rig : longest_axis_skeleton({body.initial_surface(), body.surface().triangles});
  }
  std::vector<Vec3> points;
  for (const Vec3& p : body.settings().skeleton->points) points.push_back(body.placement() * p);
  std::vector<std::array<int, 2>> bones;
  for (const BoneSettings& bone : body.settings().skeleton->bones) bones.push_back({bone.from, bone.to});
  return skeleton_of(points, bones);
}

std::optional<Vec3> held_point(const Body& body) {
  if (body.supports().empty()) return std::nullopt;
  const std::vector<int> nodes = select_nodes(body.supports().front().region, body.initial_surface());
  Vec3 sum = Vec3::Zero();
  for (const int v : nodes) sum += body.initial_surface().row(v).transpose();
  return nodes.empty() ? std::nullopt : std::optional<Vec3>(sum / static_cast<double>(nodes.size()));
}

BendMethod::BendMethod(const Scene& scene, const Settings& settings)
    : m_scene(scene),
      m_settings(settings),
      m_simulation(scene, {settings.max_step, settings.solver_iterations}) {
  std::vector<rigid::RigidBody> all;
  for (std::size_t s = 0; s < scene.bodies.size(); ++s) {
    const Body& body = scene.bodies[s];
    m_bodies.push_back(make_body(s));
    const Points& surface = body.initial_surface();
    m_widest_gap.push_back(k_widest_gap *
                           (surface.colwise().maxCoeff() - surface.colwise().minCoeff()).norm());
    RigidState start;
    start.position = body.mass_properties().centre;
    start.velocity = body.settings().velocity;
    start.angular_velocity = body.settings().angular_velocity;
    m_first.push_back(all.size());
    for (rigid::RigidBody& part :
         m_bodies[s].rebuild(std::span(&start, 1), static_cast<int>(s), settings.collision))
      all.push_back(std::move(part));
    rigid::RigidBody whole;
    whole.mass = body.mass_properties().mass;
    m_loads.push_back(rigid::make_carried_surface(scene, body, whole, 0).loads);
  }
  m_first.push_back(all.size());
  m_turned.assign(m_bodies.size(), 0);
  m_weak_places.resize(m_bodies.size());
  if (settings.dent) m_dents.emplace(scene, *settings.dent);
  put_into_simulation(std::move(all));
  refresh_skins();
}

// Weights depend on the body's own shape and skeleton only: many equal bodies share them.
const BodyWeights& BendMethod::weights_for(std::size_t s, const Skeleton& skeleton) {
  const Body& body = m_scene.bodies[s];
  Points own(body.surface().vertices.rows() + 2 * static_cast<Eigen::Index>(skeleton.bones.size()), 3);
  own.topRows(body.surface().vertices.rows()) = body.surface().vertices;
  Eigen::Index row = body.surface().vertices.rows();
  for (const Bone& bone : skeleton.bones) {
    own.row(row++) = bone.a.transpose();
    own.row(row++) = bone.b.transpose();
  }
  const Eigen::Isometry3d back = body.placement().inverse();
  own = (own * back.linear().transpose()).rowwise() + back.translation().transpose();
  for (const auto& [shape, weights] : m_weights) {
    if (shape.rows() == own.rows() && (shape - own).cwiseAbs().maxCoeff() < 1e-9) return weights;
  }
  try {
    // Several bones are checked where their weights are made; the default bone may leave a curved body.
    if (skeleton.bones.size() == 1 && body.settings().skeleton) check_bones(body, skeleton.bones);
    m_weights.emplace_back(std::move(own), bone_weights(body, skeleton.bones));
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem.path = fmt::format("bodies[{}].skeleton.{}", s, problem.path);
    throw InputError(problems);
  }
  return m_weights.back().second;
}

BendingBody BendMethod::make_body(std::size_t s) {
  const Body& body = m_scene.bodies[s];
  const bool bends = bendable(body, m_settings);
  const Skeleton skeleton =
      bends ? skeleton_for(body) : longest_axis_skeleton({body.initial_surface(), body.surface().triangles});
  std::optional<double> strength = m_settings.strength;
  if (body.settings().skeleton && body.settings().skeleton->strength)
    strength = body.settings().skeleton->strength;
  ArticulatedBody articulated(body, skeleton, weights_for(s, skeleton), strength, bends);
  for (std::size_t b = 0; b < articulated.bones().size(); ++b) {
    if (articulated.bone_mass(b).mass > 0) continue;
    throw InputError(Problem{"", fmt::format("bodies[{}].skeleton.bones[{}]", s, b),
                             "no part of the body's volume goes with this bone"});
  }
  const std::optional<Vec3> held = held_point(body);
  const bool always_open = !m_settings.condense || m_settings.elastic;
  return BendingBody(std::move(articulated), held, always_open);
}

std::vector<RigidState> BendMethod::cluster_states(std::size_t body) const {
  std::vector<RigidState> states;
  for (std::size_t k = m_first[body]; k < m_first[body + 1]; ++k)
    states.push_back(m_simulation.object_state(k));
  return states;
}

// New rigid bodies for the bodies that changed, the old ones for the others. What is merged loses the energy of its parts'
// motion against each other, as in a plastic impact.
void BendMethod::rebuild(const std::vector<char>& changed) {
  const double energy = m_simulation.total_energy();
  std::vector<std::vector<RigidState>> states;
  for (std::size_t s = 0; s < m_bodies.size(); ++s)
    states.push_back(changed[s] ? cluster_states(s) : std::vector<RigidState>());
  std::vector<rigid::RigidBody> old = m_simulation.take_bodies(), all;
  std::vector<std::size_t> first;
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    first.push_back(all.size());
    if (changed[s]) {
      for (rigid::RigidBody& part : m_bodies[s].rebuild(states[s], static_cast<int>(s), m_settings.collision))
        all.push_back(std::move(part));
      m_turned[s] = 0;
    } else {
      for (std::size_t k = m_first[s]; k < m_first[s + 1]; ++k) all.push_back(std::move(old[k]));
    }
  }
  first.push_back(all.size());
  m_first = std::move(first);
  put_into_simulation(std::move(all));
  m_dissipated += energy - m_simulation.total_energy();
  if (!m_scene.loads.empty() || !m_scene.pulls.empty()) refresh_skins();
}

void BendMethod::put_into_simulation(std::vector<rigid::RigidBody> bodies) {
  std::vector<rigid::Joint> joints;
  m_joint_of.clear();
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    std::vector<RigidState> states;
    for (std::size_t k = m_first[s]; k < m_first[s + 1]; ++k) states.push_back(bodies[k].state);
    for (std::size_t j = 0; j < m_bodies[s].joints().size(); ++j) {
      if (!m_bodies[s].joints()[j].open || m_bodies[s].joints()[j].broken) continue;
      joints.push_back(m_bodies[s].simulation_joint(j, states, static_cast<int>(m_first[s]),
                                                    m_settings.damping, m_settings.elastic.has_value()));
      m_joint_of.emplace_back(s, j);
    }
  }
  m_simulation.set_bodies(std::move(bodies), std::move(joints));
}

void BendMethod::refresh_skins() {
  const Stopwatch watch;
  for (std::size_t s = 0; s < m_bodies.size(); ++s)
    m_simulation.set_surface(s,
                             m_bodies[s].skin(cluster_states(s), static_cast<int>(m_first[s]), m_loads[s]));
  m_skinning_seconds += watch.seconds();
}

// Axes and limits of the joints as they move now.
void BendMethod::before_tick(double dt) {
  m_late_kicks.assign(m_joint_of.size(), Vec3::Zero());
  for (std::size_t i = 0; i < m_joint_of.size(); ++i) {
    const auto [s, j] = m_joint_of[i];
    m_simulation.set_joint(i,
                           m_bodies[s].simulation_joint(j, cluster_states(s), static_cast<int>(m_first[s]),
                                                        m_settings.damping, m_settings.elastic.has_value()));
    if (m_settings.elastic) apply_spring(i, dt);
  }
}

JointSide BendMethod::side_of(int object, const Vec3& pivot) const {
  const rigid::RigidBody& body = m_simulation.bodies()[static_cast<std::size_t>(object)];
  const Mat3 axes = body.state.orientation.toRotationMatrix();
  JointSide side;
  side.arm = axes * pivot;
  if (m_simulation.is_held(body)) return side;
  side.inverse_mass = 1 / body.mass;
  side.inverse_inertia = axes * body.frame.inertia.cwiseInverse().asDiagonal() * axes.transpose();
  return side;
}

// The torsional spring (§4.3) as a torque over the tick that ends at the exact angle. Two departures from the paper:
// It acts about one axis, that of the relative rotation. A twist that had grown from rounding then took that axis for
// itself, and the bend was not held any more: a plank crept to twelve times its deflection. Here the spring acts about
// all three axes in which the reduced inertia is diagonal, where the equation falls apart into three of one angle.
// And it leaves the joint with the mean rate of the tick instead of the rate at its end, which damps every swing by a
// sixth of (ω dt)² a tick and lets a weight hang twice as low as its spring allows: what is missing from the exact rate
// is given after the tick.
void BendMethod::apply_spring(std::size_t i, double dt) {
  m_late_kicks[i].setZero();
  const auto [s, j] = m_joint_of[i];
  const rigid::Joint& joint = m_simulation.joints()[i];
  const BoneJoint& ends = m_bodies[s].articulated().joints()[j];
  const Mat3 world = m_bodies[s].poses()[static_cast<std::size_t>(ends.a)].linear();
  const Vec3 deflection =
      world * log_rotation(m_bodies[s].turn(j) * m_bodies[s].joints()[j].held.conjugate());
  const Vec3 rate = m_simulation.object_state(static_cast<std::size_t>(joint.b)).angular_velocity -
                    m_simulation.object_state(static_cast<std::size_t>(joint.a)).angular_velocity;
  const JointSide a = side_of(joint.a, joint.pivot_a), b = side_of(joint.b, joint.pivot_b);
  const Vec3 falling = turning_under(a, b, m_scene.gravity);
  const Eigen::SelfAdjointEigenSolver<Mat3> response(turning_response(a, b));
  Vec3 impulse = Vec3::Zero(), late = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    if (!(response.eigenvalues()[k] > 0)) continue;  // both are held
    const Vec3 axis = response.eigenvectors().col(k);
    Oscillator spring;
    spring.inertia = 1 / response.eigenvalues()[k];
    spring.stiffness = m_settings.elastic->stiffness;
    spring.damping = m_settings.elastic->damping;
    spring.torque = spring.inertia * falling.dot(axis);
    const OscillatorState now{deflection.dot(axis), rate.dot(axis)}, next = advanced(spring, now, dt);
    // The weight acts by itself.
    impulse += (spring_impulse(spring, now, dt) - dt * spring.torque) * axis;
    late += spring.inertia * (next.rate - (next.angle - now.angle) / dt) * axis;
  }
  if (impulse.isZero(0)) return;
  const Vec3 direction = impulse.normalized();
  const double most = dt * m_bodies[s].articulated().strength(j).along(world.transpose() * direction);
  if (impulse.norm() > most) {
    impulse = most * direction;
  } else {
    m_late_kicks[i] = late;
  }
  m_simulation.apply(static_cast<std::size_t>(joint.b), Vec3::Zero(), impulse / dt);
  m_simulation.apply(static_cast<std::size_t>(joint.a), Vec3::Zero(), -impulse / dt);
}

void BendMethod::apply_deferred_impulse(std::size_t i) {
  if (m_late_kicks[i].isZero(0)) return;
  const rigid::Joint& joint = m_simulation.joints()[i];
  const JointSide a = side_of(joint.a, joint.pivot_a), b = side_of(joint.b, joint.pivot_b);
  const Vec3 kick = std::exchange(m_late_kicks[i], Vec3::Zero()), push = holding_impulse(a, b, kick);
  const auto give = [&](int object, const JointSide& side, double sign) {
    if (side.inverse_mass == 0) return;
    RigidState state = m_simulation.object_state(static_cast<std::size_t>(object));
    state.velocity += sign * side.inverse_mass * push;
    state.angular_velocity += sign * side.inverse_inertia * (kick + side.arm.cross(push));
    m_simulation.set_state(static_cast<std::size_t>(object), state);
  };
  give(joint.a, a, -1);
  give(joint.b, b, 1);
}

// Contacts of the tick with their bones, for the bodies that were struck fast enough.
std::vector<std::vector<Hit>> BendMethod::hits_of_tick() const {
  std::vector<std::vector<Hit>> hits(m_bodies.size());
  std::vector<char> fast(m_bodies.size(), 0);
  for (const rigid::Contact& c : m_simulation.contacts()) {
    if (!(c.normal_impulse > 0)) continue;
    const double speed = -(c.velocity_a - c.velocity_b).dot(c.normal);
    for (const bool first : {true, false}) {
      const std::size_t object = static_cast<std::size_t>(first ? c.a : c.b);
      if (object >= m_simulation.bodies().size()) continue;
      const std::size_t s = static_cast<std::size_t>(m_simulation.bodies()[object].scene_body);
      hits[s].push_back({static_cast<int>(object - m_first[s]), 0, first ? c.point_a : c.point_b,
                         first ? c.impulse : Vec3(-c.impulse), speed, first ? c.b : c.a});
      fast[s] |= speed > m_settings.threshold;
    }
  }
  for (std::size_t s = 0; s < hits.size(); ++s) {
    if (!fast[s] && !may_yield(s) && !is_strained(s)) hits[s].clear();
  }
  return hits;
}

// Without a blow: what a support holds may give way under its own weight, and a turning joint moves what is beside it.
bool BendMethod::may_yield(std::size_t s) const {
  const std::vector<JointState>& joints = m_bodies[s].joints();
  const bool turning = std::any_of(joints.begin(), joints.end(), [](const JointState&j) { return j.open; }),
             all = std::all_of(joints.begin(), joints.end(), [](const JointState&j) { return j.open; });
  return !all && ((turning && !m_bodies[s].articulated().looped()) || is_strained(s));
}

// Held by a support, or loaded: its moments are known without a blow.
bool BendMethod::is_strained(std::size_t s) const {
  return m_bodies[s].support_bone() >= 0 || !m_simulation.point_forces(s).empty();
}

// Loads push on their bones as contacts do.
void BendMethod::add_loads(std::size_t s, double dt, std::vector<Hit>& hits) const {
  for (const rigid::PointForce& load : m_simulation.point_forces(s)) {
    Hit hit;
    hit.point = load.point;
    hit.impulse = dt * load.force;
    hit.other = -1;
    hit.vertex = load.vertex;
    hits.push_back(hit);
  }
}

// Outside of what the support holds.
void BendMethod::find_weak_places(std::size_t s) {
  const ArticulatedBody& articulated = m_bodies[s].articulated();
  const Body& body = articulated.body();
  for (std::size_t b = 0; b < articulated.bones().size(); ++b) {
    double low = 1, high = 0;
    if (static_cast<int>(b) == m_bodies[s].support_bone()) {
      for (const int v : select_nodes(body.supports().front().region, body.initial_surface())) {
        const double t = articulated.bones()[b].parameter(body.initial_surface().row(v));
        low = std::min(low, t);
        high = std::max(high, t);
      }
    }
    for (WeakPlace& place : articulated.weak_places(static_cast<int>(b))) {
      if (place.split.at < low || place.split.at > high) m_weak_places[s].push_back(std::move(place));
    }
  }
}

// A bone that bears more than its section holds, under a steady load: it is split where it is overloaded most. A skeleton
// that was given says itself where the body bends.
bool BendMethod::split_under_load(std::size_t s, const std::vector<Hit>& hits, const RehearsedTick& tick) {
  BendingBody& body = m_bodies[s];
  if (m_settings.elastic || body.articulated().body().settings().skeleton || body.articulated().looped() ||
      static_cast<int>(body.poses().size()) >= m_settings.most_bones)
    return false;
  if (m_weak_places[s].empty()) find_weak_places(s);
  const WeakPlace* worst = nullptr;
  double most = k_overloaded;
  for (const WeakPlace& place : m_weak_places[s]) {
    const double share = share_of_strength(body, place, hits, tick);
    if (share > most) most = share, worst = &place;
  }
  if (!worst) return false;
  body.split(worst->split);
  body.joints().back().open = true;
  return true;
}

// Open joints push on their bones as contacts do.
void BendMethod::add_joint_impulses(std::size_t s, std::vector<Hit>& hits) const {
  for (std::size_t i = 0; i < m_joint_of.size(); ++i) {
    if (m_joint_of[i].first != s) continue;
    const BoneJoint& joint = m_bodies[s].articulated().joints()[m_joint_of[i].second];
    const rigid::JointLoad load = m_simulation.joint_load(i);
    for (const bool on_b : {false, true}) {
      const double sign = on_b ? -1 : 1;
      Hit hit;
      hit.joint = static_cast<int>(m_joint_of[i].second);
      hit.on_b = on_b;
      hit.point = m_bodies[s].poses()[static_cast<std::size_t>(on_b ? joint.b : joint.a)] * joint.pivot;
      hit.impulse = sign * load.impulse;
      hit.turning = sign * load.angular_impulse;
      hits.push_back(hit);
    }
  }
}

void find_bones(const BendingBody& body, std::vector<Hit>& hits) {
  const bool touched =
      std::any_of(hits.begin(), hits.end(), [](const Hit& hit) { return hit.joint < 0 && hit.vertex < 0; });
  const Points surface = touched ? body.surface() : Points();
  for (Hit& hit : hits) {
    if (hit.joint >= 0) {
      const BoneJoint& joint = body.articulated().joints()[static_cast<std::size_t>(hit.joint)];
      hit.bone = hit.on_b ? joint.b : joint.a;
      continue;
    }
    if (hit.vertex >= 0) {
      hit.bone = body.articulated().bone_of_vertex(hit.vertex);
      continue;
    }
    Eigen::Index nearest = 0;
    (surface.rowwise() - hit.point.transpose()).rowwise().squaredNorm().minCoeff(&nearest);
    hit.bone = body.articulated().bone_of_vertex(nearest);
  }
}

// The middle of the fast contacts with each other object.
std::vector<Vec3> places_of(const std::vector<Hit>& hits, double threshold) {
  std::map<int, std::pair<Vec3, double>> sums;
  for (const Hit& hit : hits) {
    if (hit.speed <= threshold) continue;
    auto& [sum, weight] = sums.try_emplace(hit.other, Vec3::Zero(), 0.0).first->second;
    sum += hit.impulse.norm() * hit.point;
    weight += hit.impulse.norm();
  }
  std::vector<Vec3> places;
  for (const auto& [other, sum] : sums) places.push_back(sum.first / sum.second);
  return places;
}

// Dynamic articulation: the nearest bone is split where it was hit, if the new joint would yield at once.
bool BendMethod::split_for(BendingBody& body, const std::vector<Hit>& hits, const RehearsedTick& tick) const {
  bool changed = false;
  for (const Vec3& point : places_of(hits, m_settings.threshold)) {
    if (static_cast<int>(body.poses().size()) >= m_settings.most_bones) break;
    std::vector<Bone> now = body.articulated().bones();
    for (std::size_t b = 0; b < now.size(); ++b)
      now[b] = {body.poses()[b] * now[b].a, body.poses()[b] * now[b].b};
    const std::optional<BoneSplit> place = body.articulated().split_at(nearest_bone(now, point));
    if (!place) continue;
    BendingBody trial = body;
    trial.split(*place);
    if (!(trial.articulated().bone_mass(static_cast<std::size_t>(place->bone)).mass > 0) ||
        !(trial.articulated().bone_mass(trial.poses().size() - 1).mass > 0))
      continue;
    std::vector<Hit> again = hits;
    find_bones(trial, again);
    if (!(share_of_strength(trial, trial.joints().size() - 1, again, tick) > 1)) continue;
    trial.joints().back().open = true;
    body = std::move(trial);
    changed = true;
  }
  return changed;
}

// The joint that is most overloaded; those of a ring together; all that are overloaded when nothing else helped. One
// at a time, because a joint that gives way relieves its neighbours: a blow of a few milliseconds overloads every joint
// of a rigid arm, and few of them bend.
std::vector<std::size_t> BendMethod::joints_to_open(const BendingBody& body, const std::vector<Hit>& hits,
                                                    const RehearsedTick& tick) const {
  std::vector<std::size_t> found;
  std::optional<std::size_t> worst;
  double most = 1;
  const bool struck =
      std::any_of(hits.begin(), hits.end(), [&](const Hit& hit) { return hit.speed > m_settings.threshold; });
  for (std::size_t j = 0; j < body.joints().size(); ++j) {
    if (body.joints()[j].open) continue;
    const double share = share_of_strength(body, j, hits, tick);
    if (!(share > 1) || (!struck && !std::isfinite(share))) continue;
    if (!std::isfinite(share) || m_rehearsals + 1 == k_most_rehearsals) {
      found.push_back(j);
    } else if (share > most) {
      most = share;
      worst = j;
    }
  }
  if (worst && found.empty()) found.push_back(*worst);
  return found;
}

bool BendMethod::open_for(std::size_t s, const std::vector<Hit>& all, double dt) {
  BendingBody& body = m_bodies[s];
  RehearsedTick tick;
  tick.gravity = m_scene.gravity;
  tick.dt = dt;
  tick.after = cluster_states(s);
  for (std::size_t k = m_first[s]; k < m_first[s + 1]; ++k)
    tick.before.push_back(m_simulation.states_before()[k]);
  std::vector<Hit> hits = all;
  add_joint_impulses(s, hits);
  add_loads(s, dt, hits);
  find_bones(body, hits);
  const std::vector<std::size_t> overloaded = joints_to_open(body, hits, tick);
  const std::size_t bones = body.poses().size();
  bool changed = m_settings.dynamic && split_for(body, hits, tick);
  if (m_settings.dynamic && !changed && overloaded.empty() && is_strained(s))
    changed = split_under_load(s, hits, tick);
  if (body.poses().size() != bones) m_weak_places[s].clear();
  // A ring gives way only when all of it may turn.
  if (body.articulated().looped() && changed) {
    for (JointState& joint : body.joints()) joint.open = true;
  }
  if (changed) return true;
  for (const std::size_t j : overloaded) changed |= !std::exchange(body.joints()[j].open, true);
  return changed;
}

// A tick in which something is struck that has to give way is taken back and taken again with open joints.
bool BendMethod::rehearse(double dt) {
  const Stopwatch watch;
  if (m_rehearsals == k_most_rehearsals) {
    m_rehearsals = 0;
    return false;
  }
  const std::vector<std::vector<Hit>> hits = hits_of_tick();
  std::vector<char> changed(m_bodies.size(), 0);
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    const bool loaded = !hits[s].empty() || may_yield(s) || is_strained(s);
    if (loaded && m_bodies[s].articulated().bends()) changed[s] = open_for(s, hits[s], dt);
  }
  const bool any = std::find(changed.begin(), changed.end(), 1) != changed.end();
  m_rehearsals = any ? m_rehearsals + 1 : 0;
  if (any) {
    m_simulation.rewind();
    rebuild(changed);
  }
  m_bending_seconds += watch.seconds();
  return any;
}

// A joint that held all it can has turned: the new angle becomes the held one.
void BendMethod::watch_joint(std::size_t i, double dt) {
  const auto [s, j] = m_joint_of[i];
  BendingBody& body = m_bodies[s];
  JointState& state = body.joints()[j];
  const rigid::Joint& joint = m_simulation.joints()[i];
  const RigidState &a = m_simulation.object_state(static_cast<std::size_t>(joint.a)),
                   &b = m_simulation.object_state(static_cast<std::size_t>(joint.b));
  const double rate = (b.angular_velocity - a.angular_velocity).norm();
  const Vec3 moment = m_simulation.joint_load(i).angular_impulse / dt;
  const Mat3 axes =
      (m_simulation.states_before()[static_cast<std::size_t>(joint.a)].orientation * joint.frame_a)
          .toRotationMatrix();
  const Vec3 share = (axes.transpose() * moment).cwiseAbs().cwiseQuotient(joint.yield_moment);
  if (m_settings.elastic) {
    const Vec3 deflection = log_rotation(body.turn(j) * state.held.conjugate());
    const double most =
        deflection.norm() > 0
            ? body.articulated().strength(j).along(deflection.normalized()) / m_settings.elastic->stiffness
            : 1e300;
    if (deflection.norm() > most) {
      const double excess = deflection.norm() - most;
      state.turned += excess;
      m_dissipated += excess * most * m_settings.elastic->stiffness;
      state.held = exp_quaternion(deflection.normalized() * excess) * state.held;
    }
    m_damped += m_settings.elastic->damping * rate * rate * dt;
    m_turned[s] = 1;
    return;
  }
  state.demand = moment;
  if (share.maxCoeff() >= k_at_strength) {
    state.held = body.turn(j);
    state.turned += rate * dt;
    m_turned[s] = 1;
  }
  // Below its strength a joint holds: what it turns then is an error of the solver. A slow one at its strength has come to rest,
  // unless a steady load has only begun to turn it.
  const bool holds = (rate < m_settings.settle_rate && !is_strained(s)) || share.maxCoeff() < k_at_strength;
  state.still = holds ? state.still + dt : 0;
}

// Pieces part at a joint that carries too much or has turned too far; see rigidplastic/fracture/joints.h.
void BendMethod::watch_break(std::size_t i, double dt) {
  const auto [s, j] = m_joint_of[i];
  BendingBody& body = m_bodies[s];
  if (!body.articulated().may_break(j)) return;
  JointState& state = body.joints()[j];
  const rigid::JointLoad load = m_simulation.joint_load(i);
  const double kept = std::exp(-dt / k_break_window);
  state.impulse = kept * state.impulse + load.impulse;
  state.angular_impulse = kept * state.angular_impulse + load.angular_impulse;
  rigid::BreakableJoint carried;
  carried.impulse = state.impulse;
  carried.angular_impulse = state.angular_impulse;
  carried.area = body.articulated().joint_area(j);
  const double yield =
      body.articulated().body().material().yield_stress.value_or(std::numeric_limits<double>::infinity());
  const double turned = body.bend_angle(j) * 180 / std::numbers::pi;
  if (carried.stress(k_break_window) > m_settings.break_stress.value_or(k_break_over_yield * yield) ||
      (m_settings.break_angle && turned > *m_settings.break_angle))
    body.break_joint(j);
}

void BendMethod::after_tick(double dt) {
  const Stopwatch watch;
  for (std::size_t s = 0; s < m_bodies.size(); ++s) m_bodies[s].follow(cluster_states(s));
  for (std::size_t i = 0; i < m_joint_of.size(); ++i) {
    watch_joint(i, dt);
    watch_break(i, dt);
    if (m_settings.elastic) apply_deferred_impulse(i);
  }
  std::vector<char> changed(m_bodies.size(), 0);
  if (m_dents) changed = m_dents->apply(m_simulation, m_bodies);
  for (const auto& [s, j] : m_joint_of) changed[s] |= m_bodies[s].joints()[j].broken;
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    if (m_bodies[s].always_open() || m_bodies[s].largest_gap() > m_widest_gap[s]) continue;
    for (std::size_t j = 0; j < m_bodies[s].joints().size(); ++j) {
      JointState& joint = m_bodies[s].joints()[j];
      if (!joint.open || joint.still < m_settings.settle_time || m_bodies[s].articulated().may_break(j))
        continue;
      joint.open = false;
      joint.still = 0;
      changed[s] = 1;
    }
  }
  if (std::find(changed.begin(), changed.end(), 1) != changed.end()) rebuild(changed);
  m_bending_seconds += watch.seconds();
}

StepReport BendMethod::advance(double until, const InterruptCheck& interrupted) {
  rigid::TickHooks hooks;
  hooks.before = [this](double dt) { before_tick(dt); };
  hooks.retry = [this](double dt) { return rehearse(dt); };
  hooks.after = [this](double dt) { after_tick(dt); };
  StepReport report = m_simulation.advance(until, interrupted, hooks);
  // The parts' shapes follow the skin once a frame.
  if (std::find(m_turned.begin(), m_turned.end(), 1) != m_turned.end()) {
    const Stopwatch watch;
    rebuild(m_turned);
    m_bending_seconds += watch.seconds();
  }
  refresh_skins();
  return report;
}

// The bones as lines.
Geometry skeleton_geometry(const std::vector<BendingBody>& bodies) {
  Geometry lines;
  lines.series = "skeleton";
  lines.kind = CellKind::lines;
  std::vector<Vec3> points;
  std::vector<int> body_of, cluster_of;
  for (std::size_t s = 0; s < bodies.size(); ++s) {
    for (std::size_t b = 0; b < bodies[s].poses().size(); ++b) {
      const Bone& bone = bodies[s].articulated().bones()[b];
      for (const Vec3& end : {bone.a, bone.b}) {
        lines.connectivity.push_back(static_cast<int>(points.size()));
        points.push_back(bodies[s].poses()[b] * end);
      }
      body_of.push_back(static_cast<int>(s));
      cluster_of.push_back(bodies[s].cluster_of(static_cast<int>(b)));
    }
  }
  lines.points.resize(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t p = 0; p < points.size(); ++p)
    lines.points.row(static_cast<Eigen::Index>(p)) = points[p].transpose();
  lines.arrays = {make_integer_array("body", Association::cell, body_of),
                  make_integer_array("cluster", Association::cell, cluster_of)};
  return lines;
}

// A body that has parted: the surfaces of its pieces.
Geometry BendMethod::piece_fields(std::size_t s) const {
  const BendingBody& body = m_bodies[s];
  const rigid::PieceSurfaces& surfaces = body.articulated().pieces();
  std::vector<int> carriers, fragments, bones;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const int bone = body.articulated().bone_in_piece(static_cast<int>(p));
    bones.push_back(bone);
    carriers.push_back(static_cast<int>(m_first[s]) + body.cluster_of(bone));
    fragments.push_back(body.parts()[static_cast<std::size_t>(bone)]);
  }
  Geometry part = rigid::moved_piece_geometry(surfaces, body.pieces(), static_cast<int>(s),
                                              m_simulation.bodies(), carriers, fragments);
  MatX of(surfaces.points.rows(), 1);
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p)
    of.middleRows(surfaces.pieces[p].begin, surfaces.pieces[p].end - surfaces.pieces[p].begin)
        .setConstant(bones[p]);
  part.arrays.push_back(make_array("bone", Association::point, of));
  return part;
}

std::vector<Geometry> BendMethod::fields() const {
  Geometry surface;
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    const BendingBody& body = m_bodies[s];
    Geometry part;
    if (body.is_broken()) {
      part = piece_fields(s);
    } else {
      const Points positions = m_simulation.surface(s);
      part = body_geometry(m_scene.bodies[s], static_cast<int>(s), positions);
      part.arrays.push_back(
          make_array("velocity", Association::point, m_simulation.surface_velocities(s, positions)));
      MatX of(body.articulated().surface().vertices.rows(), 1);
      for (Eigen::Index v = 0; v < of.rows(); ++v) of(v, 0) = body.articulated().bone_of_vertex(v);
      part.arrays.push_back(make_array("bone", Association::point, of));
    }
    if (s == 0) {
      surface = std::move(part);
    } else {
      append(surface, part);
    }
  }
  return {surface, skeleton_geometry(m_bodies)};
}

double BendMethod::elastic_energy() const {
  if (!m_settings.elastic) return 0;
  double sum = 0;
  for (const BendingBody& body : m_bodies) {
    for (std::size_t j = 0; j < body.joints().size(); ++j) {
      const JointState& joint = body.joints()[j];
      if (!joint.broken) sum += log_rotation(body.turn(j) * joint.held.conjugate()).squaredNorm();
    }
  }
  return 0.5 * m_settings.elastic->stiffness * sum;
}

Diagnostics BendMethod::diagnostics() const {
  Diagnostics d = m_simulation.diagnostics();
  double bones = 0, open = 0, bent = 0, largest = 0, fragments = 0;
  for (const BendingBody& body : m_bodies) {
    bones += static_cast<double>(body.poses().size());
    for (const JointState& joint : body.joints()) open += joint.open && !joint.broken;
    for (std::size_t j = 0; j < body.joints().size(); ++j)
      bent += !body.joints()[j].broken && body.bend_angle(j) > k_visible_bend;
    fragments += static_cast<double>(std::set<int>(body.parts().begin(), body.parts().end()).size());
    largest = std::max(largest, body.largest_angle());
  }
  d.plastic_measure = largest;
  d.elastic_energy = elastic_energy();
  d.damping_dissipation = m_damped;
  d.numerical_dissipation -= m_dissipated + m_damped + d.elastic_energy;
  // What a dent takes, the simulation sees go in the contact.
  const double dented = m_dents ? m_dents->dissipated() : 0;
  d.plastic_dissipation += m_dissipated + dented;
  d.contact_dissipation -= dented;
  d.extra = {{"bones", "", bones},
             {"open_joints", "", open},
             {"bent_joints", "", bent},
             {"bend_angle", "°", largest * 180 / std::numbers::pi},
             {"rigid_bodies", "", static_cast<double>(m_first.back())},
             {"fragments", "", fragments},
             {"different_bends", "", static_cast<double>(different_bends(m_bodies, k_visible_bend))}};
  if (!m_dents) return d;
  d.extra.push_back({"dents", "", static_cast<double>(m_dents->count())});
  d.extra.push_back({"deepest_dent", "m", m_dents->deepest()});
  return d;
}

State BendMethod::state() const {
  State state{m_simulation.state(), {}, {}, m_dissipated, m_damped};
  for (const BendingBody& body : m_bodies) state.bodies.push_back(body.state());
  if (m_dents) state.dents = m_dents->state();
  return state;
}

// Rigid bodies, joints and skins follow from the state.
void BendMethod::restore(const State& state) {
  if (state.bodies.size() != m_bodies.size() || state.dents.has_value() != m_dents.has_value())
    throw InputError("the saved state belongs to other bodies");
  m_dissipated = state.dissipated;
  m_damped = state.damped;
  if (m_dents) m_dents->restore(*state.dents);
  std::vector<rigid::RigidBody> all;
  m_first.clear();
  for (std::size_t s = 0; s < m_bodies.size(); ++s) {
    m_bodies[s] = make_body(s);
    m_bodies[s].restore(state.bodies[s]);
    m_weak_places[s].clear();
    m_first.push_back(all.size());
    for (rigid::RigidBody& part : m_bodies[s].reloaded(static_cast<int>(s), m_settings.collision))
      all.push_back(std::move(part));
  }
  m_first.push_back(all.size());
  m_turned.assign(m_bodies.size(), 0);
  put_into_simulation(std::move(all));
  m_simulation.restore(state.simulation);
  refresh_skins();
}

Notes BendMethod::notes() const {
  Notes notes = m_simulation.support_notes();
  int count = 0;
  for (const BendingBody& body : m_bodies) {
    const ArticulatedBody& articulated = body.articulated();
    count += articulated.bends();
    std::string text = fmt::format("{}: {} bone{}", articulated.body().name(), articulated.bones().size(),
                                   articulated.bones().size() == 1 ? "" : "s");
    if (!articulated.bends())
      text =
          fmt::format("{}: has no yield stress and no strength: it does not bend", articulated.body().name());
    if (!articulated.joints().empty())
      text += fmt::format(", joints yield at {:.4g} N m and more", articulated.strength(0).moment.minCoeff());
    if (body.support_bone() >= 0)
      text += fmt::format("; the support holds the part of bone {}", body.support_bone());
    if (m_bodies.size() <= 12) notes.push_back({Severity::note, text});
  }
  if (count == 0)
    notes.push_back(
        {Severity::warning, "no body can bend: none has a yield stress, and no strength is given"});
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<BendMethod>(scene, settings);
}

}  // namespace exemplar::bend
