#include "meshless/shape_matching/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/output/described_state.h"
#include "core/run/body_watch.h"
#include "core/run/carried_bodies.h"
#include "core/run/stepping.h"
#include "core/run/surface_fields.h"
#include "meshless/shape_matching/scene_body.h"
#include "meshless/shape_matching/weld.h"

namespace exemplar::shape_matching {

namespace {

constexpr double k_waking_speed = 0.02;  // m/s
constexpr int k_most_volume_rounds = 20;
constexpr int k_most_substeps = 32;  // of one scene step, because of fast obstacles

struct Totals {
  double time = 0;                                // s
  double contact_dissipation = 0, pull_work = 0;  // J

  static constexpr auto described() {
    return std::tuple(member("time", &Totals::time),
                      member("contact_dissipation", &Totals::contact_dissipation),
                      member("pull_work", &Totals::pull_work));
  }
};

struct ShapeMatchingState {
  Totals totals;
  BodyWatch::State watch;
  ObstacleWorld::State obstacles;
  CarriedContacts::State between;
  std::vector<Weld::State> welds;
  std::vector<ShapeMatchingBody::State> bodies;

  static constexpr auto described() {
    using State = ShapeMatchingState;
    return std::tuple(member("totals", &State::totals), member("watch", &State::watch),
                      member("obstacles", &State::obstacles), member("between", &State::between),
                      member("welds", &State::welds), member("bodies", &State::bodies));
  }
};

class ShapeMatchingMethod : public Method {
 public:
  ShapeMatchingMethod(const Scene& scene, const Settings& settings)
      : m_scene(scene), m_settings(settings), m_world(scene.obstacles, scene.gravity), m_watch(scene) {
    std::vector<CarriedBody> carried;
    for (const Body& body : scene.bodies) {
      m_bodies.push_back(make_scene_body(scene, body, settings_for(body.name(), settings)));
      carried.push_back(carried_body(body, m_bodies.back().surface));
    }
    if (m_bodies.size() > 1) m_between = CarriedContacts(std::move(carried));
    m_between.keep_impulses();
    weld_parts();
  }

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override {
    return {{"matching", m_matching_seconds}, {"contact", m_contact_seconds}};
  }
  Notes notes() const override;

 private:
  void step(double dt);
  void weld_parts();
  void begin_welds(double dt);
  void end_welds();
  bool is_welded(std::size_t body) const;
  void resolve(std::span<Points* const> velocities);
  void begin_body(std::size_t b, double dt);
  void match_together(double dt);
  bool keep_volumes(double dt);
  void keep_asleep(double dt);
  int substeps(double dt) const;
  bool is_finite() const;
  std::optional<double> stiffness_of_all() const;

  // Of one body, for the step that is to come.
  struct BodyStep {
    Points forces, start_velocities, expected, inverse_masses;
    bool lies_still = false;
  };

