// Example potentials, incompatible and compatible: derivatives over nodes and weights, zeros at the examples.
#include <gtest/gtest.h>

#include <numbers>

#include "core/base/random.h"
#include "core/elastic/tet_kernel.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/compatible_term.h"
#include "fem/example_term.h"
#include "tests/support/derivatives.h"

namespace exemplar::fem {
namespace {

Points twisted(const Points& x, double degrees, double axial, double length) {
  Points result = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 p = x.row(i).transpose();
    const double angle = degrees * std::numbers::pi / 180 * (p.z() / length + 0.5);
    result.row(i) = (Eigen::AngleAxisd(angle, Vec3::UnitZ()) * Vec3(p.x(), p.y(), axial * p.z())).transpose();
  }
  return result;
}

Points bent(const Points& x, double curvature) {
  Points result = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 p = x.row(i).transpose();
    const double angle = curvature * p.z(), r = 1 / curvature + p.x();
    result.row(i) = Vec3(r * std::cos(angle) - 1 / curvature, p.y(), r * std::sin(angle)).transpose();
  }
  return result;
}

// A term with its nodes all free, seen as a function of z = (x, w).
struct Flat {
  Flat(NodeTerm& node_term, Eigen::Index node_count) : term(node_term), nodes(node_count) {
    std::vector<BlockPattern::CliqueList> lists;
    term.append_cliques(lists);
    pattern = std::make_unique<BlockPattern>(static_cast<int>(nodes), lists);
    std::vector<int> column(static_cast<std::size_t>(nodes));
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<int>(i);
    term.connect(*pattern, column);
  }
  Points x(const VecX& z) const { return Eigen::Map<const Points>(z.data(), nodes, 3); }
  VecX w(const VecX& z) const { return z.tail(term.weight_count()); }
  double value(const VecX& z) { return term.value(x(z), w(z)); }
  VecX gradient(const VecX& z) {
    Points g = Points::Zero(nodes, 3);
    VecX g_w = VecX::Zero(term.weight_count());
    term.add_gradient(x(z), w(z), g, g_w);
    VecX all(z.size());
    all << flat(g), g_w;
    return all;
  }
  MatX hessian(const VecX& z) {
    const Eigen::Index n = 3 * nodes, m = term.weight_count();
    BlockMatrix a(*pattern);
    MatX c = MatX::Zero(n, m), d = MatX::Zero(m, m), all(n + m, n + m);
    term.add_hessian(x(z), w(z), false, a, c, d);
    all << a.to_dense(), c, c.transpose(), d;
    return all;
  }
  NodeTerm& term;
  Eigen::Index nodes;
  std::unique_ptr<BlockPattern> pattern;
};

class ExampleTerms : public ::testing::Test {
 protected:
  const TetMesh mesh = tet_box({1, 1, 2}, {3, 3, 3});
  const std::vector<Points> poses{twisted(mesh.vertices, 60, 0.8, 2), bent(mesh.vertices, 0.4)};
  const Eigen::Index n = mesh.vertices.rows();

  VecX state(std::uint64_t seed, Eigen::Index copies, double noise) const {
    VecX z(3 * n * copies + 2);
    for (Eigen::Index k = 0; k < copies; ++k) z.segment(3 * n * k, 3 * n) = flat(mesh.vertices);
    for (Eigen::Index i = 0; i < 3 * n * copies; ++i)
      z[i] += noise * normal_random(seed, static_cast<std::uint64_t>(i));
    z.tail(2) << 0.3, 0.25;
    return z;
  }
};

TEST_F(ExampleTerms, IncompatibleDerivatives) {
  for (const ElasticEnergy& energy : {ElasticEnergy(ModifiedStVK{1, 2}), ElasticEnergy(StVK{1, 1.5}),
                                      ElasticEnergy(StableNeoHookean{1, 2})}) {
    ExampleTerm term(TetElements(mesh), poses, energy, true);
    std::vector<Mat3> plastic(term.element_count());
    for (std::size_t e = 0; e < plastic.size(); ++e) {
      plastic[e] = Vec3(1.1, 1 / 1.1, 1).asDiagonal();
    }
    for (const bool with_plastic : {false, true}) {
      if (with_plastic) term.set_plastic(plastic);
      Flat function(term, n);
      for (const double noise : {0.05, 0.3}) {
        const VecX z = state(3, 1, noise);
        const auto g = testing::check_gradient([&](const VecX& y) { return function.value(y); },
                                               [&](const VecX& y) { return function.gradient(y); }, z);
        EXPECT_TRUE(g.ok) << g.message << g.best_error;
        const auto h = testing::check_hessian([&](const VecX& y) { return function.gradient(y); },
                                              [&](const VecX& y) { return function.hessian(y); }, z);
        EXPECT_TRUE(h.ok) << h.message << h.best_error;
      }
    }
  }
}

