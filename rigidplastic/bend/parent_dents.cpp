#include "rigidplastic/bend/parent_dents.h"

#include <algorithm>
#include <map>

namespace exemplar::bend {

namespace {

constexpr double k_same_place = 0.3;  // of the smallest extent: contacts nearer than this are one place

}  // namespace

ParentDents::ParentDents(const Scene& scene, const dent::DentOptions& options)
    : m_scene(scene), m_options(options) {
  for (const Body& body : scene.bodies) {
    const Points& points = body.initial_surface();
    const Edges edges = unique_edges(body.surface().triangles);
    m_neighbours.push_back(vertex_neighbours(edges, points.rows()));
    m_edge_length.push_back(dent::mean_edge_length(points, edges));
    m_extent.push_back((points.colwise().maxCoeff() - points.colwise().minCoeff()).minCoeff());
    m_reach.push_back(k_same_place * m_extent.back());
  }
  for (const ObstacleBody& obstacle : scene.obstacles) {
    m_obstacles.emplace_back(obstacle);
    m_reach.push_back(k_same_place * m_obstacles.back().smallest_extent());
  }
}

bool ParentDents::dentable(int place) const {
  if (place >= static_cast<int>(m_scene.bodies.size())) return false;
  return m_options.distance || m_scene.bodies[static_cast<std::size_t>(place)].material().yield_stress;
}

// The contact log with places instead of rigid bodies, whose number changes while joints open and close.
std::vector<ParentDents::Meeting> ParentDents::meetings(const rigid::Simulation& simulation) {
  const int parts = static_cast<int>(simulation.bodies().size()),
            bodies = static_cast<int>(m_scene.bodies.size());
  const auto place = [&](int object) {
    return object < parts ? simulation.bodies()[static_cast<std::size_t>(object)].scene_body
                          : object - parts + bodies;
  };
  std::vector<rigid::Contact> contacts = simulation.contacts();
  std::map<std::pair<int, int>, std::pair<int, int>> objects;
  for (rigid::Contact& c : contacts) {
    const std::pair<int, int> met{c.a, c.b};
    c.a = place(c.a);
    c.b = place(c.b);
    objects.try_emplace({c.a, c.b}, met);
  }
  std::stable_sort(contacts.begin(), contacts.end(), [](const rigid::Contact& x, const rigid::Contact& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  std::vector<Meeting> result;
  for (const dent::PairImpact& impact : m_log.update(contacts, m_reach, m_options.threshold)) {
    const auto& [a, b] = objects.at({impact.a, impact.b});
    result.push_back({impact, {a, impact.a}, {b, impact.b}});
  }
  return result;
}

dent::ContactMass ParentDents::contact_mass(const rigid::Simulation& simulation, const Side& side,
                                            const Vec3& point) const {
  const RigidState& state = simulation.states_before()[static_cast<std::size_t>(side.object)];
  dent::ContactMass mass;
  mass.arm = point - state.position;
  if (side.place >= static_cast<int>(m_scene.bodies.size())) {
    const ObstacleBody& obstacle =
        m_scene.obstacles[static_cast<std::size_t>(side.place) - m_scene.bodies.size()];
    mass.inverse_mass = obstacle.inverse_mass();
    mass.inverse_inertia = obstacle.world_inverse_inertia(state);
    return mass;
  }
  const rigid::RigidBody& body = simulation.bodies()[static_cast<std::size_t>(side.object)];
  if (simulation.is_held(body)) return mass;
  const Mat3 axes = state.orientation.toRotationMatrix();
  mass.inverse_mass = 1 / body.mass;
  mass.inverse_inertia = axes * body.frame.inertia.cwiseInverse().asDiagonal() * axes.transpose();
  return mass;
}

dent::Strike ParentDents::strike(const rigid::Simulation& simulation, const Meeting& meeting, bool on_a,
                                 double energy, const std::vector<Points>& surfaces) const {
  const dent::PairImpact& pair = meeting.impact;
  const Side &target = on_a ? meeting.a : meeting.b, &other = on_a ? meeting.b : meeting.a;
  const double side = on_a ? 1 : -1;
  dent::Strike result;
  result.target = target.place;
  result.energy = energy;
  result.impact.point_on_target = on_a ? pair.point_a : pair.point_b;
  result.impact.point_on_projectile = on_a ? pair.point_b : pair.point_a;
  result.impact.inward_normal = side * pair.normal;
  result.impact.velocity = -side * pair.velocity;
  const std::size_t place = static_cast<std::size_t>(other.place);
  if (place < m_scene.bodies.size()) {
    result.projectile = surfaces[place];
    result.triangles = &m_scene.bodies[place].surface().triangles;
    result.neighbours = &m_neighbours[place];
    result.projectile_edge = m_edge_length[place];
    return result;
  }
  const dent::ObstacleSurface& obstacle = m_obstacles[place - m_scene.bodies.size()];
  const RigidState& state = simulation.object_state(static_cast<std::size_t>(other.object));
  result.projectile =
      (obstacle.mesh().vertices * state.orientation.toRotationMatrix().transpose()).rowwise() +
      state.position.transpose();
  result.triangles = &obstacle.mesh().triangles;
  result.neighbours = &obstacle.neighbours();
  result.projectile_edge = obstacle.edge_length();
  return result;
}

// As in `rigid-dent`: two dentable bodies share the energy, the softer one taking more.
std::vector<dent::Strike> ParentDents::strikes(const rigid::Simulation& simulation, const Meeting& m,
                                               const std::vector<Points>& surfaces) const {
  const bool a = dentable(m.a.place), b = dentable(m.b.place);
  if (!a && !b) return {};
  const Vec3 point = 0.5 * (m.impact.point_a + m.impact.point_b);
  const double mass = dent::effective_mass(contact_mass(simulation, m.a, point),
                                           contact_mass(simulation, m.b, point), m.impact.normal);
  const double energy = 0.5 * mass * m.impact.closing_speed() * m.impact.closing_speed();
  const auto yield = [&](int place) {
    return m_scene.bodies[static_cast<std::size_t>(place)].material().yield_stress.value_or(1);
  };
  const double share = !b ? 1 : !a ? 0 : yield(m.b.place) / (yield(m.a.place) + yield(m.b.place));
  std::vector<dent::Strike> result;
  if (a) result.push_back(strike(simulation, m, true, share * energy, surfaces));
  if (b) result.push_back(strike(simulation, m, false, (1 - share) * energy, surfaces));
  return result;
}

// All maps are made before any of them is applied.
std::vector<char> ParentDents::apply(const rigid::Simulation& simulation, std::vector<BendingBody>& bodies) {
  std::vector<char> changed(bodies.size(), 0);
  const std::vector<Meeting> met = meetings(simulation);
  if (met.empty()) return changed;
  std::vector<Points> surfaces(bodies.size());
  for (const Meeting& m : met) {
    for (const int place : {m.a.place, m.b.place}) {
      const std::size_t s = static_cast<std::size_t>(place);
      if (s < bodies.size() && surfaces[s].rows() == 0) surfaces[s] = bodies[s].surface();
    }
  }
  std::vector<std::pair<std::size_t, dent::DentMap>> dents;
  for (const Meeting& m : met) {
    for (const dent::Strike& hit : strikes(simulation, m, surfaces)) {
      const std::size_t s = static_cast<std::size_t>(hit.target);
      const dent::Target target{&m_scene.bodies[s], &surfaces[s], &m_scene.bodies[s].surface().triangles,
                                m_edge_length[s], m_extent[s]};
      dents.emplace_back(s, dent::dent_of(hit, target, m_options));
      if (!dents.back().second.grid.depth.empty()) m_dissipated += hit.energy;
    }
  }
  for (const auto& [s, map] : dents) {
    if (map.grid.depth.empty()) continue;
    Points moved = surfaces[s];
    map.apply(moved);
    bodies[s].articulated().displace(bodies[s].poses(), bodies[s].parts(), moved - surfaces[s]);
    changed[s] = 1;
    ++m_count;
    m_deepest = std::max(m_deepest, map.distance);
  }
  return changed;
}

void ParentDents::restore(const ParentDentsState& state) {
  m_log.restore(state.places);
  m_count = state.count;
  m_deepest = state.deepest;
  m_dissipated = state.dissipated;
}

}  // namespace exemplar::bend