  const Scene& m_scene;
  Settings m_settings;
  ObstacleWorld m_world;
  std::vector<SceneBody> m_bodies;
  CarriedContacts m_between;
  struct PartWeld {
    std::size_t part = 0, other = 0;
    Weld weld;
  };
  std::vector<PartWeld> m_welds;
  std::vector<BodyStep> m_steps;
  std::vector<ParticleContacts> m_contacts;  // of each body with obstacles
  BodyWatch m_watch;
  Totals m_totals;
  double m_matching_seconds = 0, m_contact_seconds = 0;
};

std::size_t body_of_part(const Scene& scene, const std::string& name, std::size_t part, const char* field) {
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    if (scene.bodies[b].name() == name) return b;
  throw InputError(Problem{{},
                           fmt::format("methods.shape-matching.parts[{}].{}", part, field),
                           fmt::format("there is no body called '{}'", name)});
}

// Whether `body` is, over any number of parts, a part of `other`.
bool is_part_of(const std::vector<PartSettings>& parts, const std::string& body, const std::string& other) {
  std::string below = body;
  for (std::size_t step = 0; step < parts.size(); ++step) {
    const auto link = std::find_if(parts.begin(), parts.end(),
                                   [&](const PartSettings& part) { return part.body == below && part.of; });
    if (link == parts.end()) return false;
    if (*link->of == other) return true;
    below = *link->of;
  }
  return false;
}

// Particles of a part within half a cell of the other body's surface.
std::vector<int> touching_particles(const SceneBody& part, const SceneBody& other) {
  const double reach = 0.5 * std::sqrt(other.matched->cells().mean_square_radius());
  const SurfaceDistance distance(other.body->surface());
  const Points& x = part.matched->positions;
  std::vector<int> out;
  const std::vector<SurfacePoint> nearest = distance.nearest_all(x);
  for (std::size_t i = 0; i < nearest.size(); ++i)
    if (nearest[i].distance <= reach) out.push_back(static_cast<int>(i));
  return out;
}

void ShapeMatchingMethod::weld_parts() {
  for (std::size_t k = 0; k < m_settings.parts.size(); ++k) {
    const PartSettings& settings = m_settings.parts[k];
    const auto refuse = [&](const char* field, const std::string& why) {
      throw InputError(Problem{{}, fmt::format("methods.shape-matching.parts[{}].{}", k, field), why});
    };
    const std::size_t part = body_of_part(m_scene, settings.body, k, "body");
    for (std::size_t j = 0; j < k; ++j)
      if (m_settings.parts[j].body == settings.body)
        refuse("body", fmt::format("'{}' is a part already", settings.body));
    if (!settings.of) {
      if (settings.detach_impulse)
        refuse("detach_impulse", "has no effect without of: it is welded to nothing");
      continue;
    }
    const std::size_t other = body_of_part(m_scene, *settings.of, k, "of");
    if (part == other) refuse("of", "a body cannot be a part of itself");
    if (is_part_of(m_settings.parts, *settings.of, settings.body))
      refuse("of", fmt::format("'{}' is itself a part of '{}'", *settings.of, settings.body));
    const std::vector<int> points = touching_particles(m_bodies[part], m_bodies[other]);
    if (points.empty())
      refuse("of",
             fmt::format("'{}' does not touch '{}': there is nothing to weld", settings.body, *settings.of));
    WeldOptions options;
    options.detach_impulse = settings.detach_impulse.value_or(options.detach_impulse);
    options.detach_time = settings.detach_time;
    const ShapeMatchingBody& matched = *m_bodies[other].matched;
    m_welds.push_back({part, other,
                       Weld(points, m_bodies[part].matched->positions, matched.cells().cells(),
                            matched.positions, options)});
    m_bodies[part].notes.push_back({Severity::note, fmt::format("{}: {} of its particles are welded to {}",
                                                                settings.body, points.size(), *settings.of)});
  }
}

bool ShapeMatchingMethod::is_welded(std::size_t body) const {
  return std::any_of(m_welds.begin(), m_welds.end(), [&](const PartWeld& w) {
    return w.weld.holds() && (w.part == body || w.other == body);
  });
}

// What is welded does not collide.
void ShapeMatchingMethod::begin_welds(double dt) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (PartWeld& w : m_welds) {
    if (!w.weld.holds()) continue;
    pairs.insert({w.part, w.other});
    pairs.insert({w.other, w.part});
    w.weld.begin({&m_bodies[w.part].matched->positions, &m_steps[w.part].inverse_masses},
                 {&m_bodies[w.other].matched->positions, &m_steps[w.other].inverse_masses}, dt);
  }
  m_between.leave_out(std::move(pairs));
}

void ShapeMatchingMethod::end_welds() {
  for (PartWeld& w : m_welds)
    w.weld.end({&m_bodies[w.part].matched->positions, &m_steps[w.part].inverse_masses},
               {&m_bodies[w.other].matched->positions, &m_steps[w.other].inverse_masses});
}

// Contacts, welds and pulls together.
void ShapeMatchingMethod::resolve(std::span<Points* const> velocities) {
  const bool is_pulled =
      std::any_of(m_bodies.begin(), m_bodies.end(), [](const SceneBody& body) { return body.pulls.act(); });
  if (m_welds.empty() && !is_pulled) return resolve_together(m_contacts, m_between, velocities);
  for (int k = 0; k < k_most_contact_sweeps; ++k) {
    double change = m_between.sweep(velocities);
    for (PartWeld& w : m_welds)
      if (w.weld.holds()) change = std::max(change, w.weld.sweep(*velocities[w.part], *velocities[w.other]));
    for (std::size_t b = 0; b < m_contacts.size(); ++b)
      if (velocities[b] != nullptr)
        change =
            std::max({change, m_bodies[b].pulls.sweep(*velocities[b]), m_contacts[b].sweep(*velocities[b])});
    if (change < k_contact_settled) break;
  }
}

Points particle_forces(const SceneBody& body, double from, double to) {
  return body.loads.empty() ? Points() : body.loads.forces(body.matched->positions, from, to);
}

// No dynamic obstacle may cross half of its own radius in one step, and no body a quarter of another one's width.
int ShapeMatchingMethod::substeps(double dt) const {
  double count = 1.0;
  for (const SceneBody& body : m_bodies) count = std::max<double>(count, body.substeps);
  for (std::size_t o = 0; o < m_world.size(); ++o) {
    const double radius = m_world.body(o).shape().bounding_radius();
    if (!std::isfinite(radius)) continue;
    const double speed = m_world.state(o).velocity.norm() + m_world.state(o).angular_velocity.norm() * radius;
    count = std::max(count, std::min<double>(k_most_substeps, std::ceil(dt * speed / (0.5 * radius))));
  }
  std::vector<const Points*> velocities;
  for (const SceneBody& body : m_bodies) velocities.push_back(&body.matched->velocities);
  return std::max(static_cast<int>(count), m_between.substeps(dt, velocities));
}

// Supports as the body takes them: coordinates and the velocities that bring them to their places.
std::vector<HeldParticle> held_particles(const SceneBody& body, double time, double dt) {
  std::vector<HeldParticle> out;
  for (const SupportedNode& s : body.supports.at(time + dt)) {
    const Vec3 now = body.matched->positions.row(s.node).transpose();
    out.push_back({s.node, s.held, (s.position - now) / dt});
  }
  return out;
}

Points inverse_masses(const SceneBody& body, const std::vector<HeldParticle>& held) {
  Points out = body.matched->masses().cwiseInverse().replicate(1, 3);
  for (const HeldParticle& h : held)
    for (int axis = 0; axis < 3; ++axis)
      if (h.held[axis]) out(h.particle, axis) = 0.0;
  return out;
}

// A sleeping body that touches something stays where it is unless one of the two moves. What lies on a body that is
// awake is roused, for this step: a pile falls asleep as a whole.
void ShapeMatchingMethod::keep_asleep(double dt) {
  // Lying on something is not being hit: gravity closes by g h in every step.
  const double lying = 2.0 * dt * m_scene.gravity.norm() + k_waking_speed;
  const auto is_awake = [&](std::size_t b) { return !m_bodies[b].matched->is_asleep(); };
  const auto hangs_on_awake = [&](std::size_t b) {
    return std::any_of(m_welds.begin(), m_welds.end(), [&](const PartWeld& w) {
      return w.weld.holds() && ((w.part == b && is_awake(w.other)) || (w.other == b && is_awake(w.part)));
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (is_awake(b) || !(m_between.touches_any(b, is_awake) || hangs_on_awake(b))) continue;
      m_bodies[b].matched->rouse();
      changed = true;
    }
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    ShapeMatchingBody& matched = *m_bodies[b].matched;
    const double speed = std::max(m_contacts[b].touching_speed(), m_between.touching_speed(b));
    if (speed > lying) matched.wake();
    m_steps[b].lies_still = matched.is_asleep() && speed > 0.0;
    if (m_steps[b].lies_still) matched.lie_still();
  }
}

// Supports, expected motion and contacts of one body.
void ShapeMatchingMethod::begin_body(std::size_t b, double dt) {
  SceneBody& body = m_bodies[b];
  ShapeMatchingBody& matched = *body.matched;
  BodyStep& step = m_steps[b];
  const std::vector<HeldParticle> held = held_particles(body, m_totals.time, dt);
  matched.set_supports(held);
  step.forces = particle_forces(body, m_totals.time, m_totals.time + dt);
  if (!held.empty() || step.forces.rows() > 0) matched.wake();
  step.start_velocities = matched.velocities;
  step.expected = step.start_velocities.rowwise() + dt * m_scene.gravity.transpose();
  step.inverse_masses = inverse_masses(body, held);
  body.pulls.begin(m_totals.time, dt, matched.positions, step.inverse_masses);
  if (body.pulls.act()) matched.wake();
  m_contacts.emplace_back(
      m_world, body.contact_points,
      ContactStep{matched.positions, step.start_velocities, step.expected, step.inverse_masses, dt,
                  body.contact_margin, body.body->material().friction});
}

// All bodies are at the same pass whenever contact has its say: one that lies on another feels its support within
// the step as one on an obstacle does.
void ShapeMatchingMethod::match_together(double dt) {
  const auto touches = [&](std::size_t b) {
    return !m_contacts[b].empty() || m_between.involves(b) || is_welded(b) || m_bodies[b].pulls.act();
  };
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (!m_steps[b].lies_still)
      m_bodies[b].matched->begin_step(dt, m_scene.gravity, m_steps[b].forces, touches(b));
  }
  std::vector<Points> trials(m_bodies.size());
  std::vector<Points*> velocities(m_bodies.size());
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    velocities[b] = m_between.involves(b) || is_welded(b) ? &m_bodies[b].matched->velocities : nullptr;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (m_steps[b].lies_still || !m_bodies[b].matched->next_pass()) continue;
      any = true;
      if (!touches(b)) continue;
      trials[b] = m_bodies[b].matched->trial_velocities();
      velocities[b] = &trials[b];
    }
    if (!any) break;
    const std::vector<Points> before = trials;
    resolve(velocities);
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (trials[b].rows() == 0) continue;
      if (m_bodies[b].matched->has_pass_left()) m_contacts[b].release_friction(trials[b]);
      m_bodies[b].matched->take(trials[b] - before[b]);
    }
  }
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    if (!m_steps[b].lies_still) m_bodies[b].matched->end_passes();
    velocities[b] = &m_bodies[b].matched->velocities;
  }
  resolve(velocities);
  for (int round = 0; round < k_most_volume_rounds && keep_volumes(dt); ++round) resolve(velocities);
}

