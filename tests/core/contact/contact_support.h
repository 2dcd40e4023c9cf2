// Small worlds for tests of contact: a sheet, obstacles of every shape, all unknowns in one vector.
#pragma once

#include <memory>

#include "core/base/random.h"
#include "core/contact/contact.h"

namespace exemplar::testing {

inline Vec3 random_vector(std::uint64_t seed, std::uint64_t key, double half = 1) {
  return half * Vec3(2 * uniform_random(seed, 3 * key) - 1, 2 * uniform_random(seed, 3 * key + 1) - 1,
                     2 * uniform_random(seed, 3 * key + 2) - 1);
}

// A square sheet of n × n cells in the plane y = 0.
inline ContactSurface sheet(int n, double side) {
  ContactSurface s;
  s.map = PointMap::identity((n + 1) * (n + 1));
  s.rest.resize((n + 1) * (n + 1), 3);
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j)
      s.rest.row(i * (n + 1) + j) << side * (double(i) / n - 0.5), 0, side * (double(j) / n - 0.5);
  }
  s.triangles.resize(2 * n * n, 3);
  int t = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int a = i * (n + 1) + j, b = a + 1, c = a + n + 1, d = c + 1;
      s.triangles.row(t++) << a, b, d;
      s.triangles.row(t++) << a, d, c;
    }
  }
  return s;
}

inline TriMesh tetrahedron(double size) {
  TriMesh m{Points(4, 3), Triangles(4, 3)};
  m.vertices << 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1;
  m.vertices *= size;
  m.triangles << 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2;
  return m;
}

inline Obstacle obstacle(ShapeKind kind, double size, const Vec3& position, bool dynamic = true) {
  Obstacle o;
  o.shape.kind = kind;
  o.shape.radius = 0.5 * size;
  o.shape.length = 1.5 * size;
  o.shape.size = size * Vec3(1, 0.8, 1.3);
  if (kind == ShapeKind::mesh) o.shape.mesh = tetrahedron(0.5 * size);
  o.kind = dynamic ? ObstacleKind::dynamic : ObstacleKind::fixed;
  o.mass = dynamic ? 2 : 0;
  o.position = position;
  if (kind != ShapeKind::plane) o.rotation = Vec3(0.3, -0.5, 0.7);
  return o;
}

// All unknowns in one vector: nodes, then six for every obstacle.
struct System {
  ContactPotential* contact;
  Eigen::Index nodes;

  Points x(const VecX& all) const { return Eigen::Map<const Points>(all.data(), nodes, 3); }
  VecX q(const VecX& all) const { return all.tail(all.size() - 3 * nodes); }
  void scatter(const std::vector<ContactBlock>& blocks, VecX& g, MatX* h) const {
    const PointMap& map = contact->points().surface().map;
    for (const ContactBlock& b : blocks) {
      // The block's coordinates as combinations of all unknowns.
      MatX jacobian = MatX::Zero(b.gradient.size(), g.size());
      for (int p = 0; p < b.point_count; ++p) {
        for (int k = map.begin(b.points[p]); k < map.end(b.points[p]); ++k)
          jacobian.block<3, 3>(3 * p, 3 * map.nodes[k]) += map.weights[k] * Mat3::Identity();
      }
      for (int k = 0; k < b.obstacle_count(); ++k)
        jacobian.block<6, 6>(b.obstacle_first(k), 3 * nodes + 6 * b.obstacles[k]).setIdentity();
      g += jacobian.transpose() * b.gradient;
      if (h) *h += jacobian.transpose() * b.hessian * jacobian;
    }
  }
  double value(const VecX& all) const { return contact->value(x(all), q(all)); }
  VecX gradient(const VecX& all) const {
    VecX g = VecX::Zero(all.size());
    scatter(contact->blocks(x(all), q(all), Derivatives::gradient), g, nullptr);
    return g;
  }
  MatX hessian(const VecX& all, Derivatives d = Derivatives::hessian) const {
    VecX g = VecX::Zero(all.size());
    MatX h = MatX::Zero(all.size(), all.size());
    scatter(contact->blocks(x(all), q(all), d), g, &h);
    return h;
  }
  double friction(const VecX& all) const { return contact->friction().value(x(all), q(all)); }
  VecX friction_gradient(const VecX& all) const {
    VecX g = VecX::Zero(all.size());
    scatter(contact->friction().blocks(x(all), q(all), Derivatives::gradient), g, nullptr);
    return g;
  }
  MatX friction_hessian(const VecX& all) const {
    VecX g = VecX::Zero(all.size());
    MatX h = MatX::Zero(all.size(), all.size());
    scatter(contact->friction().blocks(x(all), q(all), Derivatives::hessian), g, &h);
    return h;
  }
  VecX pack(const Points& nodes_at, const VecX& increments) const {
    VecX all(3 * nodes + increments.size());
    all << flat(nodes_at), increments;
    return all;
  }
};

inline std::vector<ObstacleState> states_of(const std::vector<ObstacleBody>& bodies) {
  std::vector<ObstacleState> states;
  for (const ObstacleBody& b : bodies) states.push_back(b.initial_state());
  return states;
}

inline Points shaken(const Points& rest, double amount, std::uint64_t seed) {
  Points x = rest;
  for (Eigen::Index i = 0; i < x.rows(); ++i) x.row(i) += random_vector(seed, i, amount).transpose();
  return x;
}

// A body above a wavy sheet, pushed down until its gap is a third of the reach.
struct TouchingScene {
  ContactSurface surface = sheet(2, 1.0);
  std::vector<ObstacleBody> bodies;
  std::unique_ptr<ContactPotential> contact;
  System system;
  VecX all;

  explicit TouchingScene(ShapeKind kind, double reach = 0.05) {
    bodies = make_obstacles({obstacle(kind, 0.3, Vec3(0.03, 0.6, -0.04)),
                             obstacle(ShapeKind::plane, 1, Vec3(0, -0.045, 0), false),
                             obstacle(ShapeKind::box, 0.2, Vec3(0.4, 0.9, 0.1))});
    contact = std::make_unique<ContactPotential>(surface, bodies, ContactOptions{reach, 1e4, 1e-2});
    system = {contact.get(), surface.rest.rows()};
    const Points x = shaken(surface.rest, 0.01, 7);
    VecX q = VecX::Zero(18);
    contact->begin_step(states_of(bodies), shaken(x, 3e-3, 8));  // so that friction sees slip everywhere
    lower(x, q, 0, Vec3(0, -1.0, 0), reach);
    lower(x, q, 2, bodies[0].initial_state().position + q.head<3>() - bodies[2].initial_state().position,
          reach);
    for (int k = 0; k < 3; ++k) {
      q[3 + k] += 0.02 * (k - 1);
      q[15 + k] += 0.015 * (1 - k);
    }
    contact->find_pairs(x, q, x, q);
    all = system.pack(x, q);
  }

  void lower(const Points& x, VecX& q, int which, const Vec3& way, double reach) {
    VecX end = q;
    end.segment<3>(6 * which) += way;
    contact->find_pairs(x, q, x, end);
    double low = 0, high = contact->max_step(x, q, x, end);  // there the gap is a fifth of the reach
    for (int i = 0; i < 30; ++i) {
      const double middle = 0.5 * (low + high);
      VecX trial = q;
      trial.segment<3>(6 * which) += middle * way;
      (contact->smallest_gap(x, trial) > 0.4 * reach ? low : high) = middle;
    }
    q.segment<3>(6 * which) += low * way;
  }
};

}  // namespace exemplar::testing
