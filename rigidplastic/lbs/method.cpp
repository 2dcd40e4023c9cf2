#include "rigidplastic/lbs/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/output/described_state.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "rigidplastic/fracture/held_pieces.h"
#include "rigidplastic/lbs/lbs_body.h"
#include "rigidplastic/lbs/outcome.h"
#include "rigidplastic/lbs/patches.h"
#include "rigidplastic/lbs/piece_fields.h"
#include "rigidplastic/lbs/restitution.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::lbs {

namespace {

using rigid::BodyFrame;
using rigid::RigidBody;
using rigid::Simulation;

constexpr double k_patch_reach = 0.5;       // of γ, between the points of one contact patch
constexpr std::size_t k_listed_bodies = 6;  // in the notes
constexpr double k_deformed = 0.01;         // weight of an example from which a body counts as deformed

// Which piece of which body a rigid body is.
struct Owner {
  std::size_t body = 0, piece = 0;
};

struct State {
  rigid::SimulationState simulation;
  std::vector<std::optional<DeformableState>> deformables;  // one per body; none: it never yields
  std::vector<Blows> blows;
  std::vector<rigid::BreakableJoint> joints;

  static constexpr auto described() {
    return std::tuple(member("simulation", &State::simulation), member("deformables", &State::deformables),
                      member("blows", &State::blows), member("joints", &State::joints));
  }
};

class LbsMethod : public Method {
 public:
  LbsMethod(const Scene& scene, const Settings& settings);

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
  PhaseTimes phase_times() const override;
  Notes notes() const override;

 private:
  void make_bodies();
  void make_simulation();
  void join_pieces();
  void calibrate();
  Parameters parameters_of(const LbsBody& body) const;
  void after_tick(double dt);
  void hit(int object, const Vec3& impulse, const Vec3& point, double dt);
  double reach(int a, int b) const;
  void settle(double dt);
  void reshape(std::size_t rigid, const BodyFrame& frame);
  void carry_surface(std::size_t b);
  void update_restitution(double dt);
  void break_joints(double dt);
  void set_components();
  bool is_broken(const LbsBody& body) const;
  State state() const;
  void restore(State state);

  const Scene& m_scene;
  Settings m_settings;
  Simulation m_simulation;
  std::vector<LbsBody> m_bodies;
  std::vector<Owner> m_owners;  // of the rigid bodies
  rigid::BreakableJoints m_joints;
  std::vector<int> m_components;  // of the rigid bodies
  Notes m_rig_notes;
  double m_deformation_seconds = 0, m_dry_run_seconds = 0;
};

LbsMethod::LbsMethod(const Scene& scene, const Settings& settings)
    : m_scene(scene),
      m_settings(settings),
      m_simulation(scene, {settings.max_step, settings.solver_iterations}),
      m_joints(settings.reference_time) {
  make_bodies();
  make_simulation();
  join_pieces();
  calibrate();
}

void LbsMethod::make_bodies() {
  std::map<std::string, SharedRig> rigs;  // copies of a body share theirs
  for (const Body& body : m_scene.bodies) {
    const bool yields = body.material().yield_stress.has_value();
    if (yields && !rigs.contains(body.path())) rigs.emplace(body.path(), make_shared_rig(body));
    m_bodies.push_back(make_lbs_body(body, yields ? &rigs.at(body.path()) : nullptr, m_settings.paper));
  }
  for (const auto& [path, rig] : rigs)
    m_rig_notes.insert(m_rig_notes.end(), rig.rig.notes.begin(), rig.rig.notes.end());
}

void LbsMethod::make_simulation() {
  std::vector<RigidBody> all;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_bodies[b].first = static_cast<int>(all.size());
    std::vector<RigidBody> made =
        rigid::make_piece_bodies(m_scene.bodies[b], m_bodies[b].surfaces, m_bodies[b].points(),
                                 static_cast<int>(b), m_settings.collision);
    for (std::size_t p = 0; p < made.size(); ++p) {
      m_owners.push_back({b, p});
      all.push_back(std::move(made[p]));
    }
  }
  m_simulation.set_bodies(std::move(all), {});
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_simulation.set_surface(
        b, rigid::loaded_surface(m_scene, m_simulation.bodies(), m_bodies[b].first, m_bodies[b].pieces()));
    if (m_bodies[b].pieces() > 1) carry_surface(b);
    if (!m_bodies[b].deformable || !m_bodies[b].body->settings().initial_pose) continue;
    for (std::size_t p = 0; p < m_bodies[b].pieces(); ++p) {
      const auto rigid = static_cast<std::size_t>(m_bodies[b].first) + p;
      reshape(rigid, m_bodies[b].frame(p, m_simulation.bodies()[rigid]));
    }
    carry_surface(b);
  }
  rigid::allow_first_overlaps(m_simulation);
}

