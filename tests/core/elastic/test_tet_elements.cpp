// Assembly, patch test, statics, recovery from tangled states and vibration modes.
#include "core/elastic/tet_elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/elastic/modes.h"
#include "core/elastic/static_solve.h"
#include "core/mesh/volume/tet_box.h"
#include "tests/support/derivatives.h"

namespace exemplar {
namespace {

// A box whose interior (and optionally all) nodes are moved at random: no two elements alike.
TetMesh irregular_box(const Vec3& size, const Eigen::Vector3i& nodes, double amount) {
  TetMesh mesh = tet_box(size, nodes);
  const double cell = size.cwiseQuotient((nodes - Eigen::Vector3i::Ones()).cast<double>()).minCoeff();
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    const Vec3 p = mesh.vertices.row(i).transpose();
    if ((p.cwiseAbs() - size / 2).maxCoeff() > -1e-9) continue;
    for (int c = 0; c < 3; ++c) {
      mesh.vertices(i, c) +=
          amount * cell * (2 * uniform_random(5, static_cast<std::uint64_t>(3 * i + c)) - 1);
    }
  }
  return mesh;
}

std::vector<int> boundary_nodes(const TetMesh& mesh, const Vec3& size) {
  std::vector<int> nodes;
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    const Vec3 p = mesh.vertices.row(i).transpose();
    if ((p.cwiseAbs() - size / 2).maxCoeff() > -1e-9) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

TEST(TetBox, FillsTheBoxWithPositiveTets) {
  const TetMesh mesh = tet_box({1, 2, 3}, {3, 4, 5});
  const TetElements elements(mesh);
  double volume = 0;
  for (const double v : elements.volume) volume += v;
  EXPECT_NEAR(volume, 6, 1e-12);
}

TEST(TetElements, AssembledDerivativesAgreeWithDifferences) {
  const TetMesh mesh = irregular_box({1, 1, 1}, {3, 3, 2}, 0.2);
  TetElements elements(mesh);
  const NodeColumns columns(mesh.vertices.rows(), {});
  const BlockPattern pattern(columns.count(), elements.nodes, 4);
  elements.connect(pattern, columns.of_nodes());
  Points x = mesh.vertices;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] += 0.1 * normal_random(1, static_cast<std::uint64_t>(i));
  const ElasticEnergy energy = ModifiedStVK{1.0, 2.0};
  const auto points = [&](const VecX& z) { return Points(Eigen::Map<const Points>(z.data(), x.rows(), 3)); };
  const auto gradient = [&](const VecX& z) {
    Points g = Points::Zero(x.rows(), 3);
    add_elastic_gradient(energy, elements, points(z), g);
    return VecX(flat(g));
  };
  const auto g = testing::check_gradient(
      [&](const VecX& z) { return elastic_energy(energy, elements, points(z)); }, gradient, flat(x));
  EXPECT_TRUE(g.ok) << g.message;
  const auto h = testing::check_hessian(
      gradient,
      [&](const VecX& z) {
        BlockMatrix a(pattern);
        add_elastic_hessian(energy, elements, points(z), false, a);
        return a.to_dense();
      },
      flat(x));
  EXPECT_TRUE(h.ok) << h.message;
}

TEST(TetElements, SameBitsForAnyNumberOfThreads) {
  const TetMesh mesh = irregular_box({1, 1, 3}, {9, 9, 25}, 0.2);
  TetElements elements(mesh);
  const NodeColumns columns(mesh.vertices.rows(), {});
  const BlockPattern pattern(columns.count(), elements.nodes, 4);
  elements.connect(pattern, columns.of_nodes());
  Points x = mesh.vertices;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] += 0.01 * normal_random(1, static_cast<std::uint64_t>(i));
  const ElasticEnergy energy = ModifiedStVK{1.0, 2.0};
  std::vector<double> reference;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Points g = Points::Zero(x.rows(), 3);
    BlockMatrix a(pattern);
    add_elastic_gradient(energy, elements, x, g);
    add_elastic_hessian(energy, elements, x, true, a);
    std::vector<double> all(a.values().begin(), a.values().end());
    all.insert(all.end(), g.data(), g.data() + g.size());
    all.push_back(elastic_energy(energy, elements, x));
    if (threads == 1) reference = all;
    EXPECT_EQ(all, reference);
  }
  set_thread_count(0);
}