// Whether any body had to be brought back to its volume.
bool ShapeMatchingMethod::keep_volumes(double dt) {
  bool any = false;
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    any |= !m_steps[b].lies_still && m_bodies[b].matched->keep_volume(dt);
  return any;
}

void ShapeMatchingMethod::step(double dt) {
  Stopwatch stopwatch;
  m_steps.assign(m_bodies.size(), {});
  m_contacts.clear();
  std::vector<Points*> positions, velocities;
  std::vector<CarriedStep> steps;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    begin_body(b, dt);
    ShapeMatchingBody& matched = *m_bodies[b].matched;
    positions.push_back(&matched.positions);
    velocities.push_back(&matched.velocities);
    steps.push_back({&matched.positions, &m_steps[b].start_velocities, &m_steps[b].expected,
                     &m_steps[b].inverse_masses, m_bodies[b].contact_margin});
  }
  begin_welds(dt);
  if (m_bodies.size() > 1) m_between.find(steps, dt);
  keep_asleep(dt);
  m_contact_seconds += stopwatch.lap();
  match_together(dt);
  if (m_bodies.size() > 1) m_totals.contact_dissipation += m_between.dissipated(velocities);
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    m_totals.contact_dissipation += m_contacts[b].dissipated(*velocities[b]);
    m_totals.pull_work += m_bodies[b].pulls.work(*velocities[b]);
    m_bodies[b].matched->move(dt);
  }
  m_between.push_out(m_settings.push_speed, positions);
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    m_contacts[b].push_out(m_settings.push_speed, *positions[b]);
  end_welds();
  m_matching_seconds += stopwatch.lap();
  m_world.advance(dt);
  m_totals.time += dt;
}

