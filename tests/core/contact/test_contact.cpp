// Contact potential: distances against brute force, derivatives against differences, invariance under rigid
// motions, step limits against dense sampling of random fast motions, friction against Coulomb's law, resting
// and colliding bodies.
#include "core/contact/contact.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>

#include "core/base/random.h"
#include "core/contact/barrier.h"
#include "core/contact/contact_scatter.h"
#include "core/contact/primitive_distance.h"
#include "core/world/rotation.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

using testing::check_gradient;
using testing::check_hessian;

Vec3 random_vector(std::uint64_t seed, std::uint64_t key, double half = 1) {
  return half * Vec3(2 * uniform_random(seed, 3 * key) - 1, 2 * uniform_random(seed, 3 * key + 1) - 1,
                     2 * uniform_random(seed, 3 * key + 2) - 1);
}

std::array<Vec3, 4> random_points(std::uint64_t seed) {
  return {random_vector(seed, 0), random_vector(seed, 1), random_vector(seed, 2), random_vector(seed, 3)};
}

VecX flatten(const std::array<Vec3, 4>& p) {
  VecX x(12);
  for (int i = 0; i < 4; ++i) x.segment<3>(3 * i) = p[i];
  return x;
}

std::array<Vec3, 4> unflatten(const VecX& x) {
  return {x.segment<3>(0), x.segment<3>(3), x.segment<3>(6), x.segment<3>(9)};
}

TEST(PrimitiveDistance, AgreesWithSampling) {
  for (int seed = 0; seed < 40; ++seed) {
    const auto p = random_points(100 + seed);
    double triangle = 1e300, edges = 1e300;
    constexpr int n = 300;
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; j <= n; ++j) {
        const double s = double(i) / n, t = double(j) / n;
        if (i + j <= n)
          triangle = std::min(triangle, (p[0] - (1 - s - t) * p[1] - s * p[2] - t * p[3]).norm());
        edges = std::min(edges, ((1 - s) * p[0] + s * p[1] - (1 - t) * p[2] - t * p[3]).norm());
      }
    }
    EXPECT_LE(nearest_point_triangle(p).value, triangle + 1e-12);
    EXPECT_NEAR(nearest_point_triangle(p).value, triangle, 5e-3);
    EXPECT_LE(nearest_edges(p).value, edges + 1e-12);
    EXPECT_NEAR(nearest_edges(p).value, edges, 5e-3);
  }
}

TEST(PrimitiveDistance, DerivativesAgreeWithDifferences) {
  using Function = Nearest (*)(const std::array<Vec3, 4>&);
  int checked = 0, kinds = 0;
  for (const Function nearest : {Function(nearest_point_triangle), Function(nearest_edges)}) {
    for (int seed = 0; seed < 60; ++seed) {
      const auto p = random_points(500 + seed);
      const Nearest here = nearest(p);
      if (here.value < 0.05) continue;
      // Away from changes of the nearest feature.
      const Vec4 size = here.weights.cwiseAbs();
      if (((size.array() > 0) && (size.array() < 0.02)).any()) continue;
      kinds |= 1 << here.parameters;
      const auto value = [&](const VecX& x) { return nearest(unflatten(x)).value; };
      const auto gradient = [&](const VecX& x) { return VecX(distance_gradient(nearest(unflatten(x)))); };
      const auto hessian = [&](const VecX& x) {
        return MatX(distance_hessian(nearest(unflatten(x)), unflatten(x)));
      };
      const auto g = check_gradient(value, gradient, flatten(p));
      const auto h = check_hessian(gradient, hessian, flatten(p), 0.3, 1e-6);
      EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
      EXPECT_TRUE(h.ok) << h.message << " " << h.best_error << " parameters " << here.parameters << " d "
                        << here.value;
      ++checked;
    }
  }
  EXPECT_GT(checked, 60);
  EXPECT_EQ(kinds, 7);
}

