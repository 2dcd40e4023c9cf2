#include "meshless/mass_spring/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/contact/carried_actions.h"
#include "core/contact/carried_pulls.h"
#include "core/output/described_state.h"
#include "core/run/body_watch.h"
#include "core/run/carried_bodies.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "core/scene/sheet_surface.h"

namespace exemplar::mass_spring {

namespace {

constexpr double k_farthest_move = 0.25;  // of a spring's length in a step, constraints only

struct SceneBody {
  const Body* body = nullptr;
  std::unique_ptr<SpringBody> springs;
  CarriedPoints surface, contact_points;
  std::vector<int>
      outer_nodes;      // of the cage, outside the surface: no contact points while the tets around them hold
  int first_loose = 0;  // of the contact points that are loose nodes
  int broken_before = 0;  // springs, when the loose nodes were looked for
  SupportSet supports;
  CarriedLoads loads;
  CarriedPulls pulls;
  double contact_margin = 0;  // m
  double softened = 1.0;      // factor on the stiffness, < 1 where the steps could not carry the material's
};

Network network_of(const Body& body, const SheetSurface& sheet, const Settings& settings) {
  NetworkOptions options;
  options.young = body.material().young;
  options.density = body.material().density;
  options.rule = settings.stiffness;
  options.spring_constant = settings.spring_constant;
  options.cross_share = settings.cross_share;
  if (!body.is_sheet()) return make_tet_network(body.volume().mesh, body.volume().fill, options);
  options.thickness = body.settings().thickness;
  return make_sheet_network(sheet.mesh, options);
}

// Strain at which the energy stored over one spring's length is that of a crack: ½ E ε² l = G. Softened springs are strained
// more by the same blow, as is their limit: with the material's own, a box of aluminium that fell at 9.5 m/s onto springs of
// 7e-6 of its stiffness lost every one of them.
double strain_limit(const Body& body, const Settings& settings, const Network& network, double softened) {
  if (settings.strain_limit > 0.0 || !body.material().fracture_energy) return settings.strain_limit;
  return std::sqrt(2.0 * *body.material().fracture_energy /
                   (softened * body.material().young * network.rest_lengths.mean()));
}

SceneBody make_scene_body(const Scene& scene, const Body& body, const Settings& settings) {
  SceneBody out;
  out.body = &body;
  const SheetSurface sheet = body.is_sheet() ? sheet_surface(body) : SheetSurface();
  Network network = network_of(body, sheet, settings);
  SpringOptions options;
  options.integration = settings.integration;
  options.damping_ratio = settings.damping_ratio;
  options.damping_time = body.material().damping;
  options.air_drag = settings.air_drag;
  options.iterations = settings.iterations;
  const double stable = SpringBody(network, options).stable_step(),
               needed = scene.step() / settings.max_substeps;
  if (stable < needed) out.softened = stable * stable / (needed * needed);
  network.stiffness *= out.softened;
  network.guard.stiffness *= out.softened;
  options.strain_limit = strain_limit(body, settings, network, out.softened);
  const VecX masses = network.masses;
  out.springs = std::make_unique<SpringBody>(std::move(network), options, scene.gravity.norm());
  SpringBody& springs = *out.springs;
  springs.positions = body.is_sheet() ? sheet.simulated(body.initial_surface()) : body.initial_volume();
  for (Eigen::Index i = 0; i < springs.positions.rows(); ++i)
    springs.velocities.row(i) = body.initial_velocity(springs.positions.row(i).transpose()).transpose();
  out.surface =
      body.is_sheet() ? sheet.vertices : carried_by_tets(body.volume().surface, body.volume().mesh.tets);
  out.contact_points =
      with_triangle_samples(out.surface, body.surface(), contact_sample_spacing(scene.obstacles));
  if (!body.is_sheet()) {
    const std::vector<int> inner = inner_particles(body.surface(), springs.network().rest_positions);
    for (const int node : inner) add_particle(node, out.contact_points);
    for (int node = 0, next = 0; node < to_int(springs.positions.rows()); ++node) {
      if (next < to_int(inner.size()) && inner[to_size(next)] == node) {
        ++next;
      } else {
        out.outer_nodes.push_back(node);
      }
    }
  }
  out.first_loose = out.contact_points.size();
  out.pulls = CarriedPulls(scene.pulls, body.name(), out.surface);
  CarriedSurface fine = refine_surface(out.surface, body.surface(), springs.network().rest_lengths.mean());
  out.supports = carried_supports(body.supports(), body.name(), body.path(), fine, springs.positions);
  out.loads = CarriedLoads(scene.loads, body.name(), std::move(fine), springs.positions, masses);
  out.contact_margin = 0.1 * springs.network().rest_lengths.mean();
  return out;
}

// Nodes outside the surface are held up by what it lies on only through their tets: once these are broken they fell through
// every floor. So they meet obstacles themselves.
void find_loose_nodes(SceneBody& body) {
  const int broken = body.springs->broken_springs();
  if (broken == body.broken_before) return;
  body.broken_before = broken;
  keep_first(body.first_loose, body.contact_points);
  const std::vector<int> loose = body.springs->loose_nodes();
  std::vector<int> outside;
  std::set_intersection(loose.begin(), loose.end(), body.outer_nodes.begin(), body.outer_nodes.end(),
                        std::back_inserter(outside));
  for (const int node : outside) add_particle(node, body.contact_points);
}

Points node_forces(const SceneBody& body, double from, double to) {
  return body.loads.empty() ? Points() : body.loads.forces(body.springs->positions, from, to);
}

struct Totals {
  double time = 0;                                // s
  double contact_dissipation = 0, load_work = 0;  // J