void LbsMethod::join_pieces() {
  for (const LbsBody& body : m_bodies) {
    const double strength = m_settings.strength.value_or(
        body.body->material().yield_stress.value_or(std::numeric_limits<double>::infinity()));
    for (const Cut& cut : body.cuts)
      m_joints.add(m_simulation.bodies(), body.first + cut.a, body.first + cut.b, cut.centre, cut.area,
                   strength);
  }
  m_components = m_joints.components(m_owners.size());
  if (!m_joints.empty()) set_components();
}

// Pieces that hold together do not collide with each other; distances on the surface run across their seams.
void LbsMethod::set_components() {
  m_components = m_joints.components(m_owners.size());
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    if (m_bodies[m_owners[r].body].pieces() > 1) m_simulation.set_component(r, m_components[r]);
  }
  m_simulation.set_joints(m_joints.holding());
}

Parameters LbsMethod::parameters_of(const LbsBody& body) const {
  Parameters p;
  p.alpha = body.calibration.alpha;
  p.beta = body.calibration.beta;
  p.gamma = body.calibration.gamma;
  p.lambda = m_settings.lambda;
  p.reference_time = m_settings.reference_time;
  p.projection = m_settings.projection;
  p.paper = m_settings.paper;
  return p;
}

void LbsMethod::calibrate() {
  const Stopwatch watch;
  std::vector<CalibrationInput> inputs;
  for (const LbsBody& body : m_bodies) {
    CalibrationInput& input = inputs.emplace_back();
    if (!body.deformable) continue;
    input.skin = &body.deformable->skin();
    input.facts = facts_of(*body.body, m_scene.gravity.norm(), *input.skin, body.surfaces.edges);
  }
  const std::vector<Calibration> chosen = calibrated(m_scene, inputs, m_settings, k_patch_reach);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_bodies[b].calibration = chosen[b];
    if (m_bodies[b].deformable) m_bodies[b].deformable->set_parameters(parameters_of(m_bodies[b]));
  }
  m_dry_run_seconds = watch.seconds();
}

StepReport LbsMethod::advance(double until, const InterruptCheck& interrupted) {
  for (LbsBody& body : m_bodies) body.blows.recent.setZero();
  rigid::TickHooks hooks;
  hooks.after = [this](double dt) {
    const Stopwatch watch;
    after_tick(dt);
    m_deformation_seconds += watch.seconds();
  };
  return m_simulation.advance(until, interrupted, hooks);
}

void LbsMethod::after_tick(double dt) {
  for (const Patch& patch :
       contact_patches(m_simulation.contacts(), [this](int a, int b) { return reach(a, b); })) {
    hit(patch.a, patch.impulse, patch.point_a, dt);
    hit(patch.b, -patch.impulse, patch.point_b, dt);
  }
  settle(dt);
  update_restitution(dt);
  if (m_joints.empty()) return;
  break_joints(dt);
  rigid::hold_pieces_together(m_simulation, m_components);
}

double LbsMethod::reach(int a, int b) const {
  if (m_settings.paper) return -1;
  double least = std::numeric_limits<double>::infinity();
  for (const int object : {a, b}) {
    if (object >= static_cast<int>(m_owners.size())) continue;
    const LbsBody& body = m_bodies[m_owners[static_cast<std::size_t>(object)].body];
    if (body.deformable) least = std::min(least, k_patch_reach * body.calibration.gamma);
  }
  return least;
}

// The log's points are where the bodies were before the tick.
void LbsMethod::hit(int object, const Vec3& impulse, const Vec3& point, double dt) {
  if (object >= static_cast<int>(m_owners.size())) return;
  const auto r = static_cast<std::size_t>(object);
  LbsBody& body = m_bodies[m_owners[r].body];
  if (!body.deformable || impulse.norm() <= body.calibration.beta) return;
  const RigidBody& rigid = m_simulation.bodies()[r];
  const RigidState& before = m_simulation.state_before(r);
  const Vec3 place = rigid.frame.centre + rigid.frame.axes * before.to_local(point);
  const Vec3 direction = rigid.frame.axes * (before.orientation.conjugate() * impulse);
  const rigid::PieceSurface& piece = body.surfaces.pieces[m_owners[r].piece];
  const int vertex = body.deformable->nearest_vertex(place, piece.begin, piece.end);
  body.deformable->hit(vertex, direction, rigid.mass, dt);
  body.blows.struck.row(vertex) += direction.transpose();
  body.blows.recent.row(vertex) += impulse.transpose();
}