TEST(PrimitiveDistance, ParallelFactorDerivatives) {
  const auto p = random_points(3);
  const double threshold = 4 * (p[1] - p[0]).cross(p[3] - p[2]).squaredNorm();
  const auto factor = [&](const VecX& x) { return parallel_edge_factor(unflatten(x), threshold, true); };
  EXPECT_TRUE(check_gradient([&](const VecX& x) { return factor(x).value; },
                             [&](const VecX& x) { return VecX(factor(x).gradient); }, flatten(p))
                  .ok);
  EXPECT_TRUE(check_hessian([&](const VecX& x) { return VecX(factor(x).gradient); },
                            [&](const VecX& x) { return MatX(factor(x).hessian); }, flatten(p))
                  .ok);
}

TEST(Barrier, DerivativesAgreeWithDifferences) {
  for (const double gap : {1e-2, 0.1, 0.5, 0.9}) {
    const auto b = [&](double g) { return contact_barrier(g, 1.3, 2.5); };
    const double h = 1e-5 * gap;
    EXPECT_NEAR(b(gap).slope, (b(gap + h).value - b(gap - h).value) / (2 * h), 1e-6 * std::abs(b(gap).slope));
    EXPECT_NEAR(b(gap).curvature, (b(gap + h).slope - b(gap - h).slope) / (2 * h), 1e-6 * b(gap).curvature);
  }
  EXPECT_TRUE(std::isinf(contact_barrier(0, 1, 1).value));
  EXPECT_EQ(contact_barrier(1, 1, 1).value, 0);
}

// ---------------------------------------------------------------------------------------------------------------------

