// Pairs of deformable bodies with each other and with themselves: none is missed, none is made without need,
// and the energy of all kinds of pairs has the derivatives it claims.
#include "core/contact/body_search.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <set>

#include "core/base/parallel.h"
#include "core/contact/contact.h"
#include "core/contact/primitive_distance.h"
#include "tests/core/contact/contact_support.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace body_search_tests {

using namespace exemplar::testing;

constexpr double k_reach = 0.05;
using Key = std::array<int, 5>;

Key key_of(const ContactPair& pair) {
  return {static_cast<int>(pair.kind), pair.points[0], pair.points[1], pair.points[2], pair.points[3]};
}

// Two square sheets, the second above the first and turned by `turn` about the vertical.
ContactSurface two_sheets(int n, double height, double turn, bool self) {
  ContactSurface first = sheet(n, 1.0), second = first;
  first.bodies = {{k_reach, 1e4, 0.5, self}};
  second.bodies = {{0.8 * k_reach, 2e4, 0.3, self}};
  const Mat3 rotation = Eigen::AngleAxisd(turn, Vec3::UnitY()).toRotationMatrix();
  second.rest =
      ((second.rest * rotation.transpose()).rowwise() + Vec3(0.02, height, 0.01).transpose()).eval();
  append(first, second, to_int(first.rest.rows()));
  first.between = true;
  return first;
}

struct World {
  std::vector<ObstacleBody> none;
  ContactPotential contact;
  VecX q;

  explicit World(const ContactSurface& surface) : contact(surface, none, ContactOptions{k_reach, 1e4, 1e-2}) {
    contact.begin_step({}, surface.rest);
  }
  void find(const Points& from, const Points& to) { contact.find_pairs(from, q, to, q); }
};

// All pairs of features without a common point, of two bodies.
std::vector<ContactPair> all_pairs(const ContactPoints& points) {
  const ContactPoints::Group& group = points.groups().front();
  std::vector<ContactPair> all;
  const auto body = [&](int p) { return points.surface().body_of(p); };
  for (const int p : group.points) {
    for (Eigen::Index t = 0; t < group.triangles.rows(); ++t) {
      const auto c = group.triangles.row(t);
      if (body(p) != body(c[0])) all.push_back({ContactPairKind::point_triangle, {p, c[0], c[1], c[2]}});
    }
  }
  for (Eigen::Index a = 0; a < group.edges.rows(); ++a) {
    for (Eigen::Index b = a + 1; b < group.edges.rows(); ++b) {
      const auto e = group.edges.row(a), f = group.edges.row(b);
      if (body(e[0]) != body(f[0])) all.push_back({ContactPairKind::edge_edge, {e[0], e[1], f[0], f[1]}});
    }
  }
  return all;
}

TEST(BodySearch, FindsEveryPairThatComesWithinReachOnTheWay) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const ContactSurface surface = two_sheets(4, 0.3, 0.4, false);
    World world(surface);
    const Points from = shaken(surface.rest, 0.05, seed);
    Points to = shaken(from, 0.1, seed + 10);
    // Both go far, the second also down onto the first.
    to.rowwise() += random_vector(seed, 99, 3.0).transpose();
    to.bottomRows(25).col(1).array() -= 0.28;
    world.find(from, to);
    std::set<Key> found;
    for (const ContactPair& pair : world.contact.pairs()) found.insert(key_of(pair));
    EXPECT_EQ(found.size(), world.contact.pairs().size());
    int near = 0;
    for (const ContactPair& pair : all_pairs(world.contact.points())) {
      double smallest = 1;
      for (int k = 0; k <= 40; ++k) {
        const Points at = from + k / 40.0 * (to - from);
        const auto corners = world.contact.points().corners(pair, at);
        smallest = std::min(smallest, pair.kind == ContactPairKind::edge_edge
                                          ? nearest_edges(corners).value
                                          : nearest_point_triangle(corners).value);
      }
      if (smallest >= 0.8 * k_reach) continue;
      ++near;
      EXPECT_TRUE(found.count(key_of(pair))) << seed << ": " << smallest;
    }
    EXPECT_GT(near, 20);
  }
}

TEST(BodySearch, AFlatSheetMakesNoPairsWithItselfHoweverFastItFlies) {
  ContactSurface surface = sheet(10, 1.0);
  surface.bodies = {{k_reach, 1e4, 0.5, true}};
  World world(surface);
  const Points far = surface.rest.rowwise() + Vec3(30, -50, 20).transpose();
  world.find(surface.rest, far);
  EXPECT_EQ(world.contact.pairs().size(), 0u);
}

TEST(BodySearch, APairWithItselfIsScaledToItsDistanceAtRest) {
  // A strip folded to a hairpin with a tenth of the reach between its legs.
  ContactSurface surface = sheet(8, 1.0);
  surface.bodies = {{k_reach, 1e4, 0.5, true}};
  for (Eigen::Index i = 0; i < surface.rest.rows(); ++i) {
    if (surface.rest(i, 0) > 0.01) {
      surface.rest(i, 0) *= -1;
      surface.rest(i, 1) += 0.1 * k_reach;
    }
  }
  World world(surface);
  world.find(surface.rest, surface.rest);
  EXPECT_EQ(world.contact.value(surface.rest, world.q), 0.0);
  Points closer = surface.rest;
  for (Eigen::Index i = 0; i < closer.rows(); ++i) closer(i, 1) *= 0.2;
  world.find(surface.rest, closer);
  EXPECT_GT(world.contact.value(closer, world.q), 0.0);
  Points through = surface.rest;
  for (Eigen::Index i = 0; i < closer.rows(); ++i) through(i, 1) *= -1;
  world.find(surface.rest, through);
  EXPECT_LT(world.contact.max_step(surface.rest, world.q, through, world.q), 0.5);
}