void LbsMethod::settle(double dt) {
  std::vector<char> moved(m_bodies.size(), 0);
  std::vector<BodyFrame> frames(m_owners.size());
  parallel_for(
      m_bodies.size(),
      [&](std::size_t b) {
        if (!m_bodies[b].deformable) return;
        moved[b] = m_bodies[b].deformable->settle(dt);
        if (!moved[b]) return;
        for (std::size_t p = 0; p < m_bodies[b].pieces(); ++p) {
          const auto rigid = static_cast<std::size_t>(m_bodies[b].first) + p;
          frames[rigid] = m_bodies[b].frame(p, m_simulation.bodies()[rigid]);
        }
      },
      1);
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    if (moved[m_owners[r].body]) reshape(r, frames[r]);
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (moved[b]) carry_surface(b);
  }
}

void LbsMethod::reshape(std::size_t rigid, const BodyFrame& frame) {
  const LbsBody& body = m_bodies[m_owners[rigid].body];
  if (body.pieces() > 1) {
    m_joints.follow(static_cast<int>(rigid), m_simulation.bodies()[rigid].frame, frame);
    const std::vector<rigid::Joint> holding = m_joints.holding();
    for (std::size_t j = 0; j < holding.size(); ++j) m_simulation.set_joint(j, holding[j]);
  }
  m_simulation.reshape(rigid, frame, frame.to_local(body.collision_points(m_owners[rigid].piece)));
}

// The input's vertices follow the pieces they belong to.
void LbsMethod::carry_surface(std::size_t b) {
  const LbsBody& body = m_bodies[b];
  m_simulation.set_surface(b, rigid::carried_by_pieces(body.surfaces, body.points(), m_simulation.bodies(),
                                                       body.first, m_simulation.surfaces()[b].loads));
}

void LbsMethod::update_restitution(double dt) {
  for (std::size_t r = 0; r < m_owners.size(); ++r) {
    const LbsBody& body = m_bodies[m_owners[r].body];
    if (!body.deformable) continue;
    const RigidBody& rigid = m_simulation.bodies()[r];
    const double scale = m_settings.paper ? 1 : std::sqrt(static_cast<double>(body.points().rows()));
    const double next =
        next_restitution_factor(rigid.restitution_factor, rigid.restitution,
                                body.deformable->pending() / scale, m_settings.mu, m_settings.nu, dt);
    if (next != rigid.restitution_factor) m_simulation.set_restitution_factor(r, next);
  }
}

void LbsMethod::break_joints(double dt) {
  if (!m_joints.update(m_simulation, dt)) return;
  set_components();
  for (LbsBody& body : m_bodies) {
    if (body.pieces() > 1 && body.deformable) body.deformable->cut(body.connected_edges(m_components));
  }
}

bool LbsMethod::is_broken(const LbsBody& body) const {
  for (std::size_t p = 0; p < body.pieces(); ++p) {
    const auto first = static_cast<std::size_t>(body.first);
    if (m_components[first + p] != m_components[first]) return true;
  }
  return false;
}

std::vector<Geometry> LbsMethod::fields() const {
  Geometry whole;
  std::set<std::string> names;
  for (const LbsBody& body : m_bodies) names.insert(body.examples.begin(), body.examples.end());
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const LbsBody& body = m_bodies[b];
    Geometry part = is_broken(body)
                        ? piece_geometry(body, static_cast<int>(b), m_simulation.bodies(), m_components)
                        : whole_geometry(body, static_cast<int>(b), m_simulation);
    add_weights(part, body, names, is_broken(body));
    if (b == 0) {
      whole = std::move(part);
    } else {
      append(whole, part);
    }
  }
  std::vector<Geometry> all{std::move(whole)};
  Geometry handles = handle_geometry(m_bodies, m_simulation.bodies());
  if (handles.points.rows() > 0) all.push_back(std::move(handles));
  return all;
}

