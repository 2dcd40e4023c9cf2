#include "core/contact/particle_contact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"

namespace exemplar {

namespace {

constexpr int k_sweeps = 4;
constexpr int k_most_divisions = 8;

// A point of a triangle as a combination of the particles that carry its corners.
void add_sample(const CarriedPoints& vertices, const std::array<int, 3>& corners, const Vec3& barycentric,
                CarriedPoints& out) {
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

struct Candidate {
  std::size_t obstacle;
  int point;
  Vec3 position, normal;
  double distance;
  double inverse_mass;  // of the point: Σ w²/m
};

// Pairs that can touch within the step, point by point.
std::vector<Candidate> find_candidates(const ObstacleWorld& world, const CarriedPoints& points,
                                       const Points& positions, const Points& velocities,
                                       const VecX& inverse_masses, double dt) {
  const auto count = static_cast<std::size_t>(points.size());
  std::vector<std::vector<Candidate>> found(count);
  parallel_for(
      count,
      [&](std::size_t i) {
        const int point = static_cast<int>(i);
        const Vec3 x = points.at(point, positions), v = points.at(point, velocities);
        for (std::size_t o = 0; o < world.size(); ++o) {
          const ObstacleState& state = world.state(o);
          const double away = (x - state.position).norm() - world.body(o).shape().bounding_radius();
          const double reach = dt * (v - state.velocity_at(x)).norm() * 1.5 + 1e-9;
          if (away > reach) continue;
          const SignedDistance d = world.distance(o, x);
          if (d.value > reach) continue;
          double inverse_mass = 0.0;
          for (int k = points.offsets[point]; k < points.offsets[point + 1]; ++k)
            inverse_mass += points.weights[k] * points.weights[k] * inverse_masses(points.nodes[k]);
          if (inverse_mass > 0.0) found[i].push_back({o, point, x, d.gradient, d.value, inverse_mass});
        }
      },
      128);
  std::vector<Candidate> all;
  for (const auto& list : found) all.insert(all.end(), list.begin(), list.end());
  return all;
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
        add_sample(vertices, c, Vec3(i, j, k) / n, out);
      }
  }
  return out;
}

double contact_sample_spacing(const std::vector<ObstacleBody>& obstacles) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const ObstacleBody& obstacle : obstacles)
    smallest = std::min(smallest, obstacle.shape().bounding_radius());
  return 0.5 * smallest;
}

ParticleContactSummary resolve_contacts(ObstacleWorld& world, const CarriedPoints& points,
                                        const Points& positions, const VecX& inverse_masses, double dt,
                                        double push_speed, Points& velocities) {
  ParticleContactSummary summary;
  const std::vector<Candidate> candidates =
      find_candidates(world, points, positions, velocities, inverse_masses, dt);
  for (const Candidate& c : candidates) summary.deepest = std::max(summary.deepest, -c.distance);
  for (int sweep = 0; sweep < k_sweeps; ++sweep) {
    for (const Candidate& c : candidates) {
      const Vec3 v = points.at(c.point, velocities);
      // The closing speed that just reaches the surface, or for a point inside the speed at which it is
      // pushed out.
      const double wanted =
          c.distance > 0.0 ? -c.distance / dt : std::min(push_speed, -0.2 * c.distance / dt);
      const Vec3 before = v - world.state(c.obstacle).velocity_at(c.position);
      if (before.dot(c.normal) >= wanted) continue;
      const ContactImpulse impulse =
          world.collide_particle(c.obstacle, c.position, c.normal, v - wanted * c.normal, c.inverse_mass);
      if (impulse.normal <= 0.0) continue;
      for (int k = points.offsets[c.point]; k < points.offsets[c.point + 1]; ++k)
        velocities.row(points.nodes[k]) +=
            points.weights[k] * inverse_masses(points.nodes[k]) * impulse.impulse.transpose();
      const Vec3 after = points.at(c.point, velocities) - world.state(c.obstacle).velocity_at(c.position);
      summary.dissipated -= 0.5 * impulse.impulse.dot(before + after);
      summary.contacts += sweep == 0;
      summary.closing_speed = std::max(summary.closing_speed, -before.dot(c.normal));
    }
  }
  return summary;
}

}  // namespace exemplar
