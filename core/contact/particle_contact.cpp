#include "core/contact/particle_contact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/mesh/distance.h"
#include "core/mesh/topology.h"

namespace exemplar {

void add_particle(int particle, CarriedPoints& out) {
  const double one = 1.0;
  out.add(std::span(&particle, 1), std::span(&one, 1));
}

void keep_first(int count, CarriedPoints& points) {
  points.offsets.resize(to_size(count) + 1);
  points.nodes.resize(to_size(points.offsets.back()));
  points.weights.resize(points.nodes.size());
}

void add_combination(const CarriedPoints& vertices, const std::array<int, 3>& corners,
                     const Vec3& barycentric, CarriedPoints& out) {
  std::vector<std::pair<int, double>> parts;
  for (int c = 0; c < 3; ++c)
    for (int k = vertices.offsets[corners[c]]; k < vertices.offsets[corners[c] + 1]; ++k)
      parts.emplace_back(vertices.nodes[k], barycentric(c) * vertices.weights[k]);
  std::sort(parts.begin(), parts.end());
  std::vector<int> nodes;
  std::vector<double> weights;
  for (const auto& [node, weight] : parts) {
    if (nodes.empty() || nodes.back() != node) {
      nodes.push_back(node);
      weights.push_back(0.0);
    }
    weights.back() += weight;
  }
  out.add(nodes, weights);
}

namespace {

constexpr double k_resting = 1.0;     // approaches below so many times g h are not bounced
constexpr double k_push_share = 0.2;  // of the depth, in one step
constexpr int k_most_divisions = 8;

// Inverse mass of an obstacle at a point: what a unit impulse there changes the point's velocity by.
Mat3 obstacle_inverse_mass(const ObstacleWorld& world, std::size_t o, const Vec3& at) {
  const ObstacleBody& body = world.body(o);
  if (!body.dynamic()) return Mat3::Zero();
  const Vec3 r = at - world.state(o).position;
  Mat3 cross;
  cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
  return body.inverse_mass() * Mat3::Identity() - cross * body.world_inverse_inertia(world.state(o)) * cross;
}

}  // namespace

CarriedPoints with_triangle_samples(const CarriedPoints& vertices, const TriMesh& surface, double spacing) {
  CarriedPoints out = vertices;
  if (!std::isfinite(spacing)) return out;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const std::array<int, 3> c{surface.triangles(t, 0), surface.triangles(t, 1), surface.triangles(t, 2)};
    double longest = 0.0;
    for (int k = 0; k < 3; ++k)
      longest = std::max(longest, (surface.vertices.row(c[k]) - surface.vertices.row(c[(k + 1) % 3])).norm());
    const int n = static_cast<int>(std::min<double>(k_most_divisions, std::ceil(longest / spacing)));
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n - i; ++j) {
        const int k = n - i - j;
        if (std::max({i, j, k}) == n) continue;  // a corner
        add_combination(vertices, c, Vec3(i, j, k) / n, out);
      }
  }
  return out;
}

std::vector<int> inner_particles(const TriMesh& surface, const Points& rest_particles) {
  // On a face the winding number is 1/2, on an edge of a box 1/4, at its corner 1/8. In front of an opening it is anything
  // below 1/2: nodes of a cage that hung out of one lay under the floor and threw the body up.
  const bool is_closed = boundary_edges(surface.triangles).rows() == 0;
  const double least = is_closed ? 0.1 : 0.5;
  const VecX winding = SurfaceDistance(surface).winding_numbers(rest_particles);
  std::vector<int> out;
  for (Eigen::Index i = 0; i < winding.size(); ++i)
    if (winding(i) > least) out.push_back(to_int(i));
  return out;
}

CarriedPoints with_inner_particles(CarriedPoints points, const TriMesh& surface,
                                   const Points& rest_particles) {
  for (const int particle : inner_particles(surface, rest_particles)) add_particle(particle, points);
  return points;
}

double contact_sample_spacing(const std::vector<ObstacleBody>& obstacles) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const ObstacleBody& obstacle : obstacles)
    smallest = std::min(smallest, obstacle.shape().bounding_radius());
  return 0.5 * smallest;
}

