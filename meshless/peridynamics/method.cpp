#include "meshless/peridynamics/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/stopwatch.h"
#include "core/contact/carried_actions.h"
#include "core/contact/carried_pulls.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/volume/extrude.h"
#include "core/output/described_state.h"
#include "core/run/body_watch.h"
#include "core/run/surface_fields.h"
#include "core/scene/make_world.h"
#include "core/world/obstacle_motion.h"
#include "meshless/peridynamics/filling.h"
#include "meshless/peridynamics/input_checks.h"
#include "meshless/peridynamics/pieces/follow.h"
#include "meshless/peridynamics/pieces/fragments.h"
#include "meshless/peridynamics/pieces/loaded_surface.h"
#include "meshless/peridynamics/pieces/split_blend.h"
#include "meshless/peridynamics/pulled_points.h"
#include "meshless/peridynamics/weakening.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_most_bytes = 12e9;      // more is refused before anything is allocated
constexpr double k_smallest_share = 1e-5;  // of the stable step that speeds may shorten it to
constexpr double k_few_bonds = 6;          // of a particle: a simple lattice's nearest neighbours
constexpr int k_settling_steps = 8;        // from one look at what lies to the next
// A directed bond and step on one thread, for the expected time only: rows, and the groups of lattices.
constexpr double k_bond_seconds = 3e-9, k_grouped_bond_seconds = 1.9e-9;

// One body: its particles are rows first … first + count − 1 of all.
struct BodyParticles {
  const Body* body = nullptr;
  TriMesh surface;  // closed: of sheets the extruded one
  TriMesh filled;   // what the particles fill: the same, unless it had to be meshed anew
  Elements elements;
  std::optional<SurfaceFollower> follower;
  SupportSet supports;
  CarriedLoads loads;
  CarriedPulls pulls;
  Points inverse_masses;  // 1/kg, per coordinate; zero where it is held
  LoadedSurface loaded;   // where loads need it
  double thickness = 0;   // m, of its thin parts
  Settling settling;
  int first = 0;
  int count() const { return static_cast<int>(elements.particles.size()); }
};

std::uint8_t axes_of(const SupportedNode& node) {
  return static_cast<std::uint8_t>(node.held[0] | node.held[1] << 1 | node.held[2] << 2);
}

// Throws InputError at `path` if the field has a gradient without three rows or no particle.
void add_velocities(const VelocityField& field, const std::string& path, const Points& rest,
                    Points& velocities) {
  Mat3 gradient = Mat3::Zero();
  if (!field.gradient.empty() && field.gradient.size() != 3)
    throw InputError(Problem{{}, path + ".gradient", "a gradient has three rows"});
  for (std::size_t row = 0; row < field.gradient.size(); ++row)
    gradient.row(static_cast<Eigen::Index>(row)) = field.gradient[row].transpose();
  const std::vector<int> chosen = select_nodes(make_region(field.region), rest);
  if (chosen.empty()) throw InputError(Problem{{}, path + ".region", "no particle lies in the region"});
  for (const int i : chosen) {
    const Vec3 arm = Vec3(rest.row(i)) - field.centre;
    velocities.row(i) += (field.velocity + gradient * arm + field.angular_velocity.cross(arm)).transpose();
  }
}

void check_layers(const Settings& settings) {
  const auto refuse = [](const char* field, const char* why) {
    throw InputError(Problem{{}, fmt::format("methods.peridynamics.{}", field), why});
  };
  if (settings.layer_distance && settings.layers == 0)
    refuse("layer_distance", "has no effect without layers");
  if (settings.layers == 0) return;
  if (settings.elements != ElementKind::tets) refuse("layers", "needs elements: tets");
  if (settings.layers == 1) refuse("layers", "one layer has no tets: use at least two");
}

struct Totals {
  double time = 0;                 // s
  double damped = 0;               // J, taken by settling
  std::vector<double> lies_until;  // s, of each body

  static constexpr auto described() {
    return std::tuple(member("time", &Totals::time), member("damped", &Totals::damped),
                      member("lies_until", &Totals::lies_until));
  }
};

struct PeridynamicsState {
  Solver::State solver;
  Totals totals;
  ObstacleWorld::State obstacles;
  std::vector<Quat> rotations;  // of the particles
  BodyWatch::State watch;
  SplitBlend::State split_offsets;

  static constexpr auto described() {
    using State = PeridynamicsState;
    return std::tuple(member("solver", &State::solver), member("totals", &State::totals),
                      member("obstacles", &State::obstacles), member("rotations", &State::rotations),
                      member("watch", &State::watch), member("split_offsets", &State::split_offsets));
  }
};

class PeridynamicsMethod : public Method {
 public:
  PeridynamicsMethod(const Scene& scene, const Settings& settings);

  StepReport advance(double until, const InterruptCheck& interrupted) override;
  std::vector<Geometry> fields() const override;
  Diagnostics diagnostics() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override;
  PhaseTimes phase_times() const override { return m_times; }
  Notes notes() const override { return m_notes; }

 private:
  void make_particles();
  void add_body(const Body& body, double spacing);
  Filling filling_of(const BodyParticles& part, double spacing);
  void fill(BodyParticles& part, double spacing);
  void check_size(double spacing) const;
  void make_solver();
  Notes apply_notches();
  Material material_of(const Body& body) const;
  void prescribe(double from, double to);
  ObstaclePoint nearest_obstacle(int particle, const Vec3& point) const;
  YieldingObstacles yielding_obstacles();
  double obstacle_speed() const;
  void note_set_up(double bonds);
  double expected_steps() const;
  bool take_step(double dt);
  void settle(double now, double dt);
  bool find_pieces();
  std::vector<RigidTransform> fit_pieces();
  void draw_pieces(const std::vector<RigidTransform>& fits);
  void update_fragments();
  bool is_dust(int fragment) const;
  Geometry dust_geometry() const;
  void set_initial_velocities();
  Points followed(const BodyParticles& part, const Points& current,
                  const std::function<Mat3(int)>& map) const;
  bool has_following_loads() const;
  Points load_forces(BodyParticles& part, const Points& current, double from, double to);
  Points load_accelerations(const Points& current, double from, double to);
  Points pushes(double since);
  void add_pulls(const Points& current, double from, Points& accelerations);
  Mat3 local_map(int particle, const Points& current) const;
  const std::vector<Geometry>& surfaces(const Points& current) const;
  double surface_depth(const Points& current) const;
  const std::vector<double>& elastic_energies() const;
  void forget_moment();
  std::vector<Geometry> make_surfaces(const Points& current) const;
  bool is_acted_on() const;  // by supports, loads or pulls
  double fastest_particle() const;
  double step_for_contact() const;
  std::optional<std::string> find_lost_body();
  void add_particle_fields(const BodyParticles& part, Geometry& pieces) const;
  void add_vertex_fields(Geometry& surface) const;
  void cut_bonds();
  Geometry particle_geometry(const Points& current) const;