// A square sheet of n × n cells in the plane y = 0.
ContactSurface sheet(int n, double side) {
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

TriMesh tetrahedron(double size) {
  TriMesh m{Points(4, 3), Triangles(4, 3)};
  m.vertices << 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1;
  m.vertices *= size;
  m.triangles << 0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2;
  return m;
}

Obstacle obstacle(ShapeKind kind, double size, const Vec3& position, bool dynamic = true) {
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
    for (const ContactBlock& b : blocks) {
      std::vector<Eigen::Index> rows;
      for (const int node : b.nodes)
        for (int k = 0; k < 3; ++k) rows.push_back(3 * node + k);
      for (const int o : b.obstacles)
        for (int k = 0; o >= 0 && k < 6; ++k) rows.push_back(3 * nodes + 6 * o + k);
      ASSERT_EQ(static_cast<Eigen::Index>(rows.size()), b.gradient.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        g[rows[i]] += b.gradient[static_cast<Eigen::Index>(i)];
        for (std::size_t j = 0; h && j < rows.size(); ++j)
          (*h)(rows[i], rows[j]) += b.hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
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
  double friction(const VecX& all) const { return contact->friction_value(x(all), q(all)); }
  VecX friction_gradient(const VecX& all) const {
    VecX g = VecX::Zero(all.size());
    scatter(contact->friction_blocks(x(all), q(all), Derivatives::gradient), g, nullptr);
    return g;
  }
  MatX friction_hessian(const VecX& all) const {
    VecX g = VecX::Zero(all.size());
    MatX h = MatX::Zero(all.size(), all.size());
    scatter(contact->friction_blocks(x(all), q(all), Derivatives::hessian), g, &h);
    return h;
  }
  VecX pack(const Points& nodes_at, const VecX& increments) const {
    VecX all(3 * nodes + increments.size());
    all << flat(nodes_at), increments;
    return all;
  }
};

std::vector<ObstacleState> states_of(const std::vector<ObstacleBody>& bodies) {
  std::vector<ObstacleState> states;
  for (const ObstacleBody& b : bodies) states.push_back(b.initial_state());
  return states;
}

Points shaken(const Points& rest, double amount, std::uint64_t seed) {
  Points x = rest;
  for (Eigen::Index i = 0; i < x.rows(); ++i) x.row(i) += random_vector(seed, i, amount).transpose();
  return x;
}

class EachShape : public ::testing::TestWithParam<ShapeKind> {};
INSTANTIATE_TEST_SUITE_P(All, EachShape,
                         ::testing::Values(ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule,
                                           ShapeKind::cylinder, ShapeKind::mesh));

// A body above a wavy sheet, pushed down until its gap is a third of the reach.
struct Scene {
  ContactSurface surface = sheet(2, 1.0);
  std::vector<ObstacleBody> bodies;
  std::unique_ptr<ContactPotential> contact;
  System system;
  VecX all;

  explicit Scene(ShapeKind kind, double reach = 0.05) {
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

TEST_P(EachShape, DerivativesAgreeWithDifferences) {
  Scene scene(GetParam());
  const System& s = scene.system;
  ASSERT_GT(scene.contact->blocks(s.x(scene.all), s.q(scene.all), Derivatives::gradient).size(), 2u);
  // Derivatives with respect to the fixed plane's increment do not exist: leave its six out.
  const auto cut = [&](const VecX& v) {
    VecX out(v.size() - 6);
    out << v.head(v.size() - 12), v.tail(6);
    return out;
  };
  const auto cut_matrix = [&](const MatX& m) {
    MatX rows(m.rows() - 6, m.cols()), out(m.rows() - 6, m.cols() - 6);
    rows << m.topRows(m.rows() - 12), m.bottomRows(6);
    out << rows.leftCols(m.cols() - 12), rows.rightCols(6);
    return out;
  };
  const VecX y = cut(scene.all);
  const auto expand = [&](const VecX& v) {
    VecX all = scene.all;
    all.head(v.size() - 6) = v.head(v.size() - 6);
    all.tail(6) = v.tail(6);
    return all;
  };
  const auto value = [&](const VecX& v) { return s.value(expand(v)); };
  const auto gradient = [&](const VecX& v) { return cut(s.gradient(expand(v))); };
  const auto hessian = [&](const VecX& v) { return cut_matrix(s.hessian(expand(v))); };
  const auto g = check_gradient(value, gradient, y, 2e-3, 1e-6);
  EXPECT_TRUE(g.ok) << g.message << " " << g.best_error << " order " << g.observed_order;
  const auto h = check_hessian(gradient, hessian, y, 2e-3, 1e-5);
  EXPECT_TRUE(h.ok) << h.message << " " << h.best_error << " order " << h.observed_order;
  const MatX projected = s.hessian(scene.all, Derivatives::projected_hessian);
  const double smallest = Eigen::SelfAdjointEigenSolver<MatX>(projected).eigenvalues()[0];
  EXPECT_GT(smallest, -1e-9 * projected.norm());

  // Friction with the same contacts.
  for (const double dt : {0.01, 100.0}) {  // sliding and sticking
    scene.contact->update_friction(s.x(scene.all), s.q(scene.all), dt);
    EXPECT_GT(scene.contact->friction_contacts(), 2u);
    const auto fv = [&](const VecX& v) { return s.friction(expand(v)); };
    const auto fg = [&](const VecX& v) { return cut(s.friction_gradient(expand(v))); };
    const auto fh = [&](const VecX& v) { return cut_matrix(s.friction_hessian(expand(v))); };
    const auto rg = check_gradient(fv, fg, y, 1e-2, 1e-6);
    EXPECT_TRUE(rg.ok) << rg.message << " " << rg.best_error;
    const auto rh = check_hessian(fg, fh, y, 1e-2, 1e-5);
    EXPECT_TRUE(rh.ok) << rh.message << " " << rh.best_error;
  }
}

TEST_P(EachShape, EnergyIsTheSameAfterACommonMotionAndForcesCancel) {
  Scene scene(GetParam());
  const System& s = scene.system;
  // Without the fixed plane's pairs the rest is free: move everything but the plane far above it.
  Points x = s.x(scene.all);
  VecX q = s.q(scene.all);
  const auto move = [&](const Mat3& r, const Vec3& t, Points& xm, VecX& qm) {
    xm = (x * r.transpose()).rowwise() + t.transpose();
    qm = q;
    for (const int o : {0, 2}) {
      const ObstacleState start = scene.bodies[o].initial_state(), here = moved(start, q.segment<6>(6 * o));
      ObstacleState there = here;
      there.position = r * here.position + t;
      there.orientation = Quat(r) * here.orientation;
      qm.segment<6>(6 * o) = increment_between(start, there);
    }
  };
  Points x0, x1;
  VecX q0, q1;
  move(Mat3::Identity(), Vec3(0, 5, 0), x0, q0);
  move(exp_rotation(Vec3(0.4, 1.1, -0.6)), Vec3(3, 7, -2), x1, q1);
  scene.contact->find_pairs(x0, q0, x0, q0);
  const double before = scene.contact->value(x0, q0);
  EXPECT_GT(before, 0);
  scene.contact->find_pairs(x1, q1, x1, q1);
  EXPECT_NEAR(scene.contact->value(x1, q1), before, 1e-9 * before);

  // Forces and moments on nodes and obstacles cancel; at θ = 0 the θ-gradient is the moment about the body's
  // centre.
  std::vector<ObstacleState> now;
  for (int o = 0; o < 3; ++o) now.push_back(moved(scene.bodies[o].initial_state(), q1.segment<6>(6 * o)));
  scene.contact->begin_step(now, x1);
  const VecX zero = VecX::Zero(18);
  const VecX g = s.gradient(s.pack(x1, zero));
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  double scale = 0;
  for (Eigen::Index i = 0; i < x1.rows(); ++i) {
    const Vec3 f = g.segment<3>(3 * i);
    force += f;
    moment += Vec3(x1.row(i)).cross(f);
    scale += f.norm();
  }
  for (const int o : {0, 2}) {
    const Vec3 f = g.segment<3>(3 * x1.rows() + 6 * o);
    force += f;
    moment += now[o].position.cross(f) + g.segment<3>(3 * x1.rows() + 6 * o + 3);
    scale += f.norm();
  }
  EXPECT_LT(force.norm(), 1e-12 * scale);
  EXPECT_LT(moment.norm(), 1e-10 * scale);

  scene.contact->begin_step(now, shaken(x1, 1e-3, 99));
  scene.contact->update_friction(x1, zero, 0.01);
  const VecX gf = s.friction_gradient(s.pack(x1, zero));
  force.setZero();
  moment.setZero();
  scale = 0;
  for (Eigen::Index i = 0; i < x1.rows(); ++i) {
    force += gf.segment<3>(3 * i);
    moment += Vec3(x1.row(i)).cross(Vec3(gf.segment<3>(3 * i)));
    scale += gf.segment<3>(3 * i).norm();
  }
  EXPECT_GT(scale, 0);
  for (const int o : {0, 2}) {
    const Vec3 f = gf.segment<3>(3 * x1.rows() + 6 * o);
    force += f;
    moment += now[o].position.cross(f) + gf.segment<3>(3 * x1.rows() + 6 * o + 3);
  }
  EXPECT_LT(force.norm(), 1e-12 * scale);
  EXPECT_LT(moment.norm(), 1e-10 * scale);
}

// Random fast motions of sheet and body: on the allowed part of the way the gap stays positive for all pairs
// of the two at densely sampled times (every pair, not only those found), and the limit is not needlessly
// small.
TEST_P(EachShape, NothingCrossesInRandomFastMotions) {
  const ContactSurface surface = sheet(2, 1.0);
  int limited = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const bool small = trial % 2 == 0;
    Obstacle o = obstacle(GetParam(), small ? 0.05 : 0.4, Vec3(0, 0.8, 0) + random_vector(trial, 50, 0.1));
    const std::vector<ObstacleBody> bodies = make_obstacles({o});
    ContactPotential contact(surface, bodies, {1e-3, 1e4, 1e-3});
    ContactPotential everything(surface, bodies,
                                {100.0, 1e4, 1e-3});  // reach so large that all pairs are found
    const Points x0 = shaken(surface.rest, 0.02, 1000 + trial);
    contact.begin_step(states_of(bodies), x0);
    everything.begin_step(states_of(bodies), x0);
    // Up to 200 m/s in 1/60 s, with up to 6 rad of turn, from an increment that is not zero.
    VecX q0 = VecX::Zero(6), q1(6);
    q0.tail<3>() = random_vector(trial, 60, 0.2);
    q1.head<3>() =
        3.3 * Vec3(0.3 * uniform_random(trial, 1) - 0.15, -1, 0.3 * uniform_random(trial, 2) - 0.15);
    q1.tail<3>() = random_vector(trial, 61, trial % 3 == 0 ? 0.0 : 3.5);
    const Points x1 = shaken(x0, trial % 4 == 0 ? 0.0 : 0.3, 2000 + trial);
    contact.find_pairs(x0, q0, x1, q1);
    const double limit = contact.max_step(x0, q0, x1, q1);
    ASSERT_GT(limit, 0);
    limited += limit < 1;
    everything.find_pairs(x0, q0, x1, q1);
    double smallest = 1e300;
    for (int k = 0; k <= 400; ++k) {
      const double a = limit * k / 400;
      smallest = std::min(smallest, everything.smallest_gap(x0 + a * (x1 - x0), q0 + a * (q1 - q0)));
    }
    EXPECT_GT(smallest, 0) << "trial " << trial << " limit " << limit;
    // A limit below one must have come close to something, and not closer than a fifth of the reach.
    if (limit < 1) {
      const double last = everything.smallest_gap(x0 + limit * (x1 - x0), q0 + limit * (q1 - q0));
      EXPECT_LT(last, 0.25e-3);
      EXPECT_GT(last, 0.15e-3);
    }
  }
  EXPECT_GE(limited, 50);
}

// ---------------------------------------------------------------------------------------------------------------------

// A small implicit solver: nodes with mass (and stiff springs to their start) and dynamic obstacles.
struct Solver {
  std::vector<ObstacleBody> bodies;
  std::vector<ObstacleState> states;
  Points x, v;
  double node_mass = 1, spring = 0;
  Vec3 gravity = Vec3::Zero();
  ContactPotential contact;
  Points anchors;
  int most_iterations = 0;

  Solver(const ContactSurface& surface, std::vector<ObstacleBody> obstacles, const ContactOptions& options)
      : bodies(std::move(obstacles)),
        states(states_of(bodies)),
        x(surface.rest),
        v(Points::Zero(surface.rest.rows(), 3)),
        contact(surface, bodies, options),
        anchors(surface.rest) {}

  bool step(double h) {
    const Eigen::Index n = x.rows();
    const System s{&contact, n};
    contact.begin_step(states, x);
    std::vector<RigidInertia> inertia;
    for (std::size_t i = 0; i < bodies.size(); ++i) inertia.emplace_back(bodies[i], states[i], gravity, h);
    const Points predicted = x + h * v + (h * h * gravity).transpose().replicate(n, 1);
    VecX y = s.pack(x, VecX::Zero(6 * static_cast<Eigen::Index>(bodies.size())));
    const auto energy = [&](const VecX& at) {
      double e = s.value(at) + s.friction(at);
      e += 0.5 * node_mass / (h * h) * (s.x(at) - predicted).squaredNorm() +
           0.5 * spring * (s.x(at) - anchors).squaredNorm();
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].dynamic())
          e += inertia[i].value(at.segment<6>(3 * n + 6 * static_cast<Eigen::Index>(i)));
      }
      return e;
    };
    const VecX start = y;
    contact.find_pairs(x, s.q(y), x, s.q(y));
    contact.update_friction(x, s.q(y), h);
    for (int iteration = 0; iteration < 200; ++iteration) {
      most_iterations = std::max(most_iterations, iteration);
      VecX g = s.gradient(y) + s.friction_gradient(y);
      MatX hess = s.hessian(y, Derivatives::projected_hessian) + s.friction_hessian(y);
      const Points dx = node_mass / (h * h) * (s.x(y) - predicted) + spring * (s.x(y) - anchors);
      g.head(3 * n) += flat(dx);
      hess.diagonal().head(3 * n).array() += node_mass / (h * h) + spring;
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Eigen::Index at = 3 * n + 6 * static_cast<Eigen::Index>(i);
        if (bodies[i].dynamic()) {
          g.segment<6>(at) += inertia[i].gradient(y.segment<6>(at));
          hess.block<6, 6>(at, at) += inertia[i].hessian(y.segment<6>(at));
        } else {
          hess.block<6, 6>(at, at).diagonal().array() += 1;
        }
      }
      const VecX d = -hess.ldlt().solve(g);
      if (d.cwiseAbs().maxCoeff() < 1e-11) break;
      contact.find_pairs(s.x(y), s.q(y), s.x(y + d), s.q(y + d));
      double alpha = contact.max_step(s.x(y), s.q(y), s.x(y + d), s.q(y + d));
      const double e = energy(y);
      while (alpha > 1e-14 && !(energy(y + alpha * d) <= e + 1e-4 * alpha * g.dot(d) + 1e-13 * std::abs(e)))
        alpha *= 0.5;
      if (alpha <= 1e-14) break;
      y += alpha * d;
    }
    v = (s.x(y) - x) / h;
    x = s.x(y);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].dynamic())
        states[i] = inertia[i].finish(y.segment<6>(3 * n + 6 * static_cast<Eigen::Index>(i)));
    }
    return std::isfinite(energy(y));
  }

  Vec3 momentum() const {
    Vec3 p = node_mass * v.colwise().sum().transpose();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].dynamic()) p += bodies[i].mass() * states[i].velocity;
    }
    return p;
  }
};