ParticleContacts::ParticleContacts(ObstacleWorld& world, const CarriedPoints& points, const ContactStep& step)
    : m_world(world),
      m_points(points),
      m_inverse_masses(step.inverse_masses),
      m_dt(step.dt),
      m_friction(step.friction) {
  const auto count = static_cast<std::size_t>(points.size());
  std::vector<std::vector<Contact>> found(count);
  parallel_for(
      count,
      [&](std::size_t i) {
        Contact c;
        c.point = static_cast<int>(i);
        c.position = points.at(c.point, step.positions);
        const Vec3 v = points.at(c.point, step.velocities);
        for (c.obstacle = 0; c.obstacle < world.size(); ++c.obstacle) {
          const ObstacleState& state = world.state(c.obstacle);
          const double away =
              (c.position - state.position).norm() - world.body(c.obstacle).shape().bounding_radius();
          const Vec3 relative = v - state.velocity_at(c.position);
          const double reach = 1.5 * m_dt * relative.norm() + step.margin + 1e-9;
          if (away > reach) continue;
          const SignedDistance d = world.distance(c.obstacle, c.position);
          if (d.value > reach) continue;
          c.normal = d.gradient;
          c.gap = d.value;
          c.bounce = -relative.dot(c.normal);  // approach for the moment
          c.speed = relative.norm();
          c.start = points.at(c.point, step.start_velocities) - state.velocity_at(c.position);
          found[i].push_back(c);
        }
      },
      128);
  for (const auto& list : found)
    for (Contact c : list) {
      c.inverse_mass = obstacle_inverse_mass(world, c.obstacle, c.position);
      Vec3 own = Vec3::Zero();
      for (int k = points.offsets[c.point]; k < points.offsets[c.point + 1]; ++k)
        own += points.weights[k] * points.weights[k] * m_inverse_masses.row(points.nodes[k]).transpose();
      c.inverse_mass += own.asDiagonal();
      if (!(c.normal.dot(c.inverse_mass * c.normal) > 0.0)) continue;  // both sides are held
      if (c.gap <= c.bounce * m_dt) m_touching_speed = std::max(m_touching_speed, c.speed);
      m_summary.deepest = std::max(m_summary.deepest, -c.gap);
      // Of the approach at the start of the step. What forces add within it is none: springs that press a body to the floor
      // were bounced too, step after step (a dropped cube gained 36 % of its energy at restitution 1).
      const double approach = -c.start.dot(c.normal);
      const bool hits = c.gap <= c.bounce * m_dt && approach > k_resting * m_dt * world.gravity().norm();
      c.bounce = hits ? world.body(c.obstacle).description().restitution * approach : 0.0;
      m_contacts.push_back(c);
    }
}

Vec3 ParticleContacts::relative_velocity(const Contact& c, const Points& velocities) const {
  return m_points.at(c.point, velocities) - m_world.state(c.obstacle).velocity_at(c.position);
}

void ParticleContacts::apply(const Contact& c, const Vec3& impulse, Points& velocities) {
  for (int k = m_points.offsets[c.point]; k < m_points.offsets[c.point + 1]; ++k) {
    const int node = m_points.nodes[k];
    velocities.row(node) +=
        m_points.weights[k] * m_inverse_masses.row(node).cwiseProduct(impulse.transpose());
  }
  m_world.apply_impulse(c.obstacle, c.position, -impulse);
}

double ParticleContacts::friction_limit(const Contact& c) const {
  return m_world.body(c.obstacle).description().friction_with(m_friction) * c.normal_sum;
}

void ParticleContacts::release_friction(Points& velocities) {
  for (Contact& c : m_contacts) {
    const double size = c.friction_sum.norm();
    c.allowed = std::min(size, friction_limit(c));
    if (size <= c.allowed) continue;
    const Vec3 kept = c.allowed / size * c.friction_sum;
    apply(c, kept - c.friction_sum, velocities);
    c.friction_sum = kept;
  }
}