  const Scene& m_scene;
  Settings m_settings;
  std::vector<BodyParticles> m_bodies;
  ParticleSet m_particles;
  std::vector<Material> m_materials;
  std::vector<std::pair<int, int>> m_neighbours;
  std::vector<std::uint8_t> m_bonded_at_rest;  // per neighbour pair
  BondCut m_is_cut;                            // by the bodies' own surfaces
  double m_spacing = 0;
  double m_step = 0;
  double m_step_start = 0, m_step_length = 0;  // s, of the solver's present step
  std::optional<Solver> m_solver;
  std::vector<double> m_masses;
  ObstacleWorld m_obstacles;
  bool m_obstacles_move = false;
  Totals m_totals;
  Fragments m_fragments;
  std::int64_t m_broken_at_fragments = -1;
  std::vector<Quat> m_rotations;
  std::vector<RigidTransform> m_motions;  // of the fragments, as they are drawn
  SplitBlend m_blend;
  BodyWatch m_watch;
  // Of this moment, once somebody has asked.
  mutable std::vector<Geometry> m_written;  // surfaces
  mutable std::vector<double> m_elastic;    // J, of every particle
  mutable std::optional<double> m_surface_depth;
  PhaseTimes m_times{{"particles", 0}, {"steps", 0}, {"fragments", 0}};
  Notes m_notes;
};

PeridynamicsMethod::PeridynamicsMethod(const Scene& scene, const Settings& settings)
    : m_scene(scene),
      m_settings(settings),
      m_obstacles(scene.obstacles, scene.gravity),
      m_blend(0, 0),
      m_watch(scene) {
  const Stopwatch stopwatch;
  make_particles();
  for (const Body& body : scene.bodies) m_materials.push_back(material_of(body));
  for (const ObstacleBody& obstacle : scene.obstacles) {
    m_obstacles_move = m_obstacles_move || obstacle.kind() != ObstacleKind::fixed;
  }
  cut_bonds();
  make_solver();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const Points& rest = m_bodies[b].elements.particles.positions;
    m_bodies[b].settling =
        Settling(std::sqrt(1.5 * m_materials[b].bulk_modulus / m_materials[b].density),
                 (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).maxCoeff(), scene.gravity.norm());
  }
  const Notes idle = apply_notches();
  m_notes.insert(m_notes.end(), idle.begin(), idle.end());
  m_bonded_at_rest.resize(m_neighbours.size());
  parallel_for(m_neighbours.size(), [&](std::size_t k) {
    m_bonded_at_rest[k] = m_solver->bonded(m_neighbours[k].first, m_neighbours[k].second);
  });
  m_masses = m_solver->masses();
  m_step = m_settings.step > 0 ? m_settings.step : 0.8 * m_solver->stable_step();
  require_countable(m_scene.step() / m_step, m_step);
  m_totals.lies_until.assign(m_bodies.size(), 0);
  m_rotations.assign(m_particles.size(), Quat::Identity());
  m_blend = SplitBlend(m_particles.size(),
                       m_settings.surface == WrittenSurface::fragments ? m_settings.split_frames : 0);
  find_pieces();
  draw_pieces(fit_pieces());
  m_times[0].second = stopwatch.seconds();
  m_solver->group_bonds();
  const double bonds = static_cast<double>(m_solver->bonds().directed_bonds());
  note_set_up(bonds);
}

// `bonds`: each in both directions.
void PeridynamicsMethod::note_set_up(double bonds) {
  m_notes.push_back(
      {Severity::note,
       fmt::format("{} particles, spacing {:.4g} m, horizon {:.4g} m, {} bonds ({:.1f} bytes each way)",
                   m_particles.size(), m_spacing, m_solver->horizon(), static_cast<std::int64_t>(bonds / 2),
                   static_cast<double>(m_solver->bytes()) / std::max(bonds, 1.0))});
  m_notes.push_back(
      {Severity::note,
       fmt::format("step {:.4g} s; bound of Silling and Askari {:.4g} s; {:.0f} steps take about {:.2g} s",
                   m_step, m_solver->stable_step(), expected_steps(),
                   expected_steps() * bonds / thread_count() *
                       (m_solver->is_grouped() ? k_grouped_bond_seconds : k_bond_seconds))});
  if (bonds < k_few_bonds * static_cast<double>(m_particles.size()))
    m_notes.push_back({Severity::warning,
                       fmt::format("particles have {:.1f} bonds on average, too few to hold a body together; "
                                   "raise horizon or spacing_quantile",
                                   bonds / static_cast<double>(m_particles.size()))});
  if (m_settings.dust != DustDisplay::surface &&
      (m_settings.dust_size == 0 || m_settings.surface == WrittenSurface::deforming))
    m_notes.push_back({Severity::warning, "dust has no effect without dust_size and surface: fragments"});
  const Notes overlaps = body_overlap_notes(m_scene);
  m_notes.insert(m_notes.end(), overlaps.begin(), overlaps.end());
  // Advance shortens steps to divide a scene step: what counts is the longest it can take.
  if (const auto warning = check_step(std::min(m_step, m_scene.step()), m_solver->stable_step())) {
    m_notes.push_back({Severity::warning, *warning});
  }
}

double PeridynamicsMethod::expected_steps() const {
  const double in_scene_step = std::max(1.0, std::ceil(m_scene.step() / m_step - 1e-9));
  return in_scene_step * m_scene.time.duration / m_scene.step();
}

Material PeridynamicsMethod::material_of(const Body& body) const {
  const ::exemplar::Material& source = body.material();
  Material material;
  material.density = source.density;
  material.bulk_modulus = m_settings.bulk_modulus.value_or(source.young / 1.5);
  material.critical_strain = m_settings.critical_strain.value_or(0);
  material.fracture_energy = m_settings.fracture_energy.value_or(source.fracture_energy.value_or(0));
  return material;
}