TEST(BodySearch, DerivativesOfAllKindsOfPairsAgreeWithDifferences) {
  for (const double turn : {0.5, 0.0}) {  // crossing edges, and parallel ones
    const ContactSurface surface = two_sheets(2, 0.5 * k_reach, turn, true);
    World world(surface);
    const Points x = shaken(surface.rest, 0.1 * k_reach, 5);
    world.contact.begin_step({}, shaken(x, 3e-3, 8));
    world.find(x, x);
    std::set<ContactPairKind> kinds;
    for (const ContactPair& pair : world.contact.pairs()) kinds.insert(pair.kind);
    ASSERT_EQ(kinds.size(), 2u);
    const System s{&world.contact, surface.rest.rows()};
    const VecX all = s.pack(x, world.q);
    const auto g = check_gradient([&](const VecX& v) { return s.value(v); },
                                  [&](const VecX& v) { return s.gradient(v); }, all, 2e-3, 1e-6);
    EXPECT_TRUE(g.ok) << g.message << " " << g.best_error;
    const auto h = check_hessian([&](const VecX& v) { return s.gradient(v); },
                                 [&](const VecX& v) { return s.hessian(v); }, all, 1e-3, 1e-5);
    EXPECT_TRUE(h.ok) << h.message << " " << h.best_error;
    world.contact.update_friction(x, world.q, 0.01);
    const auto f = check_gradient([&](const VecX& v) { return s.friction(v); },
                                  [&](const VecX& v) { return s.friction_gradient(v); }, all, 1e-2, 1e-6);
    EXPECT_TRUE(f.ok) << f.message << " " << f.best_error;
    // Forces cancel and make no moment (the barrier's).
    const VecX gradient = s.gradient(all);
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      force += gradient.segment<3>(3 * i);
      moment += Vec3(x.row(i)).cross(Vec3(gradient.segment<3>(3 * i)));
    }
    EXPECT_LT(force.norm(), 1e-12 * gradient.norm());
    EXPECT_LT(moment.norm(), 1e-12 * gradient.norm());
  }
}

// The barrier's are projected without the common translation, friction's need no projection.
TEST(BodySearch, ProjectedBlocksAreThePositivePartsOfTheWholeOnes) {
  const ContactSurface surface = two_sheets(3, 0.5 * k_reach, 0.5, true);
  World world(surface);
  const Points x = shaken(surface.rest, 0.1 * k_reach, 5);
  world.contact.begin_step({}, shaken(x, 3e-3, 8));
  world.find(x, x);
  world.contact.update_friction(x, world.q, 0.01);
  const auto blocks = [&](Derivatives derivatives) {
    std::vector<ContactBlock> all = world.contact.blocks(x, world.q, derivatives);
    for (ContactBlock& block : world.contact.friction().blocks(x, world.q, derivatives))
      all.push_back(std::move(block));
    return all;
  };
  const std::vector<ContactBlock> whole = blocks(Derivatives::hessian),
                                  projected = blocks(Derivatives::projected_hessian);
  ASSERT_GT(whole.size(), 20u);
  int indefinite = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    const Eigen::MatrixXd h = whole[k].hessian;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(h);
    const Eigen::MatrixXd positive = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
                                     eigen.eigenvectors().transpose();
    EXPECT_LT((positive - projected[k].hessian).norm(), 1e-13 * h.norm());
    indefinite += eigen.eigenvalues().minCoeff() < -1e-6 * h.norm() ? 1 : 0;
  }
  EXPECT_GT(indefinite, 10);
}

TEST(BodySearch, RadiiAreSummedAndTheReachIsNotAboveThem) {
  ContactSurface surface = two_sheets(3, 0.1, 0.3, true);
  surface.radius = VecX::Constant(surface.map.size(), 0.01);
  World world(surface);
  Points down = surface.rest;
  down.bottomRows(16).col(1).array() -= 0.2;
  world.find(surface.rest, down);
  const double alpha = world.contact.max_step(surface.rest, world.q, down, world.q);
  // A fifth of the reach is kept above the two radii.
  EXPECT_NEAR(0.1 - 0.2 * alpha, 0.02 + 0.2 * 0.02, 1e-3);
  for (const ContactPair& pair : world.contact.pairs()) {
    EXPECT_EQ(pair.radius, 0.02);
    EXPECT_EQ(pair.reach, 0.02);
  }
}

TEST(BodySearch, PairsDoNotDependOnTheThreadsOrOnEarlierSearches) {
  const ContactSurface surface = two_sheets(6, 0.5 * k_reach, 0.3, true);
  const Points from = shaken(surface.rest, 0.1 * k_reach, 2), to = shaken(from, 0.5, 3);
  std::vector<Key> first;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    World world(surface);
    if (threads > 1) world.find(to, from);
    world.find(from, to);
    std::vector<Key> keys;
    for (const ContactPair& pair : world.contact.pairs()) keys.push_back(key_of(pair));
    if (threads == 1) first = keys;
    EXPECT_GT(keys.size(), 100u);
    EXPECT_EQ(keys, first);
  }
  set_thread_count(0);
}

}  // namespace body_search_tests
}  // namespace exemplar