double ParticleContacts::solve(Contact& c, Points& velocities) {
  const Vec3 before = relative_velocity(c, velocities);
  const double wanted = c.bounce > 0.0 ? c.bounce : -std::max(c.gap, 0.0) / m_dt;
  const double sum =
      std::max(0.0, c.normal_sum + (wanted - c.normal.dot(before)) / c.normal.dot(c.inverse_mass * c.normal));
  Vec3 impulse = (sum - c.normal_sum) * c.normal;
  if (sum == 0.0 && c.normal_sum == 0.0) return 0.0;
  c.normal_sum = sum;
  const Vec3 slip = before + c.inverse_mass * impulse;
  const Vec3 along = slip - c.normal.dot(slip) * c.normal;
  Vec3 friction = c.friction_sum;
  if (along.squaredNorm() > 1e-30) {
    const Vec3 direction = along.normalized();
    const double inverse = direction.dot(c.inverse_mass * direction);
    if (inverse > 0.0) friction -= along.norm() / inverse * direction;
  }
  const double limit = std::max(c.allowed, friction_limit(c));
  const double size = friction.norm();
  if (size > limit) friction *= limit / size;
  impulse += friction - c.friction_sum;
  c.friction_sum = friction;
  apply(c, impulse, velocities);
  const Vec3 after = relative_velocity(c, velocities);
  m_summary.closing_speed = std::max(m_summary.closing_speed, -before.dot(c.normal));
  return (after - before).norm();
}

double ParticleContacts::sweep(Points& velocities) {
  double change = 0.0;
  for (Contact& c : m_contacts) change = std::max(change, solve(c, velocities));
  return change;
}

void ParticleContacts::resolve(Points& velocities) {
  for (int k = 0; k < k_most_contact_sweeps; ++k) {
    if (sweep(velocities) < k_contact_settled) break;
  }
  m_summary.contacts = static_cast<int>(std::count_if(m_contacts.begin(), m_contacts.end(),
                                                      [](const Contact& c) { return c.normal_sum > 0.0; }));
}

bool ParticleContacts::touches() const {
  return std::any_of(m_contacts.begin(), m_contacts.end(),
                     [](const Contact& c) { return c.normal_sum > 0.0; });
}

double ParticleContacts::dissipated(const Points& final_velocities) const {
  double sum = 0.0;
  for (const Contact& c : m_contacts) {
    if (c.normal_sum == 0.0) continue;
    const Vec3 impulse = c.normal_sum * c.normal + c.friction_sum;
    sum -= 0.5 * impulse.dot(c.start + relative_velocity(c, final_velocities));
  }
  return sum;
}

void ParticleContacts::push_out(double push_speed, Points& positions) const {
  for (const Contact& c : m_contacts) {
    const Vec3 x = m_points.at(c.point, positions);
    const SignedDistance d = m_world.distance(c.obstacle, x);
    if (d.value >= 0.0) continue;
    double inverse = 0.0;
    for (int k = m_points.offsets[c.point]; k < m_points.offsets[c.point + 1]; ++k)
      inverse += m_points.weights[k] * m_points.weights[k] *
                 d.gradient.dot(m_inverse_masses.row(m_points.nodes[k]).transpose().cwiseProduct(d.gradient));
    if (!(inverse > 0.0)) continue;
    const double out = std::min(-k_push_share * d.value, push_speed * m_dt);
    for (int k = m_points.offsets[c.point]; k < m_points.offsets[c.point + 1]; ++k) {
      const int node = m_points.nodes[k];
      positions.row(node) += out / inverse * m_points.weights[k] *
                             m_inverse_masses.row(node).cwiseProduct(d.gradient.transpose());
    }
  }
}

double deepest_point(const ObstacleWorld& world, const Points& points) {
  double deepest = 0.0;
  for (std::size_t o = 0; o < world.size(); ++o)
    for (Eigen::Index i = 0; i < points.rows(); ++i)
      deepest = std::max(deepest, -world.distance(o, points.row(i).transpose()).value);
  return deepest;
}

}  // namespace exemplar