  static constexpr auto described() {
    return std::tuple(member("time", &Totals::time),
                      member("contact_dissipation", &Totals::contact_dissipation),
                      member("load_work", &Totals::load_work));
  }
};

struct MassSpringState {
  Totals totals;
  BodyWatch::State watch;
  ObstacleWorld::State obstacles;
  std::vector<SpringBody::State> bodies;

  static constexpr auto described() {
    return std::tuple(member("totals", &MassSpringState::totals), member("watch", &MassSpringState::watch),
                      member("obstacles", &MassSpringState::obstacles),
                      member("bodies", &MassSpringState::bodies));
  }
};

class MassSpringMethod : public Method {
 public:
  MassSpringMethod(const Scene& scene, const Settings& settings)
      : m_scene(scene), m_settings(settings), m_world(scene.obstacles, scene.gravity), m_watch(scene) {
    std::vector<CarriedBody> carried;
    for (const Body& body : scene.bodies) {
      m_bodies.push_back(make_scene_body(scene, body, settings));
      carried.push_back(carried_body(body, m_bodies.back().surface));
    }
    if (m_bodies.size() > 1) m_between = CarriedContacts(std::move(carried));
  }

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override {
    return {{"springs", m_spring_seconds}, {"contact", m_contact_seconds}};
  }
  Notes notes() const override;

 private:
  // Of one body, for the step that is to come.
  struct BodyStep {
    Points forces, start_velocities, inverse_masses;
  };
  int substeps(double dt) const;
  void step(double dt);
  std::vector<ParticleContacts> find_contacts(const std::vector<BodyStep>& steps, double dt);
  bool is_finite() const;
  bool knows_external_work() const;
  void note_inverted();