TEST(ContactImpact, OvershootIsMeasuredInHalfInnerRadii) {
  const ContactSurface surface = sheet(2, 1.0);
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.2, Vec3(0.1, 0.3, 0.17)),
                      obstacle(ShapeKind::plane, 1, Vec3(0, -3, 0), false)});
  ContactPotential contact(surface, bodies, {1e-3, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), surface.rest);
  const VecX zero = VecX::Zero(12);
  const auto overshoot = [&](double way) {
    VecX end = zero;
    end[1] = -way;
    contact.find_pairs(surface.rest, zero, surface.rest, end);
    return contact.overshoot(surface.rest, zero, surface.rest, end);
  };
  // The ball (radius 0.1) touches after 0.2 m, less the gap that is kept.
  EXPECT_EQ(overshoot(0.1), 0);
  EXPECT_NEAR(overshoot(0.23), 0.03 / 0.05, 0.01);
  EXPECT_NEAR(overshoot(2.2), 2 / 0.05, 0.1);
  // A plane has no behind.
  Points below = surface.rest;
  below.col(1).array() -= 10;
  contact.find_pairs(surface.rest, zero, below, zero);
  EXPECT_LT(contact.max_step(surface.rest, zero, below, zero), 0.31);
  EXPECT_EQ(contact.overshoot(surface.rest, zero, below, zero), 0);
}

