#include "core/mesh/point_map.h"

#include <gtest/gtest.h>

#include "core/base/parallel.h"
#include "core/base/random.h"

namespace exemplar {
namespace {

Points random_values(Eigen::Index rows, std::uint64_t seed) {
  Points x(rows, 3);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = normal_random(seed, static_cast<std::uint64_t>(i));
  return x;
}

PointMap random_map(int points, int nodes, std::uint64_t seed) {
  PointMap map;
  for (int i = 0; i < points; ++i) {
    std::vector<int> on;
    std::vector<double> weights;
    for (int k = 0; k <= i % 4; ++k) {
      const std::uint64_t key = static_cast<std::uint64_t>(4 * i + k);
      on.push_back(static_cast<int>(nodes * uniform_random(seed, key)));
      weights.push_back(normal_random(seed + 1, key));
    }
    map.add(on, weights);
  }
  return map;
}

TEST(PointMap, SpreadIsTheTransposeOfApply) {
  const PointMap map = random_map(50, 20, 3);
  const Points x = random_values(20, 5), f = random_values(50, 6);
  EXPECT_NEAR(map.apply(x).cwiseProduct(f).sum(), map.spread(f, 20).cwiseProduct(x).sum(), 1e-12);
}

TEST(PointMap, OnePointIsARowOfAll) {
  const PointMap map = random_map(5000, 20, 7);
  const Points x = random_values(20, 8);
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    const Points all = map.apply(x);
    for (const int i : {0, 17, 4999}) EXPECT_EQ(Vec3(all.row(i)), map.at(i, x));
  }
  set_thread_count(0);
}

TEST(PointMap, AppendedPointsHangOnRaisedNodes) {
  PointMap map = random_map(6, 4, 9);
  const PointMap other = random_map(5, 3, 10);
  const Points x = random_values(7, 11);
  Points expected(11, 3);
  expected << map.apply(x.topRows(4)), other.apply(x.bottomRows(3));
  map.append(other, 4);
  EXPECT_EQ(map.apply(x), expected);
  EXPECT_EQ(map.nodes_of(6).size(), 1u);
}

TEST(PointMap, IdentityAndSelectionTakeNodesAsTheyAre) {
  const Points x = random_values(4, 12);
  EXPECT_EQ(PointMap::identity(4).apply(x), x);
  const std::vector<int> some{3, 1};
  const Points taken = PointMap::of_nodes(some).apply(x);
  EXPECT_EQ(taken.row(0), x.row(3));
  EXPECT_EQ(taken.row(1), x.row(1));
}

}  // namespace
}  // namespace exemplar
