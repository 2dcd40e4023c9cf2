// Sums over wide cells of a lattice: what the fast way gives against adding up one by one.
#include "meshless/shape_matching/lattice_sums.h"

#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/mesh/distance.h"
#include "core/mesh/models/primitives.h"
#include "meshless/shape_matching/body.h"

namespace exemplar::shape_matching {
namespace {

CubicalModel lattice_of(const TriMesh& surface, int overlap, int subdivisions) {
  CubicalOptions options;
  options.cell_size = 0.08;
  options.overlap = overlap;
  options.subdivisions = subdivisions;
  const SurfaceDistance distance(surface);
  return make_cubical_cells(
      surface, [&](const Vec3& p) { return distance.inside(p); }, options);
}

// A torus: cells at the border of the lattice, and points without particles in its hole.
TriMesh ring() {
  return make_torus({.major_radius = 0.4, .minor_radius = 0.15, .resolution = 24});
}

Points bent(const Points& rest, double size) {
  Points out = rest;
  for (Eigen::Index i = 0; i < out.size(); ++i)
    out.data()[i] += size * (uniform_random(7, static_cast<std::uint64_t>(i)) - 0.5);
  out.col(0) += 0.3 * rest.col(1).cwiseProduct(rest.col(2));
  return out;
}

TEST(LatticeSums, AreThoseOfEveryCellAndOfEveryParticle) {
  for (const auto& [overlap, subdivisions] : {std::pair(0, 1), {1, 1}, {3, 1}, {2, 2}, {5, 3}}) {
    const CubicalModel cubes = lattice_of(ring(), overlap, subdivisions);
    const Cells& cells = cubes.model.cells;
    const auto particles = static_cast<std::size_t>(cubes.model.masses.size());
    constexpr int n = LatticeSums::width;
    std::vector<double> of_particles(n * particles), of_cells(n * static_cast<std::size_t>(cells.count()));
    for (std::size_t k = 0; k < of_particles.size(); ++k) of_particles[k] = uniform_random(1, k) - 0.5;
    for (std::size_t k = 0; k < of_cells.size(); ++k) of_cells[k] = uniform_random(2, k) - 0.5;
    std::vector<double> expected_cells(of_cells.size(), 0.0), expected_particles(of_particles.size(), 0.0);
    for (int c = 0; c < cells.count(); ++c)
      for (const int p : cells.of(c))
        for (int k = 0; k < n; ++k) {
          expected_cells[n * c + k] += of_particles[n * p + k];
          expected_particles[n * p + k] += of_cells[n * c + k];
        }
    LatticeSums sums(cubes.model.regions);
    std::vector<double> got;
    sums.over_cells(of_particles, got);
    ASSERT_EQ(got.size(), expected_cells.size());
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], expected_cells[k], 1e-12);
    sums.over_particles(of_cells, got);
    ASSERT_EQ(got.size(), expected_particles.size());
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], expected_particles[k], 1e-12);
  }
}

TEST(LatticeSums, GoalsOfWideCellsAreThoseSummedOneByOne) {
  for (const int subdivisions : {1, 2})
    for (const double beta : {0.0, 0.6}) {
      const CellModel model = lattice_of(ring(), 3, subdivisions).model;
      MatchOptions options;
      options.beta = beta;
      options.conserve_volume = beta > 0;
      CellSet slow(model.rest_positions, model.masses, model.cells, options),
          fast(model.rest_positions, model.masses, model.cells, options, model.regions);
      ASSERT_FALSE(slow.sums_over_lattice());
      ASSERT_TRUE(fast.sums_over_lattice());
      // Far from the origin and turned: the sums are relative to the body.
      Points x = bent(model.rest_positions, 0.02) *
                 Eigen::AngleAxisd(1.1, Vec3(1, 2, 3).normalized()).toRotationMatrix().transpose();
      x.rowwise() += Eigen::RowVector3d(10, -20, 5);
      Points expected, got;
      for (int round = 0; round < 3; ++round) {
        slow.match(x, Vec3(10, -20, 5), expected);
        fast.match(x, Vec3(10, -20, 5), got);
      }
      EXPECT_LT((got - expected).cwiseAbs().maxCoeff(), 1e-13);
      for (int c = 0; c < model.cells.count(); ++c) {
        EXPECT_LT((fast.rotation(c) - slow.rotation(c)).norm(), 1e-12);
        EXPECT_LT((fast.centre(c) - slow.centre(c)).norm(), 1e-13);
      }
    }
}

TEST(LatticeSums, SameBitsForAnyNumberOfThreads) {
  const CellModel model = lattice_of(ring(), 4, 2).model;
  const Points x = bent(model.rest_positions, 0.03);
  std::vector<Points> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    CellSet cells(model.rest_positions, model.masses, model.cells, {}, model.regions);
    results.emplace_back();
    cells.match(x, Vec3::Zero(), results.back());
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(LatticeSums, MomentaAreKept) {
  const CellModel model = lattice_of(ring(), 3, 1).model;
  CellSet cells(model.rest_positions, model.masses, model.cells, {}, model.regions);
  const Points x = bent(model.rest_positions, 0.05);
  Points goals;
  cells.match(x, Vec3::Zero(), goals);
  const Points change = goals - x;
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 d = model.masses(i) * change.row(i).transpose();
    linear += d;
    angular += Vec3(x.row(i)).cross(d);
  }
  const double mass = model.masses.sum();
  EXPECT_LT(linear.norm(), 1e-14 * mass);
  EXPECT_LT(angular.norm(), 1e-12 * mass);
}

}  // namespace
}  // namespace exemplar::shape_matching