TEST(ContactImpact, StiffensOnlyWhatTheImpactDrives) {
  const ContactSurface surface = sheet(2, 1.0);
  // One ball rests within reach of the sheet, the other comes from above.
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.2, Vec3(-0.25, 0.1005, 0.1)),
                      obstacle(ShapeKind::sphere, 0.2, Vec3(0.2, 0.3, 0.1))});
  const double reach = 1e-3;
  ContactPotential contact(surface, bodies, {reach, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), surface.rest);
  const VecX masses = VecX::Constant(surface.rest.rows(), 0.5), zero = VecX::Zero(12);
  VecX end = zero, touching = zero;
  end[7] = -0.3;
  touching[7] = -0.1995;
  const auto energy = [&](const VecX& q) {
    contact.find_pairs(surface.rest, q, surface.rest, q);
    return contact.value(surface.rest, q);
  };
  const double resting = energy(zero), both = energy(touching);
  ASSERT_GT(resting, 0);
  ASSERT_GT(both, resting);
  contact.find_pairs(surface.rest, zero, surface.rest, end);
  contact.stiffen(surface.rest, zero, surface.rest, end, masses, 1.0 / 600);
  EXPECT_EQ(energy(zero), resting);
  // p = m s/(dt² A): m = 1/(1/2 + 1/0.5) kg, s = 0.1 m.
  EXPECT_GT(energy(touching), resting + 5 * (both - resting));
  contact.begin_step(states_of(bodies), surface.rest);
  EXPECT_EQ(energy(touching), both);
}