// An affine displacement of the boundary must give the affine state everywhere: uniform stress.
TEST(PatchTest, UniformStressOnAnIrregularMesh) {
  const Vec3 size(1, 1.2, 0.8);
  const TetMesh mesh = irregular_box(size, {5, 5, 5}, 0.25);
  const std::vector<int> held = boundary_nodes(mesh, size);
  Mat3 f;
  f << 1.1, 0.05, 0.02, -0.03, 0.95, 0.1, 0.04, -0.06, 1.07;
  for (const ElasticModel model : {ElasticModel::modified_stvk, ElasticModel::stvk, ElasticModel::corotated,
                                   ElasticModel::neo_hookean, ElasticModel::barrier_neo_hookean}) {
    const ElasticEnergy energy = make_energy(model, 1e5, 0.3);
    Points start = mesh.vertices;
    for (const int i : held) start.row(i) = (f * mesh.vertices.row(i).transpose()).transpose();
    StaticOptions options;
    options.newton.force_tolerance = 1e-14;
    const StaticResult result = static_solve(mesh, energy, held, start, {}, options);
    const TetElements elements(mesh);
    const Mat3 expected = std::visit([&](const auto& psi) { return psi.gradient(f); }, energy);
    double worst = 0;
    for (std::size_t e = 0; e < elements.count(); ++e) {
      const Mat3 p = std::visit(
          [&](const auto& psi) { return psi.gradient(elements.deformation(result.positions, e)); }, energy);
      worst = std::max(worst, (p - expected).norm() / expected.norm());
    }
    EXPECT_LT(worst, 1e-12) << result.summary.message();
  }
}

TEST(StaticSolve, ExtendsAStronglyTwistedSurfaceWithoutInversion) {
  const Vec3 size(1, 1, 3);
  const TetMesh mesh = irregular_box(size, {5, 5, 13}, 0.2);
  const std::vector<int> held = boundary_nodes(mesh, size);
  Points targets(static_cast<Eigen::Index>(held.size()), 3);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Vec3 p = mesh.vertices.row(held[i]).transpose();
    targets.row(static_cast<Eigen::Index>(i)) =
        (Eigen::AngleAxisd(std::numbers::pi / 2 * (p.z() / 3 + 0.5), Vec3::UnitZ()) * p).transpose();
  }
  const StaticResult result = extend_to_volume(mesh, held, targets);
  EXPECT_TRUE(result.summary.converged()) << result.summary.message();
  const TetElements elements(mesh);
  double smallest = 1;
  for (std::size_t e = 0; e < elements.count(); ++e) {
    smallest = std::min(smallest, elements.deformation(result.positions, e).determinant());
  }
  EXPECT_GT(smallest, 0.5);
}

// κ = 2μ: any start must come back to the rest shape (up to a rigid motion), as spec'd for this energy.
TEST(Recovery, ScrambledCollapsedMirroredAndFlattenedMeshesReturnToRest) {
  const TetMesh mesh = tet_box({1, 1, 1}, {4, 4, 4});
  const ElasticEnergy energy = ModifiedStVK{1e4, 2e4};
  std::vector<Points> starts(4, mesh.vertices);
  for (Eigen::Index i = 0; i < mesh.vertices.size(); ++i) {
    starts[0].data()[i] = uniform_random(11, static_cast<std::uint64_t>(i)) - 0.5;
    starts[1].data()[i] = 1e-3 * normal_random(12, static_cast<std::uint64_t>(i));
  }
  starts[2].col(0) *= -1;
  starts[3].col(2) *= 1e-6;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    StaticOptions options;
    options.newton.max_iterations = 500;
    const StaticResult result = static_solve(mesh, energy, {}, starts[k], {}, options);
    const double final_energy = elastic_energy(energy, TetElements(mesh), result.positions);
    EXPECT_LT(final_energy, 1e-6 * 1e4) << "start " << k << ": " << result.summary.message();
  }
}