void PeridynamicsMethod::check_size(double spacing) const {
  const double horizon = m_settings.horizon_length.value_or(m_settings.horizon * spacing);
  const double volume = spacing * spacing * spacing;
  const double bonds = static_cast<double>(
      estimate_directed_bonds(static_cast<std::size_t>(m_settings.particles), volume, horizon));
  if (bonds * 24 < k_most_bytes) return;
  throw InputError(
      Problem{{},
              "methods.peridynamics.particles",
              fmt::format("{} particles with a horizon of {:.3g} spacings need about {:.0f} GB for their "
                          "bonds; at most {:.0f} "
                          "GB are allowed",
                          m_settings.particles, horizon / spacing, bonds * 24e-9, k_most_bytes * 1e-9)});
}

Filling PeridynamicsMethod::filling_of(const BodyParticles& part, double spacing) {
  const Body& body = *part.body;
  if (m_settings.layers == 0)
    return fill_body(m_settings.elements, part.surface, body.volume(), spacing, body.rest_volume());
  LayerOptions options;
  options.layers = m_settings.layers;
  options.distance = m_settings.layer_distance.value_or(0);
  options.wanted = static_cast<int>(std::ceil(body.rest_volume() / (spacing * spacing * spacing)));
  options.seed = m_scene.seed;
  std::string note;
  Filling filling = fill_with_layers(part.surface, options, note);
  m_notes.push_back({Severity::note, fmt::format("{}: {}", body.name(), note)});
  return filling;
}

// Cuts the body into elements and says what was done to its surface.
void PeridynamicsMethod::fill(BodyParticles& part, double spacing) {
  const Body& body = *part.body;
  Filling filling = filling_of(part, spacing);
  part.elements = make_elements(m_settings.elements, filling.surface, filling.volume, spacing, m_scene.seed);
  part.filled = std::move(filling.surface);
  if (filling.is_cage)
    m_notes.push_back(
        {Severity::warning,
         fmt::format("{}: the surface has no conforming volume; fracture faces reach up to a cage around it",
                     body.name())});
  if (!filling.is_remeshed && !filling.is_cage) return;
  std::vector<double>& volumes = part.elements.particles.volumes;
  const double filled = std::accumulate(volumes.begin(), volumes.end(), 0.0);
  const double factor = filling.is_hollow ? 1.0 : body.rest_volume() / filled;
  for (double& volume : volumes) volume *= factor;
  if (filling.is_cage) return;
  // Faces of the new surface remember the nearest triangle of the old one.
  const SurfaceDistance original(part.surface);
  for (Face& face : part.elements.faces) {
    if (face.other >= 0) continue;
    Vec3 middle = Vec3::Zero();
    for (int k = 0; k < face.count; ++k) middle += part.elements.corner(face, k) / face.count;
    face.triangle = original.nearest(middle).triangle;
  }
  if (m_settings.layers > 0) {
    m_notes.push_back({Severity::note, fmt::format("{}: the tets fill {:.4g} of the surface's volume",
                                                   body.name(), filled / body.rest_volume())});
    return;
  }
  m_notes.push_back(
      {Severity::warning,
       fmt::format("{}: the surface cannot be filled as it is; particles fill one meshed anew with edges of "
                   "{:.3g} m, their volumes scaled by {:.4g} to the body's own",
                   body.name(), spacing, factor)});
}

// Refuses what is far too thin before it is filled: meshing a film takes minutes, and its end would be the same refusal.
void PeridynamicsMethod::add_body(const Body& body, double spacing) {
  BodyParticles part;
  part.body = &body;
  part.surface = body.is_sheet() ? extruded_surface(body.surface(), body.settings().thickness)
                                 : facing_outwards(body.surface());
  part.thickness = thin_part(part.surface);
  // Particles may come to lie closer than planned: darts a little, tets as the surface's triangles ask for.
  const double least = m_settings.elements == ElementKind::cubes     ? 1
                       : m_settings.elements == ElementKind::voronoi ? 0.5
                                                                     : 0.125;
  if (part.thickness < least * spacing)
    check_thickness(part.thickness, spacing, m_settings.horizon_length.value_or(m_settings.horizon * spacing),
                    m_settings.particles, body.name());
  if (body.material().damping > 0)
    m_notes.push_back(
        {Severity::warning, fmt::format("{}: damping is not modelled, it has no effect", body.name())});
  if (body.settings().initial_pose) {
    m_notes.push_back({Severity::warning,
                       fmt::format("{}: starts at rest, its initial pose is not modelled", body.name())});
  }
  m_bodies.push_back(std::move(part));
}

// One spacing for all bodies, so that they share one horizon.
void PeridynamicsMethod::make_particles() {
  check_layers(m_settings);
  for (std::size_t b = 0; b < m_scene.bodies.size(); ++b) {
    const Body& body = m_scene.bodies[b];
    if (!body.is_sheet()) require_closed(body.surface(), body.name(), fmt::format("bodies[{}].surface", b));
  }
  double volume = 0;
  for (const Body& body : m_scene.bodies) volume += body.rest_volume();
  const double spacing = spacing_for(m_settings.elements, volume, m_settings.particles);
  check_size(spacing);
  for (const Body& body : m_scene.bodies) require_places(body.surface(), body.name(), spacing);
  for (const Body& body : m_scene.bodies) add_body(body, spacing);
  for (std::size_t p = 0; p < m_bodies.size(); ++p) {
    BodyParticles& part = m_bodies[p];
    fill(part, spacing);
    part.first = static_cast<int>(m_particles.size());
    m_particles.append(part.elements.particles, static_cast<int>(p));
    for (const auto& [a, b] : part.elements.neighbours)
      m_neighbours.emplace_back(a + part.first, b + part.first);
    part.follower.emplace(part.body->surface().vertices, part.elements.particles.positions);
  }
  const double quantile =
      m_settings.spacing_quantile.value_or(m_settings.elements == ElementKind::tets ? 0.5 : 0.0);
  std::vector<Points> places;
  for (const BodyParticles& part : m_bodies) places.push_back(part.elements.particles.positions);
  m_spacing = particle_spacing(places, quantile);
  if (m_settings.elements == ElementKind::cubes) m_spacing = spacing;
  if (m_settings.horizon_length)
    m_settings.horizon = horizon_over_spacing(*m_settings.horizon_length, m_spacing);
  if (m_particles.size() > 2 * static_cast<std::size_t>(m_settings.particles)) {
    m_notes.push_back({Severity::warning,
                       fmt::format("{} particles instead of {}: the surface's triangles ask for so many tets",
                                   m_particles.size(), m_settings.particles)});
  }
  // How many tets there are is also the surface's doing.
  const int asked =
      m_settings.elements == ElementKind::tets ? static_cast<int>(m_particles.size()) : m_settings.particles;
  for (const BodyParticles& part : m_bodies) {
    if (const auto warning = check_thickness(part.thickness, m_spacing, m_settings.horizon * m_spacing, asked,
                                             part.body->name())) {
      m_notes.push_back({Severity::warning, *warning});
    }
  }
}