bool ShapeMatchingMethod::is_finite() const {
  return std::all_of(m_bodies.begin(), m_bodies.end(), [](const SceneBody& body) {
    return body.matched->positions.allFinite() && body.matched->velocities.allFinite();
  });
}

StepReport ShapeMatchingMethod::advance(double until, const InterruptCheck& interrupted) {
  const auto take = [&](double dt, StepReport& counts) {
    for (SceneBody& body : m_bodies) adapt_substeps(body, m_scene.step());
    const int count = substeps(dt);
    for (int k = 0; k < count; ++k) step(dt / count);
    counts.steps += count;
    for (SceneBody& body : m_bodies) counts.iterations += count * body.matched->plan(dt / count).iterations;
  };
  StepReport report =
      advance_in_steps(m_totals.time, until, m_scene.step(), interrupted, take, [&] { return is_finite(); });
  if (report.status != Status::ok) return report;
  std::vector<WatchedBody> watched;
  for (const SceneBody& body : m_bodies)
    watched.push_back({surface_positions(body), body.contact_points.apply(body.matched->positions), false});
  if (const auto reason = m_watch.check(obstacle_poses(), watched, m_totals.time))
    return {Status::failed, *reason, report.steps, report.iterations};
  return report;
}

Geometry particle_geometry(const SceneBody& body) {
  const ShapeMatchingBody& matched = *body.matched;
  Geometry out;
  out.series = "particles";
  out.kind = CellKind::points;
  out.points = matched.positions;
  out.arrays.push_back(make_array("velocity", Association::point, matched.velocities));
  out.arrays.push_back(make_array("mass", Association::point, matched.masses()));
  return out;
}