TEST(ContactSolve, RigidInertiaDerivativesAndFreeMotion) {
  const ObstacleBody body(obstacle(ShapeKind::box, 0.3, Vec3(1, 2, 3)));
  ObstacleState state = body.initial_state();
  state.velocity = Vec3(1, -2, 0.5);
  state.angular_velocity = Vec3(6, -3, 9);
  const RigidInertia inertia(body, state, Vec3(0, -9.81, 0), 0.02);
  Vec6 q = inertia.free_increment();
  EXPECT_LT(inertia.gradient(q).norm(), 1e-9);
  EXPECT_LT((inertia.finish(q).velocity - (state.velocity + 0.02 * Vec3(0, -9.81, 0))).norm(), 1e-12);
  const Vec3 l0 = body.world_inertia(state) * state.angular_velocity;
  const ObstacleState end = inertia.finish(q);
  EXPECT_LT((body.world_inertia(end) * end.angular_velocity - l0).norm(), 1e-10);
  q += (Vec6() << 0.01, -0.02, 0.03, 0.2, -0.1, 0.15).finished();
  const auto g = check_gradient([&](const VecX& y) { return inertia.value(y); },
                                [&](const VecX& y) { return VecX(inertia.gradient(y)); }, q, 0.1);
  const auto h = check_hessian([&](const VecX& y) { return VecX(inertia.gradient(y)); },
                               [&](const VecX& y) { return MatX(inertia.hessian(y)); }, q, 0.1);
  EXPECT_TRUE(g.ok) << g.message;
  EXPECT_TRUE(h.ok) << h.message;
}