TEST_F(ExampleTerms, NoEnergyOrForceAtRestAndAtTheExamples) {
  ExampleTerm term(TetElements(mesh), poses, ModifiedStVK{1, 2}, true);
  Flat function(term, n);
  std::vector<std::pair<Points, VecX>> cases{{mesh.vertices, VecX::Zero(2)}};
  for (int i = 0; i < 2; ++i) cases.emplace_back(poses[static_cast<std::size_t>(i)], VecX::Unit(2, i));
  for (auto& [x, w] : cases) {
    // Also after a rigid motion of the whole.
    const Mat3 r = Eigen::AngleAxisd(0.8, Vec3(1, 2, 3).normalized()).toRotationMatrix();
    Points moved = (x * r.transpose()).rowwise() + Vec3(1, -2, 0.5).transpose();
    VecX z(3 * n + 2);
    z << flat(moved), w;
    EXPECT_LT(function.value(z), 1e-24);
    EXPECT_LT(function.gradient(z).norm(), 1e-12);
  }
}

TEST_F(ExampleTerms, RestShapesStayPositiveOnTheWholeSimplex) {
  ExampleTerm term(TetElements(mesh), poses, ModifiedStVK{1, 2}, true);
  for (std::uint64_t k = 0; k < 200; ++k) {
    Eigen::Vector2d w(uniform_random(k, 0), uniform_random(k, 1));
    if (w.sum() > 1) w = Eigen::Vector2d::Ones() - w;
    for (std::size_t e = 0; e < term.element_count(); ++e) EXPECT_GT(term.rest_edges(e, w).determinant(), 0);
  }
}

TEST_F(ExampleTerms, CompatibleDerivatives) {
  TetElements elements(mesh);
  CompatibleTerm term(elements, static_cast<int>(n), poses, ModifiedStVK{1, 2}, 3, true);
  Flat function(term, 2 * n);
  const std::vector<Mat3> plastic(elements.count(), Vec3(1.1, 1 / 1.1, 1).asDiagonal());
  for (const bool with_plastic : {false, true}) {
    if (with_plastic) term.set_plastic(plastic);
    const VecX z = state(5, 2, 0.05);
    const auto g = testing::check_gradient([&](const VecX& y) { return function.value(y); },
                                           [&](const VecX& y) { return function.gradient(y); }, z);
    EXPECT_TRUE(g.ok) << g.message << g.best_error;
    // Where the interpolation has no residual Gauss–Newton is exact: y in example 1, w = e_1.
    VecX at(6 * n + 2);
    at << state(5, 1, 0.05).head(3 * n), flat(poses[0]), 1, 0;
    const auto h = testing::check_hessian([&](const VecX& y) { return function.gradient(y); },
                                          [&](const VecX& y) {
                                            MatX dense = function.hessian(y);
                                            dense.diagonal().segment(3 * n, 3 * n).array() -=
                                                term.gauge_shift();
                                            return dense;
                                          },
                                          at);
    EXPECT_TRUE(h.ok) << h.message << h.best_error;
  }
}

// After plastic flow that fits a placement of the nodes, both terms rest in that placement with no weights
// and in the examples as before, and no longer in the old rest shape.
TEST_F(ExampleTerms, PlasticFlowMovesExampleZeroOfBothTerms) {
  const Mat3 flow = (Mat3() << 1.25, 0.2, 0, 0, 0.8, 0, 0, 0, 1).finished();
  const TetElements elements(mesh);
  const std::vector<Mat3> inverse(elements.count(), flow.inverse());
  ExampleTerm incompatible(elements, poses, ModifiedStVK{1, 2}, true);
  CompatibleTerm compatible(elements, static_cast<int>(n), poses, ModifiedStVK{1, 2}, 3, true);
  incompatible.set_plastic(inverse);
  compatible.set_plastic(inverse);
  Flat one(incompatible, n), two(compatible, 2 * n);
  const Points shaped = mesh.vertices * flow.transpose();
  std::vector<std::pair<Points, VecX>> cases{{shaped, VecX::Zero(2)}};
  for (int i = 0; i < 2; ++i) cases.emplace_back(poses[static_cast<std::size_t>(i)], VecX::Unit(2, i));
  for (const auto& [x, w] : cases) {
    VecX z(3 * n + 2), zz(6 * n + 2);
    z << flat(x), w;
    zz << flat(x), flat(x), w;
    EXPECT_LT(one.value(z), 1e-24);
    EXPECT_LT(two.value(zz), 1e-24);
    EXPECT_LT(two.gradient(zz).norm(), 1e-12);
  }
  VecX z(3 * n + 2), zz(6 * n + 2);
  z << flat(mesh.vertices), VecX::Zero(2);
  zz << flat(mesh.vertices), flat(mesh.vertices), VecX::Zero(2);
  EXPECT_GT(one.value(z), 1e-3);
  EXPECT_GT(two.value(zz), 1e-3);
}

}  // namespace
}  // namespace exemplar::fem