// Cells as they are matched: hexahedra where they have eight corners, tets where four.
Geometry cell_geometry(const SceneBody& body, CellKind kind) {
  const ShapeMatchingBody& matched = *body.matched;
  const Cells& cells = matched.cells().cells();
  constexpr std::array<int, 8> vtk_order{0, 1, 3, 2, 4, 5, 7, 6};
  Geometry out;
  out.series = "cells";
  out.kind = kind;
  out.points = matched.positions;
  MatX deformation(cells.count(), 1);
  for (int c = 0; c < cells.count(); ++c) {
    const auto members = cells.of(c);
    for (std::size_t k = 0; k < members.size(); ++k)
      out.connectivity.push_back(members[kind == CellKind::hexahedra ? vtk_order[k] : k]);
    deformation(c, 0) = matched.plasticity().deformation(c);
  }
  out.arrays.push_back(make_array("plastic_strain", Association::cell, deformation));
  return out;
}

// The mean over the cells around each particle.
VecX plastic_strain_at_particles(const ShapeMatchingBody& matched) {
  VecX sums = VecX::Zero(matched.positions.rows()), counts = sums;
  const Cells& cells = matched.cells().cells();
  for (int c = 0; c < cells.count(); ++c) {
    for (const int particle : cells.of(c)) {
      sums[particle] += matched.plasticity().deformation(c);
      counts[particle] += 1;
    }
  }
  return sums.cwiseQuotient(counts.cwiseMax(1));
}