  const Scene& m_scene;
  Settings m_settings;
  ObstacleWorld m_world;
  std::vector<SceneBody> m_bodies;
  CarriedContacts m_between;
  BodyWatch m_watch;
  Totals m_totals;
  double m_spring_seconds = 0, m_contact_seconds = 0;
  std::vector<char> m_is_said;  // per body: that a part of it is inside out
  Notes m_later;                // what turned up on the way
};

// As many as the springs' stability asks for; and no obstacle may cross half of its own radius in one,
// no body a quarter of another one's width.
// Distances are the same in a tetrahedron turned inside out, so with constraints no node may pass its
// neighbours in one step: a landing body would stay folded.
int MassSpringMethod::substeps(double dt) const {
  double count = 1.0;
  for (const SceneBody& body : m_bodies) {
    const SpringBody& springs = *body.springs;
    count = std::max(count, std::ceil(dt / springs.stable_step() - 1e-9));
    if (m_settings.integration == Integration::forces) continue;
    const double speed = std::sqrt(springs.velocities.rowwise().squaredNorm().maxCoeff());
    const double reach = k_farthest_move * springs.network().rest_lengths.mean();
    count = std::max(count, std::min<double>(m_settings.max_substeps, std::ceil(dt * speed / reach)));
  }
  for (std::size_t o = 0; o < m_world.size(); ++o) {
    const double radius = m_world.body(o).shape().bounding_radius();
    if (std::isfinite(radius))
      count =
          std::max(count, std::min(32.0, std::ceil(dt * m_world.state(o).velocity.norm() / (0.5 * radius))));
  }
  std::vector<const Points*> velocities;
  for (const SceneBody& body : m_bodies) velocities.push_back(&body.springs->velocities);
  return std::max(static_cast<int>(count), m_between.substeps(dt, velocities));
}

std::vector<HeldNode> held_nodes(const SceneBody& body, double time, double dt) {
  std::vector<HeldNode> out;
  for (const SupportedNode& s : body.supports.at(time + dt)) {
    const Vec3 now = body.springs->positions.row(s.node).transpose();
    out.push_back({s.node, s.held, (s.position - now) / dt});
  }
  return out;
}

Points inverse_masses(const SceneBody& body, const std::vector<HeldNode>& held) {
  Points out = body.springs->network().masses.cwiseInverse().replicate(1, 3);
  for (const HeldNode& h : held)
    for (int axis = 0; axis < 3; ++axis)
      if (h.held[axis]) out(h.node, axis) = 0.0;
  return out;
}

void MassSpringMethod::step(double dt) {
  Stopwatch stopwatch;
  std::vector<BodyStep> steps(m_bodies.size());
  std::vector<Points*> positions, velocities;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    SpringBody& springs = *m_bodies[b].springs;
    const std::vector<HeldNode> held = held_nodes(m_bodies[b], m_totals.time, dt);
    springs.set_held(held);
    steps[b] = {node_forces(m_bodies[b], m_totals.time, m_totals.time + dt), springs.velocities,
                inverse_masses(m_bodies[b], held)};
    springs.update_velocities(dt, m_scene.gravity, steps[b].forces);
    find_loose_nodes(m_bodies[b]);
    m_bodies[b].pulls.begin(m_totals.time, dt, springs.positions, steps[b].inverse_masses);
    m_bodies[b].pulls.sweep(springs.velocities);
    positions.push_back(&springs.positions);
    velocities.push_back(&springs.velocities);
  }
  m_spring_seconds += stopwatch.lap();
  std::vector<ParticleContacts> contacts = find_contacts(steps, dt);
  m_contact_seconds += stopwatch.lap();
  // Relaxation keeps a body's momentum, and contact stops only the nodes that touch: one after the other they
  // would let the rest of a lying body sink by a little in every step, until it has folded up. So they take
  // turns.
  const bool relaxes = m_settings.integration == Integration::constraints;
  for (int turn = 0; turn < (relaxes ? m_settings.iterations : 1); ++turn) {
    for (SceneBody& body : m_bodies) {
      if (!relaxes) continue;
      body.springs->relax(dt, 1);
      body.pulls.sweep(body.springs->velocities);
    }
    m_spring_seconds += stopwatch.lap();
    resolve_together(contacts, m_between, velocities);
    m_contact_seconds += stopwatch.lap();
  }
  bool is_damped = false;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    SpringBody& springs = *m_bodies[b].springs;
    springs.damp_springs(dt);
    is_damped |= springs.is_damped();
    if (contacts[b].touches() || m_between.involves(b)) is_damped |= springs.settle(dt);
  }
  m_spring_seconds += stopwatch.lap();
  if (is_damped) resolve_together(contacts, m_between, velocities);
  m_contact_seconds += stopwatch.lap();
  if (m_bodies.size() > 1) m_totals.contact_dissipation += m_between.dissipated(velocities);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_totals.contact_dissipation += contacts[b].dissipated(*velocities[b]);
    if (steps[b].forces.rows() > 0)
      m_totals.load_work += dt * steps[b].forces.cwiseProduct(*velocities[b]).sum();
    m_totals.load_work += m_bodies[b].pulls.work(*velocities[b]);
    m_bodies[b].springs->move(dt);
  }
  m_between.push_out(m_settings.push_speed, positions);
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    contacts[b].push_out(m_settings.push_speed, *positions[b]);
  m_world.advance(dt);
  m_totals.time += dt;
}

std::vector<ParticleContacts> MassSpringMethod::find_contacts(const std::vector<BodyStep>& steps, double dt) {
  std::vector<ParticleContacts> contacts;
  std::vector<CarriedStep> between;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const SceneBody& body = m_bodies[b];
    const SpringBody& springs = *body.springs;
    contacts.emplace_back(
        m_world, body.contact_points,
        ContactStep{springs.positions, steps[b].start_velocities, springs.velocities, steps[b].inverse_masses,
                    dt, body.contact_margin, body.body->material().friction});
    between.push_back({&springs.positions, &steps[b].start_velocities, &springs.velocities,
                       &steps[b].inverse_masses, body.contact_margin});
  }
  if (m_bodies.size() > 1) m_between.find(between, dt);
  return contacts;
}