// A body's bonds do not cross its own surface: the sides of a narrow slit are apart. What a notch parts are no
// neighbours.
void PeridynamicsMethod::cut_bonds() {
  for (const NotchSettings& settings : m_settings.notches) {
    std::erase_if(
        m_neighbours, [&, crosses = NotchTest(notch_of(settings))](const std::pair<int, int>& pair) {
          return crosses(m_particles.positions.row(pair.first), m_particles.positions.row(pair.second));
        });
  }
  std::vector<BondCut> cuts;
  for (const BodyParticles& part : m_bodies)
    cuts.push_back(crosses_surface(part.filled, part.elements.particles.positions));
  std::vector<int> first;
  for (const BodyParticles& part : m_bodies) first.push_back(part.first);
  if (std::none_of(cuts.begin(), cuts.end(), [](const BondCut& cut) { return static_cast<bool>(cut); }))
    return;
  m_is_cut = [cuts = std::move(cuts), first = std::move(first), body = m_particles.body](int i, int j) {
    const auto b = static_cast<std::size_t>(body[static_cast<std::size_t>(i)]);
    return cuts[b] && cuts[b](i - first[b], j - first[b]);
  };
}

void PeridynamicsMethod::set_initial_velocities() {
  const Points& rest = m_particles.positions;
  Points velocities(rest.rows(), 3);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    const Body& body =
        m_scene.bodies[static_cast<std::size_t>(m_particles.body[static_cast<std::size_t>(i)])];
    velocities.row(i) = body.initial_velocity(rest.row(i)).transpose();
  }
  for (std::size_t k = 0; k < m_settings.velocities.size(); ++k)
    add_velocities(m_settings.velocities[k], fmt::format("methods.peridynamics.velocities[{}]", k), rest,
                   velocities);
  m_solver->set_velocities(velocities);
}

void PeridynamicsMethod::make_solver() {
  m_solver.emplace(m_particles, m_materials, rules_of(m_settings, m_scene.seed),
                   m_settings.horizon * m_spacing, m_spacing, m_is_cut);
  m_solver->set_gravity(m_scene.gravity);
  set_initial_velocities();
  std::vector<double> masses = m_solver->masses();
  std::vector<std::uint8_t> held(m_particles.size(), 0);
  for (BodyParticles& part : m_bodies) {
    const Points rest = part.elements.particles.positions;
    const VecX own = Eigen::Map<const VecX>(masses.data() + part.first, part.count());
    CarriedSurface fine = own_surface(part.elements);
    part.supports = carried_supports(part.body->supports(), part.body->name(), part.body->path(), fine, rest);
    part.loads = CarriedLoads(m_scene.loads, part.body->name(), std::move(fine), rest, own);
    part.loaded = part.loads.needs_surface() ? LoadedSurface(part.elements) : LoadedSurface();
    part.inverse_masses = own.cwiseInverse().replicate(1, 3);
    for (const SupportedNode& node : part.supports.at(0)) {
      held[part.first + node.node] = axes_of(node);
      for (int axis = 0; axis < 3; ++axis)
        if (node.held[axis]) part.inverse_masses(node.node, axis) = 0;
    }
    const std::string& name = part.body->name();
    part.pulls =
        CarriedPulls(m_scene.pulls, name,
                     pulled_vertices(m_scene.pulls, name, part.body->surface().vertices, rest, m_spacing));
  }
  m_solver->set_held(held);
  if (has_following_loads()) m_solver->set_pushes([this](double since) { return pushes(since); });
  if (!m_scene.obstacles.empty()) {
    m_solver->set_obstacles([this](int particle, const Vec3& x) { return nearest_obstacle(particle, x); },
                            obstacle_speed(), yielding_obstacles());
  }
  if (m_settings.projectile) {
    const ProjectileSettings& p = *m_settings.projectile;
    m_solver->set_projectile(Projectile{p.model, p.position, p.velocity, p.radius, p.stiffness});
  }
}

// What is authored in bonds; returns warnings of what none of them crosses, a slip of its place as a rule.
Notes PeridynamicsMethod::apply_notches() {
  Notes idle;
  const Points& rest = m_particles.positions;
  for (std::size_t n = 0; n < m_settings.notches.size(); ++n) {
    const NotchTest crosses(notch_of(m_settings.notches[n]));
    std::vector<std::uint8_t> is_above(m_particles.size());
    for (std::size_t i = 0; i < is_above.size(); ++i)
      is_above[i] = crosses.is_above(rest.row(static_cast<Eigen::Index>(i)));
    std::atomic<bool> cuts = false;
    m_solver->remove_bonds([&](int i, int j) {
      const bool is_cut = is_above[i] != is_above[j] && crosses(rest.row(i), rest.row(j));
      if (is_cut) cuts.store(true, std::memory_order_relaxed);
      return is_cut;
    });
    if (!cuts)
      idle.push_back({Severity::warning,
                      fmt::format("methods.peridynamics.notches[{}] cuts no bond: it has no effect", n)});
  }
  if (!m_settings.cracks) return idle;
  const CrackSettings& c = *m_settings.cracks;
  const auto crosses =
      crosses_crack({c.centre, c.axis, c.count, c.length, 2 * m_spacing, c.wander, m_scene.seed});
  std::atomic<bool> weakens = false;
  m_solver->weaken_bonds([&](int i, int j) {
    const bool is_weak = i < j && crosses(rest.row(i), rest.row(j));
    if (is_weak) weakens.store(true, std::memory_order_relaxed);
    return is_weak;
  });
  if (!weakens)
    idle.push_back({Severity::warning, "methods.peridynamics.cracks weaken no bond: they have no effect"});
  return idle;
}