std::vector<Geometry> ShapeMatchingMethod::fields() const {
  std::vector<Points> positions;
  std::vector<MatX> velocities, normals, tangents, strains;
  Geometry particles, cells;
  bool has_cells = true;
  for (const SceneBody& body : m_bodies) {
    positions.push_back(surface_positions(body));
    velocities.emplace_back(body.surface.apply(body.matched->velocities));
    SurfaceFrames frames = surface_frames(body);
    normals.emplace_back(std::move(frames.normals));
    tangents.emplace_back(std::move(frames.tangents));
    strains.push_back(scalar_at(body.surface, plastic_strain_at_particles(*body.matched)));
    const Cells& list = body.matched->cells().cells();
    const auto size = list.of(0).size();
    for (int c = 0; c < list.count(); ++c) has_cells &= list.of(c).size() == size && (size == 8 || size == 4);
  }
  Geometry surface = surface_geometry(m_scene, positions);
  add_point_array(surface, "velocity", velocities);
  add_point_array(surface, "normal", normals);
  add_point_array(surface, "tangent", tangents);
  add_point_array(surface, "plastic_strain", strains);
  std::vector<Geometry> out{std::move(surface)};
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const CellKind kind = m_settings.cells == CellShape::tets ? CellKind::tets : CellKind::hexahedra;
    if (b == 0) {
      particles = particle_geometry(m_bodies[b]);
      if (has_cells) cells = cell_geometry(m_bodies[b], kind);
    } else {
      append(particles, particle_geometry(m_bodies[b]));
      if (has_cells) append(cells, cell_geometry(m_bodies[b], kind));
    }
  }
  out.push_back(std::move(particles));
  if (has_cells) out.push_back(std::move(cells));
  return out;
}

// How far any cell is turned against the first one: the bend of a body whose cells are stacked [degrees].
double bend_angle(const CellSet& cells) {
  double most = 0.0;
  const Quat first(cells.rotation(0));
  for (int c = 1; c < cells.cells().count(); ++c)
    most = std::max(most, first.angularDistance(Quat(cells.rotation(c))));
  return most * 180.0 / EIGEN_PI;
}

// Of the body that is furthest off, at the steps of the last advance; none where all were given their own stiffness.
std::optional<double> ShapeMatchingMethod::stiffness_of_all() const {
  std::optional<double> worst;
  for (const SceneBody& body : m_bodies) {
    if (body.has_given_stiffness) continue;
    const double share = stiffness_share(body, m_scene.step() / substeps(m_scene.step()));
    if (!worst || std::abs(std::log(share)) > std::abs(std::log(*worst))) worst = share;
  }
  return worst;
}

Diagnostics ShapeMatchingMethod::diagnostics() const {
  Diagnostics d;
  d.mass = d.kinetic_energy = d.gravitational_energy = d.plastic_measure = 0;
  d.centre_of_mass = d.linear_momentum = d.angular_momentum = Vec3::Zero();
  double flowing = 0, asleep = 0, bend = 0;
  for (const SceneBody& body : m_bodies) {
    const ShapeMatchingBody& matched = *body.matched;
    const CloudMotion motion = matched.motion();
    d.mass += motion.mass;
    d.centre_of_mass += motion.mass * motion.centre;
    d.linear_momentum += motion.mass * motion.velocity;
    d.angular_momentum += motion.angular_momentum + motion.mass * motion.centre.cross(motion.velocity);
    d.kinetic_energy += matched.kinetic_energy();
    d.gravitational_energy -= motion.mass * m_scene.gravity.dot(motion.centre);
    d.plastic_measure = std::max(d.plastic_measure, matched.largest_plastic_deformation());
    flowing += matched.flowing_cells();
    asleep += matched.is_asleep();
    bend = std::max(bend, bend_angle(matched.cells()));
  }
  if (d.mass > 0) d.centre_of_mass /= d.mass;
  d.contact_dissipation = m_totals.contact_dissipation;
  if (!m_scene.pulls.empty() && m_scene.loads.empty()) d.external_work = m_totals.pull_work;
  d.deepest_penetration = 0;
  for (const SceneBody& body : m_bodies)
    d.deepest_penetration =
        std::max({d.deepest_penetration, deepest_point(m_world, surface_positions(body)),
                  deepest_point(m_world, body.contact_points.apply(body.matched->positions))});
  d.extra = {{"flowing_cells", "", flowing}, {"sleeping_bodies", "", asleep}, {"bend_angle", "°", bend}};
  if (const auto share = stiffness_of_all()) d.extra.push_back({"stiffness_share", "", *share});
  if (!m_welds.empty()) {
    const auto off =
        std::count_if(m_welds.begin(), m_welds.end(), [](const PartWeld& w) { return !w.weld.holds(); });
    double most = 0;
    for (const PartWeld& w : m_welds) most = std::max(most, w.weld.impulse());
    d.extra.push_back({"detached_parts", "", static_cast<double>(off)});
    d.extra.push_back({"weld_impulse", "N s", most});
  }
  if (m_bodies.size() > 1) {
    std::vector<const Points*> positions;
    for (const SceneBody& body : m_bodies) positions.push_back(&body.matched->positions);
    d.extra.push_back({"body_overlap", "m", m_between.deepest(positions)});
  }
  return d;
}