bool MassSpringMethod::is_finite() const {
  return std::all_of(m_bodies.begin(), m_bodies.end(), [](const SceneBody& body) {
    return body.springs->positions.allFinite() && body.springs->velocities.allFinite();
  });
}

StepReport MassSpringMethod::advance(double until, const InterruptCheck& interrupted) {
  const auto take = [&](double dt, StepReport& counts) {
    const int count = substeps(dt);
    for (int k = 0; k < count; ++k) step(dt / count);
    counts.steps += count;
  };
  StepReport report =
      advance_in_steps(m_totals.time, until, m_scene.step(), interrupted, take, [&] { return is_finite(); });
  if (report.status != Status::ok) return report;
  std::vector<WatchedBody> watched;
  for (const SceneBody& body : m_bodies)
    watched.push_back({body.surface.apply(body.springs->positions), body.springs->positions,
                       body.springs->broken_springs() > 0, body.springs->whole()});
  note_inverted();
  if (const auto reason = m_watch.check(obstacle_poses(), watched, m_totals.time))
    return {Status::failed, *reason, report.steps, 0};
  return report;
}

// The watch only sees a body that is inside out as a whole.
void MassSpringMethod::note_inverted() {
  m_is_said.resize(m_bodies.size(), 0);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const SpringBody& springs = *m_bodies[b].springs;
    const int count = m_is_said[b] ? 0 : springs.inverted_tets();
    if (count == 0) continue;
    m_is_said[b] = 1;
    m_later.push_back(
        {Severity::warning,
         fmt::format("{}: at {:.4g} s {} of {} tetrahedra of springs are inside out (column inverted): loads "
                     "are more than springs of this stiffness can bear",
                     m_bodies[b].body->name(), m_totals.time, count, springs.network().guard.tets.rows())});
  }
}

Geometry spring_geometry(const SceneBody& body) {
  const SpringBody& springs = *body.springs;
  Geometry out;
  out.series = "springs";
  out.kind = CellKind::lines;
  out.points = springs.positions;
  std::vector<double> strains;
  std::vector<int> kinds;
  for (Eigen::Index s = 0; s < springs.network().springs.rows(); ++s) {
    if (springs.is_broken(s)) continue;
    const int a = springs.network().springs(s, 0), b = springs.network().springs(s, 1);
    out.connectivity.push_back(a);
    out.connectivity.push_back(b);
    strains.push_back((springs.positions.row(a) - springs.positions.row(b)).norm() /
                          springs.network().rest_lengths(s) -
                      1.0);
    kinds.push_back(static_cast<int>(springs.network().kinds[static_cast<std::size_t>(s)]));
  }
  const Eigen::Map<const VecX> values(strains.data(), static_cast<Eigen::Index>(strains.size()));
  out.arrays.push_back(make_array("strain", Association::cell, values));
  out.arrays.push_back(make_integer_array("kind", Association::cell, kinds));
  out.arrays.push_back(make_array("velocity", Association::point, springs.velocities));
  return out;
}

std::vector<Geometry> MassSpringMethod::fields() const {
  std::vector<Points> positions;
  std::vector<MatX> velocities, strains;
  Geometry springs;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    positions.push_back(m_bodies[b].surface.apply(m_bodies[b].springs->positions));
    velocities.emplace_back(m_bodies[b].surface.apply(m_bodies[b].springs->velocities));
    const Geometry own = spring_geometry(m_bodies[b]);
    strains.push_back(scalar_at(m_bodies[b].surface, cell_values_at_points(own, own.arrays[0])));
    if (b == 0) {
      springs = own;
    } else {
      append(springs, own);
    }
  }
  Geometry surface = surface_geometry(m_scene, positions);
  add_point_array(surface, "velocity", velocities);
  add_point_array(surface, "strain", strains);
  return {std::move(surface), std::move(springs)};
}

// What moves on its own puts in or takes away what is not booked.
bool MassSpringMethod::knows_external_work() const {
  const auto rests = [](const ObstacleBody& o) { return o.kind() == ObstacleKind::fixed; };
  const auto holds = [](const Body& b) {
    return std::none_of(b.supports().begin(), b.supports().end(),
                        [](const Support& s) { return !s.keyframes.empty(); });
  };
  return std::all_of(m_scene.obstacles.begin(), m_scene.obstacles.end(), rests) &&
         std::all_of(m_scene.bodies.begin(), m_scene.bodies.end(), holds);
}