Diagnostics LbsMethod::diagnostics() const {
  Diagnostics d = m_simulation.diagnostics();
  d.plastic_dissipation = k_unknown;  // what contact takes and what deformation takes is one loss here
  double deformed = 0, share = 0;
  for (const LbsBody& body : m_bodies) {
    if (!body.deformable) continue;
    const double largest = body.deformable->largest_weight();
    d.plastic_measure = std::max(d.plastic_measure, largest);
    deformed += largest > k_deformed;
    share += 1 - body.deformable->mean_weight(0);
  }
  const std::set<int> parts(m_components.begin(), m_components.end());
  d.extra.push_back({"deformed_bodies", "", deformed});
  d.extra.push_back({"example_share", "", share / static_cast<double>(m_bodies.size())});
  d.extra.push_back({"fragments", "", static_cast<double>(parts.size())});
  d.extra.push_back({"struck_depth", "m", struck_depth(m_bodies)});
  d.extra.push_back({"shape_variety", "m", shape_variety(m_bodies)});
  for (Metric& weight : mean_weights(m_bodies)) d.extra.push_back(std::move(weight));
  return d;
}

State LbsMethod::state() const {
  State state{m_simulation.state(), {}, {}, m_joints.joints()};
  for (const LbsBody& body : m_bodies) {
    state.blows.push_back(body.blows);
    state.deformables.emplace_back();
    if (body.deformable) state.deformables.back() = body.deformable->state();
  }
  return state;
}

// Collision shapes, carried surfaces and distances along the surface follow from the state.
void LbsMethod::restore(State state) {
  if (state.blows.size() != m_bodies.size() || state.deformables.size() != m_bodies.size())
    throw InputError("the saved state belongs to other bodies");
  m_simulation.restore(state.simulation);
  m_joints.restore(std::move(state.joints));
  if (!m_joints.empty()) set_components();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    LbsBody& body = m_bodies[b];
    body.blows = std::move(state.blows[b]);
    if (!body.deformable) continue;
    body.deformable->restore(std::move(state.deformables[b].value()));
    if (body.pieces() > 1) body.deformable->cut(body.connected_edges(m_components));
    for (std::size_t p = 0; p < body.pieces(); ++p) {
      const auto rigid = static_cast<std::size_t>(body.first) + p;
      m_simulation.restore_shape(rigid,
                                 m_simulation.bodies()[rigid].frame.to_local(body.collision_points(p)));
    }
    carry_surface(b);
  }
}

PhaseTimes LbsMethod::phase_times() const {
  return {{"bullet", m_simulation.bullet_seconds()},
          {"deformation", m_deformation_seconds},
          {"dry_run", m_dry_run_seconds}};
}

std::string described(const LbsBody& body, const Settings& settings) {
  if (!body.deformable) return fmt::format("{}: never yields, stays rigid", body.body->name());
  const Calibration& c = body.calibration;
  auto chosen = [](const std::optional<double>& given) { return given ? "" : " (chosen)"; };
  std::string text =
      fmt::format("{}: {} vertices, {} bones; α = {:.3g} /m{}, β = {:.3g} N s{}, γ = {:.3g} m{}",
                  body.body->name(), body.points().rows(), body.deformable->skin().bones(), c.alpha,
                  chosen(settings.alpha), c.beta, chosen(settings.beta), c.gamma, chosen(settings.gamma));
  if (!settings.alpha) text += fmt::format("; largest impulse of the dry run {:.3g} N s", c.largest_impulse);
  if (!settings.alpha && c.largest_impulse <= c.beta) text += ", not above β: no blow deforms it";
  if (body.pieces() > 1) text += fmt::format("; {} pieces", body.pieces());
  return text;
}

Notes LbsMethod::notes() const {
  Notes notes;
  for (std::size_t b = 0; b < std::min(m_bodies.size(), k_listed_bodies); ++b)
    notes.push_back({Severity::note, described(m_bodies[b], m_settings)});
  if (m_bodies.size() > k_listed_bodies)
    notes.push_back({Severity::note, fmt::format("and {} more bodies", m_bodies.size() - k_listed_bodies)});
  for (const LbsBody& body : m_bodies) {
    if (!body.deformable || std::find(body.follows.begin(), body.follows.end(), 0) == body.follows.end())
      continue;
    notes.push_back(
        {Severity::warning,
         fmt::format("{}: the surface is not closed, so mass properties do not follow the deformation",
                     body.body->name())});
  }
  notes.insert(notes.end(), m_rig_notes.begin(), m_rig_notes.end());
  for (Note& note : m_simulation.support_notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<LbsMethod>(scene, settings);
}

}  // namespace exemplar::lbs