TEST(ContactSolve, BallRestsOnTheFloorWithItsWeight) {
  Obstacle ball = obstacle(ShapeKind::sphere, 0.2, Vec3(0, 0.3, 0));
  Obstacle ground = obstacle(ShapeKind::plane, 1, Vec3::Zero(), false);
  ContactSurface nothing;
  nothing.rest.resize(0, 3);
  nothing.triangles.resize(0, 3);
  Solver solver(nothing, make_obstacles({ground, ball}), {1e-3, 1e5, 1e-3});
  solver.gravity = Vec3(0, -9.81, 0);
  for (int i = 0; i < 120; ++i) ASSERT_TRUE(solver.step(1.0 / 120));
  const double gap = solver.states[1].position.y() - 0.1;
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, 1e-3);
  EXPECT_LT(solver.states[1].velocity.norm(), 1e-4);
  EXPECT_LT(solver.most_iterations, 60);
}

TEST(ContactSolve, FastSmallBallIsStoppedBetweenTheVerticesOfACoarseSheet) {
  for (const ShapeKind kind : {ShapeKind::sphere, ShapeKind::box, ShapeKind::capsule, ShapeKind::mesh}) {
    Obstacle bullet = obstacle(kind, 0.03, Vec3(0.11, 1.7, 0.19));
    bullet.mass = 0.05;
    bullet.velocity = Vec3(5, -200, 3);
    bullet.angular_velocity = Vec3(20, 10, -40);
    Solver solver(sheet(2, 1.0), make_obstacles({bullet}), {2e-3, 1e6, 1e-3});
    solver.node_mass = 0.5;
    const Vec3 before = solver.momentum() + bullet.mass * Vec3::Zero();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(solver.step(1.0 / 60));
    EXPECT_LT((solver.momentum() - before).norm(), 1e-5 * before.norm()) << "kind " << int(kind);
    // The sheet took up momentum and the bullet is still above the plane through the sheet's middle.
    EXPECT_LT(solver.v.col(1).mean(), -0.5);
    EXPECT_GT(solver.states[0].position.y(), solver.x.col(1).minCoeff());
    solver.contact.find_pairs(solver.x, VecX::Zero(6), solver.x, VecX::Zero(6));
  }
}

TEST(ContactSolve, BlockOnASlopeStaysOrSlidesByCoulomb) {
  for (const double mu : {0.3, 0.7}) {
    const double slope = 0.5;  // tan 0.546
    Obstacle ground = obstacle(ShapeKind::plane, 1, Vec3::Zero(), false);
    ground.friction = mu;
    Obstacle box = obstacle(ShapeKind::box, 0.2, Vec3(0, 0.0803, 0));
    box.rotation.setZero();
    box.friction = mu;
    ContactSurface nothing;
    nothing.rest.resize(0, 3);
    nothing.triangles.resize(0, 3);
    Solver solver(nothing, make_obstacles({ground, box}), {1e-3, 1e5, 1e-3});
    solver.gravity = 9.81 * Vec3(std::sin(slope), -std::cos(slope), 0);
    const double h = 1.0 / 200;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(solver.step(h));
    const double expected = std::max(0.0, 9.81 * (std::sin(slope) - mu * std::cos(slope))) * 0.5;
    EXPECT_NEAR(solver.states[1].velocity.x(), expected, 0.03 * expected + 2e-3) << "friction " << mu;
  }
}