Diagnostics MassSpringMethod::diagnostics() const {
  Diagnostics d;
  d.mass = d.kinetic_energy = d.elastic_energy = d.gravitational_energy = 0;
  d.damping_dissipation = d.fracture_energy = 0;
  d.centre_of_mass = d.linear_momentum = d.angular_momentum = Vec3::Zero();
  double broken = 0, inverted = 0;
  for (const SceneBody& body : m_bodies) {
    const SpringBody& springs = *body.springs;
    const VecX& m = springs.network().masses;
    d.mass += m.sum();
    d.centre_of_mass += (m.transpose() * springs.positions).transpose();
    d.linear_momentum += (m.transpose() * springs.velocities).transpose();
    for (Eigen::Index i = 0; i < m.size(); ++i)
      d.angular_momentum += m(i) * Vec3(springs.positions.row(i)).cross(Vec3(springs.velocities.row(i)));
    d.kinetic_energy += springs.kinetic_energy();
    d.elastic_energy += springs.elastic_energy();
    d.damping_dissipation += springs.damped_energy();
    d.fracture_energy += springs.released_energy();
    broken += springs.broken_springs();
    inverted += springs.inverted_tets();
  }
  if (knows_external_work()) d.external_work = m_totals.load_work;
  d.gravitational_energy = -m_scene.gravity.dot(d.centre_of_mass);
  if (d.mass > 0) d.centre_of_mass /= d.mass;
  d.contact_dissipation = m_totals.contact_dissipation;
  d.deepest_penetration = 0;
  for (const SceneBody& body : m_bodies)
    d.deepest_penetration =
        std::max({d.deepest_penetration, deepest_point(m_world, body.surface.apply(body.springs->positions)),
                  deepest_point(m_world, body.contact_points.apply(body.springs->positions))});
  d.plastic_measure = 0;
  d.extra = {{"broken_springs", "", broken}, {"inverted", "", inverted}};
  if (m_bodies.size() > 1) {
    std::vector<const Points*> positions;
    for (const SceneBody& body : m_bodies) positions.push_back(&body.springs->positions);
    d.extra.push_back({"body_overlap", "m", m_between.deepest(positions)});
  }
  return d;
}

void MassSpringMethod::save(StateWriter& out) const {
  MassSpringState state{m_totals, m_watch.state(), m_world.state(), {}};
  for (const SceneBody& body : m_bodies) state.bodies.push_back(body.springs->state());
  write_state(out, state);
}

void MassSpringMethod::load(StateReader& in) {
  MassSpringState state;
  read_state(in, state);
  if (state.bodies.size() != m_bodies.size()) throw InputError("this state belongs to another scene");
  m_totals = state.totals;
  m_watch.set_state(std::move(state.watch));
  m_world.restore(std::move(state.obstacles));
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_bodies[b].springs->set_state(std::move(state.bodies[b]));
    find_loose_nodes(m_bodies[b]);
  }
}

std::vector<std::pair<Vec3, Quat>> MassSpringMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleState& state : m_world.states()) poses.emplace_back(state.position, state.orientation);
  return poses;
}

Notes MassSpringMethod::notes() const {
  Notes out = overlap_notes(m_scene);
  const auto warn = [&](const char* text) { out.push_back({Severity::warning, text}); };
  if (m_settings.spring_constant > 0 && m_settings.stiffness != StiffnessRule::uniform)
    warn("methods.mass-spring.spring_constant has no effect without stiffness: uniform");
  if (m_settings.iterations != Settings{}.iterations && m_settings.integration == Integration::forces)
    warn("methods.mass-spring.iterations has no effect with integration: forces");
  for (const SceneBody& body : m_bodies) {
    out.push_back(
        {Severity::note, fmt::format("{}: {} nodes, {} springs, stable up to {:.3g} s", body.body->name(),
                                     body.springs->positions.rows(), body.springs->network().springs.rows(),
                                     body.springs->stable_step())});
    if (body.softened < 1.0)
      out.push_back(
          {Severity::warning,
           fmt::format("{}: springs have {:.2g} of the material's stiffness, which is what {} sub-steps can "
                       "carry; raise max_substeps or steps per frame for more",
                       body.body->name(), body.softened, m_settings.max_substeps)});
  }
  out.insert(out.end(), m_later.begin(), m_later.end());
  return out;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<MassSpringMethod>(scene, settings);
}

}  // namespace exemplar::mass_spring