ObstaclePoint PeridynamicsMethod::nearest_obstacle(int particle, const Vec3& point) const {
  ObstaclePoint nearest;
  nearest.distance = std::numeric_limits<double>::infinity();
  for (std::size_t o = 0; o < m_obstacles.size(); ++o) {
    const SignedDistance distance = m_obstacles.distance(o, point);
    if (distance.value >= nearest.distance) continue;
    nearest.distance = distance.value;
    nearest.normal = distance.gradient;
    nearest.obstacle = static_cast<int>(o);
  }
  const std::size_t o = static_cast<std::size_t>(nearest.obstacle);
  nearest.velocity = m_obstacles.state(o).velocity_at(point);
  nearest.restitution = m_settings.restitution.value_or(m_obstacles.body(o).description().restitution);
  nearest.yields = m_obstacles.body(o).dynamic();
  const double own = m_scene.bodies[m_particles.body[particle]].material().friction;
  nearest.friction = m_settings.friction.value_or(m_obstacles.body(o).description().friction_with(own));
  return nearest;
}

YieldingObstacles PeridynamicsMethod::yielding_obstacles() {
  YieldingObstacles out;
  out.velocity = [this](int o, const Vec3& point) {
    return m_obstacles.state(static_cast<std::size_t>(o)).velocity_at(point);
  };
  out.inverse_mass = [this](int o, const Vec3& point) -> Mat3 {
    const ObstacleBody& body = m_obstacles.body(static_cast<std::size_t>(o));
    const ObstacleState& state = m_obstacles.state(static_cast<std::size_t>(o));
    const Vec3 r = point - state.position;
    Mat3 arm;
    arm << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    return body.inverse_mass() * Mat3::Identity() - arm * body.world_inverse_inertia(state) * arm;
  };
  out.push = [this](int o, const Vec3& point, const Vec3& impulse) {
    m_obstacles.apply_impulse(static_cast<std::size_t>(o), point, impulse);
  };
  return out;
}

// An upper bound for the speed of any obstacle's surface near the bodies; without a bound (moving obstacles)
// every particle looks at every step.
double PeridynamicsMethod::obstacle_speed() const {
  return m_obstacles_move ? 1e12 : 0;
}

// Loads that turn with the surface, or hang on where it is.
bool PeridynamicsMethod::has_following_loads() const {
  if (!m_scene.pulls.empty()) return true;
  return std::any_of(m_scene.loads.begin(), m_scene.loads.end(),
                     [](const Load& load) { return load.kind == LoadKind::pressure || load.follower; });
}

// Mean forces over [from, to] on the particles of a body where they are now.
Points PeridynamicsMethod::load_forces(BodyParticles& part, const Points& current, double from, double to) {
  const Points own = current.middleRows(part.first, part.count());
  if (!part.loads.needs_surface()) return part.loads.forces(own, from, to);
  BondsOfBody bonds;
  bonds.count = [&](int i) { return m_solver->bond_count(part.first + i); };
  bonds.find = [&](int i, std::vector<int>& found) {
    found.clear();
    m_solver->for_each_bond(part.first + i, [&](int j, double, double) { found.push_back(j - part.first); });
  };
  bonds.has = [&](int i, int j) { return m_solver->bonded(part.first + i, part.first + j); };
  part.loaded.follow_bonds(bonds);
  const auto rotation = [&](int i) -> Mat3 {
    return m_rotations[static_cast<std::size_t>(part.first + i)].toRotationMatrix();
  };
  const Points surface = part.loaded.points(own, rotation);
  return part.loads.forces_on_particles(own, from, to) +
         part.loaded.spread(part.loads.forces_on_surface(surface, from, to), own, has_following_loads());
}

// Accelerations by loads, of all particles; empty without loads.
Points PeridynamicsMethod::load_accelerations(const Points& current, double from, double to) {
  Points accelerations;
  for (BodyParticles& part : m_bodies) {
    if (part.loads.empty()) continue;
    if (accelerations.size() == 0) accelerations = Points::Zero(current.rows(), 3);
    const Points forces = load_forces(part, current, from, to);
    for (Eigen::Index i = 0; i < forces.rows(); ++i) {
      accelerations.row(part.first + i) = forces.row(i) / m_masses[static_cast<std::size_t>(part.first + i)];
    }
  }
  return accelerations;
}

// Loads where one follows the surface, at every force pass of the solver: `since` after its step began. Held over a step of the
// scene, forces that push inwards turn a body on that has begun to turn (1.8 times as fast after each of a box's steps of 1/60 s).
Points PeridynamicsMethod::pushes(double since) {
  const double now = m_step_start + since, half = 0.5 * m_step_length;
  const Points current = m_solver->positions();
  Points accelerations = load_accelerations(current, std::max(0.0, now - half), now + half);
  if (!m_scene.pulls.empty()) add_pulls(current, std::max(0.0, now - half), accelerations);
  return accelerations;
}

void PeridynamicsMethod::add_pulls(const Points& current, double from, Points& accelerations) {
  if (accelerations.size() == 0) accelerations = Points::Zero(current.rows(), 3);
  const Points velocities = m_solver->velocities();
  for (BodyParticles& part : m_bodies) {
    const Points own = current.middleRows(part.first, part.count());
    part.pulls.begin(from, m_step_length, own, part.inverse_masses);
    if (!part.pulls.act()) continue;
    Points moving = velocities.middleRows(part.first, part.count());
    part.pulls.sweep(moving);
    accelerations.middleRows(part.first, part.count()) +=
        part.pulls.forces(part.count()).cwiseProduct(part.inverse_masses);
  }
}

Mat3 PeridynamicsMethod::local_map(int particle, const Points& current) const {
  std::vector<int> bonded;
  m_solver->for_each_bond(particle, [&](int j, double, double) { bonded.push_back(j); });
  return fit_affine(m_particles.positions, current, particle, bonded,
                    m_rotations[static_cast<std::size_t>(particle)].toRotationMatrix());
}