TEST(TetElements, TheWayWithoutInversionEndsBeforeTheFirstOne) {
  const TetMesh mesh = tet_box({1, 1, 1}, {3, 3, 3});
  const TetElements elements(mesh);
  EXPECT_EQ(count_inverted(elements, mesh.vertices), 0);
  Points flat = mesh.vertices, mirrored = mesh.vertices;
  flat.col(1) *= 0.05;
  mirrored.col(1) *= -1;
  EXPECT_EQ(count_inverted(elements, mirrored), static_cast<int>(elements.count()));
  // Heights shrink as 1 − 0.95 α and 1 − 2 α: a tenth is left at 0.947 and 0.45.
  EXPECT_NEAR(way_without_inversion(elements, mesh.vertices, flat), 0.9 / 0.95, 2e-3);
  EXPECT_NEAR(way_without_inversion(elements, mesh.vertices, mirrored), 0.45, 2e-3);
  EXPECT_LE(way_without_inversion(elements, mesh.vertices, mirrored), 0.45);
  Points turned = mesh.vertices;
  turned.col(0) = -mesh.vertices.col(1);
  turned.col(1) = mesh.vertices.col(0);
  EXPECT_EQ(way_without_inversion(elements, mesh.vertices, turned), 1);
}

TEST(Modes, FreeBarAgainstBeamTheoryUnderRefinement) {
  // First bending frequency of a free–free bar: f = 4.7300²/(2π L²) √(EI/ρA), with t/L = 1/20.
  const double young = 1e7, density = 1000, length = 1, t = 0.05;
  const double exact =
      22.3733 / (2 * std::numbers::pi * length * length) * std::sqrt(young * t * t / 12 / density);
  double previous = 1e9;
  for (const int n : {20, 40}) {
    const TetMesh mesh = tet_box({length, t, t}, {n + 1, n / 10 + 1, n / 10 + 1});
    const Modes modes = vibration_modes(mesh, young, 0.0, density, 4);
    ASSERT_TRUE(modes.converged);
    const double error = modes.frequencies[0] / exact - 1;
    EXPECT_GT(error, 0);  // stiff elements, consistent mass: from above
    EXPECT_LT(error, 0.5 * previous);
    previous = error;
    // Mass-orthogonal to rigid motions: no mean displacement beyond round-off of the eigen solver.
    EXPECT_EQ(modes.shapes.size(), 4U);
  }
}

// Four elements at a time give what one at a time gives, also where the last group is not full.
TEST(TetElements, LanesAgreeWithSingleElements) {
  const TetMesh mesh = irregular_box(Vec3(1, 1, 1), Eigen::Vector3i(4, 4, 4), 0.3);
  std::vector<int> selection;
  for (int e = 0; e < 101; ++e) selection.push_back(e);
  TetElements elements(mesh, 0, selection);
  std::vector<int> columns(static_cast<std::size_t>(mesh.vertices.rows()));
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int>(i);
  const BlockPattern pattern(static_cast<int>(columns.size()), elements.nodes, 4);
  elements.connect(pattern, columns);
  Points x = mesh.vertices;
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) += 0.1 * normal_random(9, static_cast<std::uint64_t>(i));
  const auto check = [&](const auto& psi) {
    BlockMatrix together(pattern), single(pattern);
    Points forces = Points::Zero(x.rows(), 3), expected = forces;
    add_elastic_hessian(psi, elements, x, false, together);
    add_elastic_gradient(psi, elements, x, forces);
    for (std::size_t e = 0; e < elements.count(); ++e) {
      const Mat3 f = elements.deformation(x, e);
      TetBlocks blocks;
      tet_blocks(psi, f, elements.rest_inverse[e], elements.volume[e], false, blocks);
      for (std::size_t b = 0; b < 10; ++b) single.add(elements.slots[10 * e + b], blocks[b]);
      const auto nodal = tet_gradient(psi, f, elements.rest_inverse[e], elements.volume[e]);
      for (int a = 0; a < 4; ++a) expected.row(elements.nodes_of(e)[a]) += nodal.col(a).transpose();
    }
    const MatX reference = single.to_dense();
    EXPECT_LT((together.to_dense() - reference).norm(), 1e-13 * reference.norm());
    EXPECT_LT((forces - expected).norm(), 1e-13 * expected.norm());
  };
  check(ModifiedStVK{2.0, 3.0});
  check(StVK{2.0, 3.0});
}

}  // namespace
}  // namespace exemplar