TEST(ContactSolve, EmbeddedPointsPassForcesToTheirNodes) {
  // Three points, each the mean of two of four nodes: forces on nodes have the same sum.
  ContactSurface s;
  for (int i = 0; i < 3; ++i) {
    const std::array<int, 2> nodes{i, 3};
    const std::array<double, 2> weights{0.7, 0.3};
    s.map.add(nodes, weights);
  }
  Points x(4, 3);
  x << 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.3, 0, 0.3;
  s.rest = s.map.apply(x);
  s.triangles.resize(1, 3);
  s.triangles << 0, 2, 1;
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.1, Vec3(0.3, 0.055, 0.25))});
  ContactPotential contact(s, bodies, {0.01, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), x);
  const VecX q = VecX::Zero(6);
  contact.find_pairs(x, q, x, q);
  const System system{&contact, 4};
  const VecX all = system.pack(x, q);
  const VecX g = system.gradient(all);
  EXPECT_GT(g.norm(), 0);
  EXPECT_LT((g.segment<3>(0) + g.segment<3>(3) + g.segment<3>(6) + g.segment<3>(9) + g.segment<3>(12)).norm(),
            1e-12 * g.norm());
  EXPECT_TRUE(check_gradient([&](const VecX& y) { return system.value(y); },
                             [&](const VecX& y) { return system.gradient(y); }, all, 1e-3, 1e-6)
                  .ok);
  EXPECT_TRUE(check_hessian([&](const VecX& y) { return system.gradient(y); },
                            [&](const VecX& y) { return system.hessian(y); }, all, 1e-3, 1e-5)
                  .ok);
}

TEST(ContactScatter, BorderedSystemHoldsTheSameNumbersAsTheDenseOne) {
  Scene scene(ShapeKind::box);
  const System& s = scene.system;
  const int n = static_cast<int>(scene.surface.rest.rows());
  // Node 0 is held; the others are numbered backwards; obstacle 2 comes first in the border.
  std::vector<int> column(static_cast<std::size_t>(n), -1);
  for (int i = 1; i < n; ++i) column[i] = n - 1 - i;
  const std::vector<int> border{6, -1, 0};
  const ContactUnknowns unknowns{column, border};
  ContactCliques cliques = contact_cliques(scene.surface);
  for (int& node : cliques.nodes) node = node < 0 ? -1 : column[node];
  const BlockPattern pattern(n - 1, cliques.nodes, cliques.size);
  BorderedHessian h;
  h.reset(pattern, 12);
  const auto blocks = scene.contact->blocks(s.x(scene.all), s.q(scene.all), Derivatives::hessian);
  add_hessian(blocks, unknowns, h);
  Points g_nodes = Points::Zero(n, 3);
  VecX g_border = VecX::Zero(12), g(3 * (n - 1) + 12);
  add_gradient(blocks, unknowns, g_nodes, g_border);
  for (int i = 1; i < n; ++i) g.segment<3>(3 * column[i]) = g_nodes.row(i).transpose();
  g.tail(12) = g_border;

  std::vector<Eigen::Index> where;  // unknown → row of the dense system
  for (int c = 0; c < n - 1; ++c)
    for (int k = 0; k < 3; ++k) where.push_back(3 * (n - 1 - c) + k);
  for (const int o : {2, 0})
    for (int k = 0; k < 6; ++k) where.push_back(3 * n + 6 * o + k);
  const VecX dense_g = s.gradient(scene.all);
  const MatX dense_h = s.hessian(scene.all), a = h.a.to_dense();
  const Eigen::Index f = 3 * (n - 1);
  for (Eigen::Index i = 0; i < f + 12; ++i) {
    EXPECT_NEAR(g[i], dense_g[where[i]], 1e-9);
    for (Eigen::Index j = 0; j < f + 12; ++j) {
      const double value =
          i < f ? (j < f ? a(i, j) : h.c(i, j - f)) : (j < f ? h.c(j, i - f) : h.d(i - f, j - f));
      EXPECT_NEAR(value, dense_h(where[i], where[j]), 1e-9 * dense_h.norm());
    }
  }
}

}  // namespace
}  // namespace exemplar