// Held particles move with the velocity that brings them to their place at the end of the interval.
void PeridynamicsMethod::prescribe(double from, double to) {
  if (!is_acted_on()) return;
  const Points current = m_solver->positions();
  Points velocities = m_solver->velocities();
  std::vector<std::uint8_t> held(m_particles.size(), 0);
  for (const BodyParticles& part : m_bodies) {
    for (const SupportedNode& node : part.supports.at(to)) {
      const Eigen::Index i = part.first + node.node;
      held[static_cast<std::size_t>(i)] = axes_of(node);
      for (int axis = 0; axis < 3; ++axis) {
        if (node.held[axis]) velocities(i, axis) = (node.position[axis] - current(i, axis)) / (to - from);
      }
    }
  }
  m_solver->set_held(held);
  m_solver->drive(velocities);
  if (has_following_loads()) return;  // the solver asks for them
  const Points accelerations = load_accelerations(current, from, to);
  if (accelerations.size() > 0) m_solver->set_accelerations(accelerations);
}

bool PeridynamicsMethod::take_step(double dt) {
  if (!m_solver->step(dt)) return false;
  const std::vector<ObstacleImpulse> impulses = m_solver->take_impulses();
  if (!m_obstacles_move) return true;
  for (const ObstacleImpulse& hit : impulses) {
    m_obstacles.apply_impulse(static_cast<std::size_t>(hit.obstacle), hit.point, hit.impulse);
  }
  m_obstacles.advance(dt);
  return true;
}

// Bodies that lie on something, over the `dt` that ends now.
void PeridynamicsMethod::settle(double now, double dt) {
  const std::vector<std::uint8_t> touches = m_solver->take_touches();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const BodyParticles& part = m_bodies[b];
    if (!part.supports.empty()) continue;
    if (touches[b]) m_totals.lies_until[b] = now + part.settling.memory();
    if (now < m_totals.lies_until[b])
      m_totals.damped += m_solver->settle(static_cast<int>(b), part.settling, dt);
  }
}

StepReport PeridynamicsMethod::advance(double until, const InterruptCheck& interrupted) {
  Stopwatch stopwatch;
  StepReport report;
  forget_moment();
  while (m_totals.time < until - 1e-9 * m_scene.step()) {
    const double end = std::min(until, m_totals.time + m_scene.step());
    const double step = step_for_contact();
    if (step < k_smallest_share * m_step)
      return {
          Status::failed,
          fmt::format("particles move at {:.3g} m/s: steps in which none passes through an obstacle would "
                      "be {:.2g} s long; try lower speeds or a stiffer material",
                      fastest_particle(), step),
          report.steps, 0};
    const int steps = std::max(1, static_cast<int>(std::ceil((end - m_totals.time) / step - 1e-9)));
    const double dt = (end - m_totals.time) / steps;
    prescribe(m_totals.time, end);
    for (int s = 0; s < steps; ++s) {
      if (s % 16 == 0 && interrupted()) return {Status::interrupted, "interrupted", report.steps, 0};
      m_step_start = m_totals.time + s * dt;
      m_step_length = dt;
      if (!take_step(dt)) {
        return {Status::failed,
                fmt::format(
                    "particles moved faster than any wave at step {:.3g} s: try a smaller step or a softer "
                    "projectile or contact",
                    dt),
                report.steps, 0};
      }
      ++report.steps;
      const int since = s % k_settling_steps + 1;
      if (since == k_settling_steps || s + 1 == steps) settle(m_step_start + dt, since * dt);
    }
    m_totals.time = end;
  }
  m_totals.time = until;
  m_times[1].second += stopwatch.lap();
  update_fragments();
  m_times[2].second += stopwatch.lap();
  if (const auto reason = find_lost_body()) return {Status::failed, *reason, report.steps, 0};
  return report;
}

// m/s
double PeridynamicsMethod::fastest_particle() const {
  return m_solver->velocities().rowwise().norm().maxCoeff();
}

// Stable steps follow from waves, and a soft body may be faster than its own: half a spacing a step keeps its
// particles from passing through what they meet.
double PeridynamicsMethod::step_for_contact() const {
  if (m_scene.obstacles.empty() && m_bodies.size() < 2) return m_step;
  return std::min(m_step, 0.5 * m_spacing / std::max(fastest_particle(), 1e-300));
}

// Whether a body is lost shows without the stretch around every particle, which takes longer to find than all else here.
std::optional<std::string> PeridynamicsMethod::find_lost_body() {
  const Points now = m_solver->positions();
  const bool is_broken = m_solver->broken_bonds() > 0;
  std::vector<WatchedBody> watched;
  const auto turned = [&](int particle) {
    return m_rotations[static_cast<std::size_t>(particle)].toRotationMatrix();
  };
  for (const BodyParticles& part : m_bodies)
    watched.push_back({is_broken ? Points(0, 3) : followed(part, now, turned),
                       now.middleRows(part.first, part.count()), is_broken});
  return m_watch.check(obstacle_poses(), watched, m_totals.time);
}

// Returns whether bonds have broken since the last time.
bool PeridynamicsMethod::find_pieces() {
  const std::int64_t broken = m_solver->broken_bonds();
  if (broken == m_broken_at_fragments) return false;
  const std::vector<double> damage = m_solver->damage();
  // Neighbours too far apart to have been bonded hold together while neither has lost half its bonds. Where neither has lost
  // any, both still have the one between them.
  std::vector<std::uint8_t> is_joined(m_neighbours.size());
  parallel_for(m_neighbours.size(), [&](std::size_t k) {
    const auto [a, b] = m_neighbours[k];
    const double worst = std::max(damage[a], damage[b]);
    is_joined[k] = m_bonded_at_rest[k] ? worst == 0 || m_solver->bonded(a, b) : worst < 0.5;
  });
  std::vector<std::pair<int, int>> joined;
  joined.reserve(m_neighbours.size());
  for (std::size_t k = 0; k < m_neighbours.size(); ++k)
    if (is_joined[k]) joined.push_back(m_neighbours[k]);
  m_fragments = find_fragments(joined, m_particles.volumes, [](int, int) { return true; });
  m_broken_at_fragments = broken;
  return true;
}