void ShapeMatchingMethod::save(StateWriter& out) const {
  ShapeMatchingState state{m_totals, m_watch.state(), m_world.state(), m_between.state(), {}, {}};
  for (const PartWeld& part : m_welds) state.welds.push_back(part.weld.state());
  for (const SceneBody& body : m_bodies) state.bodies.push_back(body.matched->state());
  write_state(out, state);
}

void ShapeMatchingMethod::load(StateReader& in) {
  ShapeMatchingState state;
  read_state(in, state);
  if (state.bodies.size() != m_bodies.size() || state.welds.size() != m_welds.size())
    throw InputError("this state belongs to another scene");
  m_totals = state.totals;
  m_watch.set_state(std::move(state.watch));
  m_world.restore(std::move(state.obstacles));
  m_between.set_state(state.between);
  for (std::size_t k = 0; k < m_welds.size(); ++k) m_welds[k].weld.set_state(std::move(state.welds[k]));
  for (std::size_t b = 0; b < m_bodies.size(); ++b)
    m_bodies[b].matched->set_state(std::move(state.bodies[b]));
}

std::vector<std::pair<Vec3, Quat>> ShapeMatchingMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleState& state : m_world.states()) poses.emplace_back(state.position, state.orientation);
  return poses;
}

// What was set and is not used with the other settings.
Notes idle_settings(const Settings& settings) {
  Notes out;
  const auto warn_if = [&](bool is_idle, const char* text) {
    if (is_idle) out.push_back({Severity::warning, std::string("methods.shape-matching.") + text});
  };
  const bool are_tets = settings.cells == CellShape::tets;
  warn_if(settings.regions > 0 && settings.cells != CellShape::regions,
          "regions has no effect without cells: regions");
  warn_if(settings.cell_size > 0 && are_tets, "cell_size has no effect with cells: tets");
  warn_if((settings.cell_counts.array() > 0).any() && are_tets, "cell_counts has no effect with cells: tets");
  warn_if(settings.plasticity.yield > 0 && settings.plasticity.model == PlasticityModel::none,
          "plasticity.yield has no effect with plasticity.model: none");
  return out;
}

Notes ShapeMatchingMethod::notes() const {
  Notes out = overlap_notes(m_scene);
  const Notes idle = idle_settings(m_settings);
  out.insert(out.end(), idle.begin(), idle.end());
  for (const SceneBody& body : m_bodies) out.insert(out.end(), body.notes.begin(), body.notes.end());
  return out;
}

}  // namespace

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<ShapeMatchingMethod>(scene, settings);
}

}  // namespace exemplar::shape_matching
