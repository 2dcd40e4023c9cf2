// The coarse space: exact on the motions it is made of, fewer iterations on stiff bodies, the same solutions.
#include "core/sparse/coarse_space.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/elastic/tet_elements.h"
#include "core/mesh/volume/tet_box.h"
#include "core/sparse/linear_solver.h"

namespace exemplar {
namespace {

// A long stiff bar that hangs on little mass, as in a large time step.
struct StiffBar {
  TetMesh mesh = tet_box(Vec3(4, 0.5, 0.5), Eigen::Vector3i(33, 5, 5));
  std::unique_ptr<BlockPattern> pattern;
  BlockMatrix matrix;

  StiffBar() {
    TetElements elements(mesh);
    const int nodes = static_cast<int>(mesh.vertices.rows());
    pattern = std::make_unique<BlockPattern>(nodes, elements.nodes, 4);
    std::vector<int> columns(static_cast<std::size_t>(nodes));
    for (int i = 0; i < nodes; ++i) columns[static_cast<std::size_t>(i)] = i;
    elements.connect(*pattern, columns);
    matrix = BlockMatrix(*pattern);
    add_elastic_hessian(make_energy(ElasticModel::modified_stvk, 1e6, 0.3), elements, mesh.vertices, true,
                        matrix);
    for (int i = 0; i < nodes; ++i) matrix.add_to_diagonal(i, 10);
  }
  MatX load(Eigen::Index columns) const {
    MatX rhs(pattern->dofs(), columns);
    for (Eigen::Index i = 0; i < rhs.size(); ++i) rhs(i) = normal_random(5, static_cast<std::uint64_t>(i));
    return rhs;
  }
};

TEST(CoarseSpace, SolvesRigidMotionsOfTheBodyExactly) {
  const StiffBar bar;
  CoarseSpace coarse(*bar.pattern);
  EXPECT_GT(coarse.aggregates(), 5);
  ASSERT_TRUE(coarse.update(bar.matrix, bar.mesh.vertices));
  const Vec3 shift(0.3, -0.2, 0.7), turn(0.5, 0.1, -0.4);
  VecX motion(bar.pattern->dofs());
  for (Eigen::Index i = 0; i < bar.mesh.vertices.rows(); ++i)
    motion.segment<3>(3 * i) = shift + turn.cross(bar.mesh.vertices.row(i).transpose());
  VecX force;
  bar.matrix.multiply(motion, force);
  VecX found = VecX::Zero(motion.size());
  coarse.add_correction(force.data(), found.data(), 1);
  EXPECT_LT((found - motion).norm(), 1e-6 * motion.norm());
}

TEST(CoarseSpace, SavesMoreThanHalfTheIterationsOfAStiffSystem) {
  const StiffBar bar;
  CoarseSpace coarse(*bar.pattern);
  ASSERT_TRUE(coarse.update(bar.matrix, bar.mesh.vertices));
  ConjugateGradients gradients(*bar.pattern);
  const MatX rhs = bar.load(3);
  MatX x[2];
  int iterations[2];
  for (int level = 0; level < 2; ++level) {
    x[level] = MatX::Zero(rhs.rows(), rhs.cols());
    const CgResult result =
        gradients.solve(bar.matrix, rhs, 1e-10, 10000, level == 0 ? nullptr : &coarse, x[level]);
    ASSERT_TRUE(result.converged);
    iterations[level] = result.iterations;
  }
  EXPECT_LT(2 * iterations[1], iterations[0]);
  LinearSolver direct(*bar.pattern, LinearMethod::direct);
  MatX exact;
  ASSERT_EQ(direct.solve(bar.matrix, rhs, 0, exact), LinearStatus::solved);
  for (const MatX& found : x) EXPECT_LT((found - exact).norm(), 1e-6 * exact.norm());
}

TEST(CoarseSpace, IsChosenForAStiffSystemAndKept) {
  const StiffBar bar;
  LinearSolver solver(*bar.pattern, LinearMethod::iterative);
  solver.set_positions(bar.mesh.vertices);
  MatX x;
  ASSERT_EQ(solver.solve(bar.matrix, bar.load(1), 1e-8, x), LinearStatus::solved);
  EXPECT_EQ(solver.memory().strategy, LinearStrategy::coarse);
  const int first = solver.counts().cg_iterations;
  ASSERT_EQ(solver.solve(bar.matrix, bar.load(1), 1e-8, x), LinearStatus::solved);
  EXPECT_LT(solver.counts().cg_iterations - first, first);  // no second try without it
  EXPECT_EQ(solver.counts().coarse_updates, 2);
  EXPECT_EQ(solver.counts().factorisations, 0);
  // A heavy, soft system does not need it.
  BlockMatrix heavy = bar.matrix;
  for (int i = 0; i < bar.pattern->columns(); ++i) heavy.add_to_diagonal(i, 1e7);
  LinearSolver other(*bar.pattern, LinearMethod::automatic);
  other.set_positions(bar.mesh.vertices);
  ASSERT_EQ(other.solve(heavy, bar.load(1), 1e-4, x), LinearStatus::solved);
  EXPECT_EQ(other.counts().coarse_updates, 0);
  EXPECT_EQ(other.counts().factorisations, 0);
}

TEST(CoarseSpace, SameBitsForAnyNumberOfThreads) {
  const StiffBar bar;
  MatX reference;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    LinearSolver solver(*bar.pattern, LinearMethod::iterative);
    solver.set_positions(bar.mesh.vertices);
    MatX x;
    ASSERT_EQ(solver.solve(bar.matrix, bar.load(2), 1e-8, x), LinearStatus::solved);
    if (threads == 1) reference = x;
    EXPECT_TRUE((x.array() == reference.array()).all());
  }
  set_thread_count(0);
}

// Single nodes and pairs without neighbours: rotations without effect must not make the matrix singular.
TEST(CoarseSpace, LivesWithAggregatesOfOneNode) {
  const std::vector<int> cliques{0, 1, 2, -1};
  const BlockPattern pattern(4, cliques, 2);
  BlockMatrix a(pattern);
  for (int j = 0; j < 4; ++j) a.add_to_diagonal(j, 1.0 + j);
  CoarseSpace coarse(pattern);
  Points positions(4, 3);
  positions << 0, 0, 0, 1, 0, 0, 5, 0, 0, 9, 0, 0;
  ASSERT_TRUE(coarse.update(a, positions));
  VecX r = VecX::Ones(12), z = VecX::Zero(12);
  coarse.add_correction(r.data(), z.data(), 1);
  EXPECT_TRUE(z.allFinite());
  EXPECT_NEAR(z[11], 0.25, 1e-6);
}

}  // namespace
}  // namespace exemplar