// How the fragments lie now; the rotations of their particles are kept.
std::vector<RigidTransform> PeridynamicsMethod::fit_pieces() {
  return fit_fragments(m_fragments, m_particles.positions, m_solver->positions(), m_masses, m_rotations);
}

void PeridynamicsMethod::draw_pieces(const std::vector<RigidTransform>& fits) {
  m_motions = m_blend.shown(m_fragments, fits);
  forget_moment();
}

// At the end of a frame.
void PeridynamicsMethod::update_fragments() {
  const Fragments before = m_fragments;
  std::vector<Quat> rotations = m_rotations;
  const bool has_changed = find_pieces();
  const std::vector<RigidTransform> fits = fit_pieces();
  if (has_changed)
    m_blend.split(before,
                  fit_fragments(before, m_particles.positions, m_solver->positions(), m_masses, rotations),
                  m_fragments, fits);
  m_blend.fade(m_fragments, m_particles.positions);
  draw_pieces(fits);
}

// The body's own vertices; map(particle) is of what is around it.
Points PeridynamicsMethod::followed(const BodyParticles& part, const Points& current,
                                    const std::function<Mat3(int)>& map) const {
  const Points& rest = m_particles.positions;
  const auto map_of = [&](int local) { return map(part.first + local); };
  const std::span<const int> fragment(m_fragments.of.data() + part.first, part.count());
  return part.follower->follow(rest.middleRows(part.first, part.count()),
                               current.middleRows(part.first, part.count()), map_of, fragment);
}

Geometry PeridynamicsMethod::particle_geometry(const Points& current) const {
  Geometry geometry;
  geometry.series = "particles";
  geometry.kind = CellKind::points;
  geometry.points = current;
  const std::vector<double> damage = m_solver->damage();
  geometry.arrays.push_back(make_array("velocity", Association::point, m_solver->velocities()));
  geometry.arrays.push_back(make_array("displacement", Association::point, current - m_particles.positions));
  geometry.arrays.push_back({"damage", Association::point, 1, false, damage});
  geometry.arrays.push_back({"elastic_energy", Association::point, 1, false, elastic_energies()});
  geometry.arrays.push_back({"volume", Association::point, 1, false, m_particles.volumes});
  geometry.arrays.push_back(make_integer_array("fragment", Association::point, m_fragments.of));
  geometry.arrays.push_back(make_integer_array("body", Association::point, m_particles.body));
  return geometry;
}

bool PeridynamicsMethod::is_dust(int fragment) const {
  const double side = m_settings.dust_size;
  return m_fragments.volumes[static_cast<std::size_t>(fragment)] < side * side * side;
}

// Dust as points: where each fragment's centre is, and the radius of a sphere of its volume.
Geometry PeridynamicsMethod::dust_geometry() const {
  Geometry out;
  out.series = "dust";
  out.kind = CellKind::points;
  std::vector<Vec3> sums(m_fragments.count(), Vec3::Zero());
  const Points current = m_solver->positions();
  for (std::size_t i = 0; i < m_particles.size(); ++i)
    sums[m_fragments.of[i]] += m_particles.volumes[i] * Vec3(current.row(static_cast<Eigen::Index>(i)));
  std::vector<int> chosen;
  for (int f = 0; f < static_cast<int>(m_fragments.count()); ++f)
    if (is_dust(f)) chosen.push_back(f);
  out.points.resize(static_cast<Eigen::Index>(chosen.size()), 3);
  std::vector<double> radii;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const double volume = m_fragments.volumes[chosen[k]];
    out.points.row(static_cast<Eigen::Index>(k)) = (sums[chosen[k]] / volume).transpose();
    radii.push_back(std::cbrt(3 * volume / (4 * M_PI)));
  }
  out.arrays.push_back({"radius", Association::point, 1, false, std::move(radii)});
  out.arrays.push_back(make_integer_array("fragment", Association::point, chosen));
  return out;
}

// The written surface, one geometry.
const std::vector<Geometry>& PeridynamicsMethod::surfaces(const Points& current) const {
  if (m_written.empty()) m_written = make_surfaces(current);
  return m_written;
}

const std::vector<double>& PeridynamicsMethod::elastic_energies() const {
  if (m_elastic.empty()) m_elastic = m_solver->elastic_energies();
  return m_elastic;
}

void PeridynamicsMethod::forget_moment() {
  m_written.clear();
  m_elastic.clear();
  m_surface_depth.reset();
}

bool PeridynamicsMethod::is_acted_on() const {
  return std::any_of(m_bodies.begin(), m_bodies.end(), [](const BodyParticles& part) {
    return !part.supports.empty() || !part.loads.empty() || !part.pulls.empty();
  });
}

// Damage of the particle behind every triangle; at points the velocity of one behind a triangle around, as all methods
// write it (and half the numbers that triangles would need).
void PeridynamicsMethod::add_particle_fields(const BodyParticles& part, Geometry& pieces) const {
  const auto owners = std::find_if(pieces.arrays.begin(), pieces.arrays.end(),
                                   [](const FieldArray& array) { return array.name == "particle"; });
  const std::vector<double> damage = m_solver->damage();
  const Points velocities = m_solver->velocities();
  const std::size_t cells = owners->values.size();
  FieldArray damages{"damage", Association::cell, 1, false, std::vector<double>(cells)};
  Points moving(pieces.points.rows(), 3);
  for (std::size_t c = cells; c-- > 0;) {  // of several triangles the first
    const auto particle = part.first + static_cast<std::size_t>(owners->values[c]);
    damages.values[c] = damage[particle];
    for (std::size_t k = 3 * c; k < 3 * c + 3; ++k)
      moving.row(pieces.connectivity[k]) = velocities.row(static_cast<Eigen::Index>(particle));
  }
  pieces.arrays.push_back(std::move(damages));
  pieces.arrays.push_back(make_array("velocity", Association::point, moving));
}

// Damage and velocity of the particle nearest to every vertex.
void PeridynamicsMethod::add_vertex_fields(Geometry& surface) const {
  const std::vector<double> damage = m_solver->damage();
  const Points velocities = m_solver->velocities();
  std::vector<MatX> damages, moving;
  for (const BodyParticles& part : m_bodies) {
    const Eigen::Index count = part.body->surface().vertices.rows();
    damages.emplace_back(count, 1);
    moving.emplace_back(count, 3);
    for (Eigen::Index v = 0; v < count; ++v) {
      const auto particle = static_cast<Eigen::Index>(part.first) + part.follower->nearest(v);
      damages.back()(v, 0) = damage[static_cast<std::size_t>(particle)];
      moving.back().row(v) = velocities.row(particle);
    }
  }
  add_point_array(surface, "damage", damages);
  add_point_array(surface, "velocity", moving);
}

std::vector<Geometry> PeridynamicsMethod::make_surfaces(const Points& current) const {
  if (m_settings.surface == WrittenSurface::deforming) {
    std::vector<Points> positions;
    for (const BodyParticles& part : m_bodies)
      positions.push_back(followed(part, current, [&](int i) { return local_map(i, current); }));
    Geometry surface = surface_geometry(m_scene, positions);
    add_vertex_fields(surface);
    return {std::move(surface)};
  }
  std::vector<Geometry> result;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    const BodyParticles& part = m_bodies[b];
    const std::span<const int> of(m_fragments.of.data() + part.first, part.count());
    const auto is_drawn = [&](int f) { return m_settings.dust == DustDisplay::surface || !is_dust(f); };
    Geometry pieces =
        fragment_surface(part.elements, part.surface, of, m_motions, static_cast<int>(b), is_drawn);
    add_particle_fields(part, pieces);
    if (b == 0) {
      result.push_back(std::move(pieces));
    } else {
      append(result[0], pieces);
    }
  }
  return result;
}

// How far the written surface reaches into obstacles.
double PeridynamicsMethod::surface_depth(const Points& current) const {
  if (!m_surface_depth) m_surface_depth = deepest_point(m_obstacles, surfaces(current)[0].points);
  return *m_surface_depth;
}

// Takes the surfaces along: they are large, and what is asked of them afterwards is noted before.
std::vector<Geometry> PeridynamicsMethod::fields() const {
  const Points current = m_solver->positions();
  if (m_obstacles.size() > 0) surface_depth(current);
  surfaces(current);
  std::vector<Geometry> result = std::move(m_written);
  m_written.clear();
  result.push_back(particle_geometry(current));
  if (m_settings.dust == DustDisplay::points) result.push_back(dust_geometry());
  return result;
}

Diagnostics PeridynamicsMethod::diagnostics() const {
  const Energies energies = m_solver->energies(elastic_energies());
  const Points x = m_solver->positions();
  Diagnostics d;
  // In the order of the particles: a vectorised sum over memory of unknown alignment would differ in its last digit.
  d.mass = std::accumulate(m_masses.begin(), m_masses.end(), 0.0);
  d.centre_of_mass.setZero();
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    d.centre_of_mass += m_masses[static_cast<std::size_t>(i)] * x.row(i).transpose();
  d.centre_of_mass /= d.mass;
  d.linear_momentum = m_solver->momentum();
  d.angular_momentum = m_solver->angular_momentum();
  // ½ m v(t − h/2) · v(t + h/2): with this kinetic energy the integrator keeps the sum; with ½ m v² an impact at the
  // default step seemed to add up to 2.5 %, and to take it back.
  d.kinetic_energy = energies.kinetic + energies.integration;
  d.elastic_energy = energies.elastic + energies.contact;
  d.gravitational_energy = energies.gravity;
  d.contact_dissipation = energies.dissipated;
  d.damping_dissipation = m_totals.damped;
  d.fracture_energy = energies.released;
  d.external_work = energies.work;
  d.deepest_penetration = deepest_point(m_obstacles, x);
  if (m_obstacles.size() > 0) d.deepest_penetration = std::max(d.deepest_penetration, surface_depth(x));
  const std::vector<double> damage = m_solver->damage();
  const double whole = std::accumulate(m_fragments.volumes.begin(), m_fragments.volumes.end(), 0.0);
  d.extra = {{"broken_bonds", "", static_cast<double>(m_solver->broken_bonds())},
             {"obstacle_work", "J", energies.work},
             {"mean_damage", "",
              std::accumulate(damage.begin(), damage.end(), 0.0) / static_cast<double>(damage.size())},
             {"fragments", "", static_cast<double>(m_fragments.count())},
             {"largest_fragment", "", m_fragments.volumes[0] / whole}};
  const std::vector<int> bins = size_histogram(m_fragments);
  static const char* const names[] = {"fragments_below_1e-4", "fragments_below_1e-3", "fragments_below_1e-2",
                                      "fragments_below_1e-1", "fragments_up_to_1"};
  for (std::size_t k = 0; k < bins.size(); ++k)
    d.extra.push_back({names[k], "", static_cast<double>(bins[k])});
  return d;
}

void PeridynamicsMethod::save(StateWriter& out) const {
  write_state(out, PeridynamicsState{m_solver->save(), m_totals, m_obstacles.state(), m_rotations,
                                     m_watch.state(), m_blend.state()});
}

void PeridynamicsMethod::load(StateReader& in) {
  PeridynamicsState state;
  read_state(in, state);
  if (state.rotations.size() != m_rotations.size() || state.totals.lies_until.size() != m_bodies.size())
    throw InputError("the saved state belongs to other particles");
  make_solver();
  apply_notches();
  m_solver->load(state.solver);
  m_totals = std::move(state.totals);
  m_obstacles.restore(std::move(state.obstacles));
  m_rotations = std::move(state.rotations);
  m_watch.set_state(std::move(state.watch));
  m_blend.set_state(std::move(state.split_offsets));
  m_broken_at_fragments = -1;
  find_pieces();
  draw_pieces(fit_pieces());
}

std::vector<std::pair<Vec3, Quat>> PeridynamicsMethod::obstacle_poses() const {
  std::vector<std::pair<Vec3, Quat>> poses;
  for (const ObstacleState& state : m_obstacles.states())
    poses.emplace_back(state.position, state.orientation);
  return poses;
}

}  // namespace

Capabilities capabilities() {
  Capabilities c;
  c.fracture = true;
  c.body_contact = true;
  c.self_contact = true;
  c.friction = true;
  c.restitution = true;
  c.supports = true;
  c.loads = true;
  c.pulls = true;
  return c;
}

std::unique_ptr<Method> make_method(const Scene& scene, const Settings& settings) {
  return std::make_unique<PeridynamicsMethod>(scene, settings);
}

}  // namespace exemplar::peridynamics
